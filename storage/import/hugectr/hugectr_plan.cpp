#include "storage/import/hugectr/hugectr_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <unordered_set>

#include "storage/import/hugectr/literal.hpp"

namespace shardscope::storage {
namespace {

constexpr std::size_t kMostHugectrRanks = 65536;

tl::unexpected<Error> plan_error(const ImportNotes& notes, std::string what, std::string expected,
                                 std::string cure = {}) {
  return fail(
      {ErrorKind::usage, std::move(what), notes.file(), std::move(expected), std::move(cure)});
}

std::optional<std::string> table_id(const JsonValue& value) {
  if (const std::string* text = value.text()) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    if (*number >= 0) return std::to_string(*number);
  }
  return std::nullopt;
}

std::int64_t whole_or(const JsonValue* value, std::int64_t otherwise) {
  if (value == nullptr) return otherwise;
  if (const auto* number = std::get_if<std::int64_t>(&value->data)) return *number;
  return otherwise;
}

/// The fact as a person reads it: numbers and texts as they are, short lists in brackets.
std::optional<std::string> fact_text(const JsonValue& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.object() != nullptr || value.is_null()) return std::nullopt;
  return write_json_line(value);
}

class PlanReader {
 public:
  explicit PlanReader(ImportNotes& notes) : notes_(notes) {}

  /// {"shard_matrix": ..., "shard_strategy": ...} with whatever else the object says.
  Result<HugectrPlan> object(const JsonValue& root) {
    HugectrPlan plan;
    const JsonValue* matrix = root.find("shard_matrix");
    if (matrix == nullptr) return plan_error(notes_, "a plan has no shard_matrix", "shard_matrix");
    if (Status done = read_matrix(*matrix, plan); !done) return fail(done.error());
    if (Status done = read_strategy(root.find("shard_strategy"), plan); !done) {
      return fail(done.error());
    }
    read_compression(root.find("compression_strategy"), plan);
    read_ids(root.find("unique_table_ids"), plan.unique);
    read_ids(root.find("combiners"), plan.combiners);
    read_facts(root, plan);
    return plan;
  }

  Status read_matrix(const JsonValue& value, HugectrPlan& plan) {
    const JsonValue::Array* rows = value.array();
    if (rows == nullptr || rows->empty() || rows->size() > kMostHugectrRanks) {
      return plan_error(notes_, "shard_matrix is no list of lists",
                        "one list of table names a GPU, for 1 to 65536 GPUs");
    }
    plan.ranks = static_cast<std::int32_t>(rows->size());
    for (const JsonValue& row : *rows) {
      plan.matrix.emplace_back();
      if (row.array() == nullptr) {
        return plan_error(notes_, "a row of shard_matrix is no list", "a list of table names");
      }
      read_ids(&row, plan.matrix.back());
    }
    if (is_zero_one(plan)) decode_zero_one(plan);
    return {};
  }

  /// {"mp": [...], "dp": [...]} or [("mp", [...]), ...]; absent: every table of the matrix is mp.
  Status read_strategy(const JsonValue* value, HugectrPlan& plan) {
    if (value == nullptr || value->is_null()) {
      notes_.warn(0, "no shard_strategy; every table of the matrix is taken as \"mp\"",
                  "shard_strategy");
      for (const std::vector<std::string>& row : plan.matrix) {
        for (const std::string& id : row) add_model_parallel(id, 1, plan);
      }
      add_shards(plan);
      return {};
    }
    Status done;
    if (const JsonValue::Object* fields = value->object()) {
      for (const auto& [kind, tables] : *fields) {
        if (done) done = read_group(kind, tables, plan);
      }
    } else if (const JsonValue::Array* pairs = value->array()) {
      for (const JsonValue& pair : *pairs) {
        const JsonValue::Array* parts = pair.array();
        const std::string* kind =
            parts != nullptr && parts->size() == 2 ? parts->front().text() : nullptr;
        if (kind == nullptr) {
          return plan_error(notes_, "an entry of shard_strategy is no pair",
                            "(\"mp\" | \"dp\", [tables])");
        }
        if (done) done = read_group(*kind, parts->back(), plan);
      }
    } else {
      return plan_error(notes_, "shard_strategy is neither a map nor a list",
                        "{\"mp\": [...]} or [(\"mp\", [...])]");
    }
    if (done) add_shards(plan);
    return done;
  }

  void read_compression(const JsonValue* value, HugectrPlan& plan) {
    const JsonValue::Object* fields = value == nullptr ? nullptr : value->object();
    if (fields == nullptr) return;
    for (const auto& [name, tables] : *fields) {
      if (name.ends_with("Unique") || name == "unique") {
        read_ids(&tables, plan.unique);
      } else if (!name.ends_with("Reduction") && name != "reduction") {
        notes_.warn(0, "compression_strategy " + quoted_piece(name) + " is unknown and left out",
                    "Unique or Reduction");
      }
    }
  }

  /// A 3.x file: per GPU a list of {local_embedding_list, table_placement_strategy, shard_id...}.
  Result<HugectrPlan> version3(const JsonValue::Array& ranks) {
    HugectrPlan plan;
    if (ranks.size() > kMostHugectrRanks) {
      return plan_error(notes_, "too many GPUs", "at most 65536");
    }
    plan.ranks = static_cast<std::int32_t>(ranks.size());
    plan.name = "hugectr-3";
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      plan.matrix.emplace_back();
      const JsonValue::Array* groups = ranks[rank].array();
      if (groups == nullptr) return plan_error(notes_, "a GPU's entry is no list", "its groups");
      for (const JsonValue& group : *groups) version3_group(rank, group, plan);
    }
    return plan;
  }

 private:
  void read_ids(const JsonValue* value, std::vector<std::string>& out) {
    const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
    if (items == nullptr) return;
    for (const JsonValue& item : *items) {
      if (const auto id = table_id(item)) {
        out.push_back(*id);
      } else {
        notes_.warn(0, "an entry of a table list is neither a name nor an index and is left out",
                    "\"name\" or 3");
      }
    }
  }

  /// 4.0 to 4.2 wrote [GPU][table] of 0 and 1. Recognised by all rows being as long, with nothing
  /// but 0 and 1 in them, and more than two entries a row.
  static bool is_zero_one(const HugectrPlan& plan) {
    const std::size_t tables = plan.matrix.front().size();
    return tables > 2 && std::all_of(plan.matrix.begin(), plan.matrix.end(), [&](const auto& row) {
             return row.size() == tables && std::all_of(row.begin(), row.end(), [](const auto& id) {
                      return id == "0" || id == "1";
                    });
           });
  }

  static void decode_zero_one(HugectrPlan& plan) {
    for (std::vector<std::string>& row : plan.matrix) {
      std::vector<std::string> ids;
      for (std::size_t t = 0; t < row.size(); ++t) {
        if (row[t] == "1") ids.push_back(std::to_string(t));
      }
      row = std::move(ids);
    }
  }

  Status read_group(const std::string& kind, const JsonValue& tables, HugectrPlan& plan) {
    const JsonValue::Array* items = tables.array();
    if (items == nullptr || (kind != "mp" && kind != "dp")) {
      return plan_error(notes_, "shard_strategy " + quoted_piece(kind) + " is no list of tables",
                        "\"mp\" or \"dp\" with a list");
    }
    for (const JsonValue& item : *items) {
      const JsonValue::Array* pair = item.array();
      const bool cut = pair != nullptr && pair->size() == 2;
      const auto id = table_id(cut ? pair->front() : item);
      const std::int64_t factor = cut ? whole_or(&pair->back(), 0) : 1;
      if (!id || factor < 1 || factor > std::numeric_limits<std::int32_t>::max()) {
        return plan_error(notes_, "an entry of shard_strategy is no table",
                          "\"name\", 3 or (\"name\", column factor)");
      }
      if (kind == "dp") {
        add_data_parallel(*id, plan);
      } else {
        add_model_parallel(*id, static_cast<std::int32_t>(factor), plan);
      }
    }
    return {};
  }

  void add_model_parallel(const std::string& id, std::int32_t factor, HugectrPlan& plan) {
    if (model_parallel_.insert(id).second) plan.model_parallel.emplace_back(id, factor);
  }

  void add_data_parallel(const std::string& id, HugectrPlan& plan) {
    if (data_parallel_.insert(id).second) plan.data_parallel.push_back(id);
  }

  void add_shards(HugectrPlan& plan) {
    for (std::size_t rank = 0; rank < plan.matrix.size(); ++rank) {
      for (const std::string& id : plan.matrix[rank]) {
        if (model_parallel_.contains(id)) {
          plan.shards.push_back({id, static_cast<std::int32_t>(rank), -1});
        } else if (!data_parallel_.contains(id)) {
          notes_.warn(0,
                      fmt::format("table {} is on GPU {} but in no shard_strategy; taken as \"mp\"",
                                  quoted_piece(id), rank),
                      "every table once in shard_strategy");
          add_model_parallel(id, 1, plan);
          plan.shards.push_back({id, static_cast<std::int32_t>(rank), -1});
        }
      }
    }
  }

  void read_facts(const JsonValue& root, HugectrPlan& plan) {
    constexpr std::array kTaken = {"shard_matrix",        "shard_strategy", "compression_strategy",
                                   "unique_table_ids",    "combiners",      "reduction_table_ids",
                                   "throughput_samples_s"};
    for (const auto& [name, value] : *root.object()) {
      if (std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) continue;
      if (const auto text = fact_text(value)) plan.facts.emplace_back(name, *text);
    }
    const auto text_of = [&](const char* name) {
      const JsonValue* value = root.find(name);
      return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
    };
    plan.model = text_of("model");
    plan.device = text_of("device");
    plan.optimizer = text_of("optimizer");
    plan.hierarchical = text_of("sharding_plan").starts_with("hier") ||
                        text_of("comm_strategy").ends_with("Hierarchical");
    plan.name = text_of("name").empty() ? text_of("sharding_plan") : text_of("name");
    plan.global_batch =
        whole_or(root.find("global_batch_size"),
                 whole_or(root.find("global_batch"), whole_or(root.find("batchsize"), 0)));
    constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;
    if (plan.global_batch < 0 || plan.global_batch > kMostBatch) plan.global_batch = 0;
    const std::int64_t gpus =
        whole_or(root.find("gpus_per_node"), whole_or(root.find("num_gpus_per_node"), 0));
    if (gpus > 0 && gpus <= plan.ranks) plan.gpus_per_node = static_cast<std::int32_t>(gpus);
  }

  void version3_group(std::size_t rank, const JsonValue& group, HugectrPlan& plan) {
    std::vector<std::string> ids;
    read_ids(group.find("local_embedding_list"), ids);
    const JsonValue* kind = group.find("table_placement_strategy");
    const std::string strategy =
        kind != nullptr && kind->text() != nullptr ? *kind->text() : std::string();
    if (strategy != "dp" && strategy != "mp" && strategy != "localized" &&
        strategy != "distributed") {
      notes_.warn(0,
                  fmt::format("GPU {}: table_placement_strategy {} is taken as \"mp\"", rank,
                              quoted_piece(strategy)),
                  "mp, localized, distributed or dp");
    }
    const std::int64_t shard = whole_or(group.find("shard_id"), -1);
    for (const std::string& id : ids) {
      plan.matrix[rank].push_back(id);
      if (strategy == "dp") {
        add_data_parallel(id, plan);
        continue;
      }
      add_model_parallel(id, 1, plan);
      const bool sound = shard >= 0 && shard < static_cast<std::int64_t>(kMostHugectrRanks);
      plan.shards.push_back(
          {id, static_cast<std::int32_t>(rank), sound ? static_cast<std::int32_t>(shard) : -1});
    }
  }

  ImportNotes& notes_;
  std::unordered_set<std::string> model_parallel_;
  std::unordered_set<std::string> data_parallel_;
};

bool is_version3(const JsonValue& root) {
  const JsonValue::Array* ranks = root.array();
  if (ranks == nullptr || ranks->empty()) return false;
  const JsonValue::Array* groups = ranks->front().array();
  return groups != nullptr && !groups->empty() &&
         groups->front().find("local_embedding_list") != nullptr;
}

Result<std::vector<HugectrPlan>> plans_of_root(const JsonValue& root, ImportNotes& notes) {
  std::vector<HugectrPlan> plans;
  if (is_version3(root)) {
    auto plan = PlanReader(notes).version3(*root.array());
    if (!plan) return fail(plan.error());
    plans.push_back(std::move(*plan));
    return plans;
  }
  const auto take = [&](const JsonValue& value, const std::string& name) -> Status {
    if (value.find("shard_matrix") == nullptr) return {};
    auto plan = PlanReader(notes).object(value);
    if (!plan) return fail(plan.error());
    if (!name.empty()) plan->name = plan->name.empty() ? name : plan->name + " " + name;
    plans.push_back(std::move(*plan));
    return {};
  };
  Status done = take(root, "");
  if (const JsonValue::Array* items = root.array()) {
    for (std::size_t i = 0; i < items->size() && done; ++i) {
      done = take((*items)[i], fmt::format("{}", i + 1));
    }
  } else if (const JsonValue::Object* fields = root.object(); fields != nullptr && plans.empty()) {
    for (const auto& [name, value] : *fields) {
      if (done) done = take(value, name);
      const JsonValue::Array* inner = value.array();
      for (std::size_t i = 0; inner != nullptr && i < inner->size() && done; ++i) {
        done = take((*inner)[i], fmt::format("{} {}", name, i + 1));
      }
    }
  }
  if (!done) return fail(done.error());
  return plans;
}

}  // namespace

/// Plans written out in scripts and logs; storage/import/hugectr/hugectr_text.cpp.
[[nodiscard]] Result<std::vector<JsonValue>> hugectr_literals(std::string_view text,
                                                              ImportNotes& notes);

Result<std::vector<HugectrPlan>> read_hugectr_plans(std::string_view text, ImportNotes& notes) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return plan_error(notes, "the file is empty", "a HugeCTR plan");
  }
  if (text[first] == '[' || text[first] == '{') {
    const Result<Literal> root = parse_literal(text, first, notes.file());
    if (root) {
      auto plans = plans_of_root(root->value, notes);
      if (!plans || !plans->empty()) return plans;
    } else if (find_assigned(text, "shard_matrix") == std::string_view::npos) {
      return fail(root.error());
    }
  }
  const auto roots = hugectr_literals(text, notes);
  if (!roots) return fail(roots.error());
  std::vector<HugectrPlan> plans;
  for (const JsonValue& root : *roots) {
    auto plan = PlanReader(notes).object(root);
    if (!plan) return fail(plan.error());
    plans.push_back(std::move(*plan));
  }
  return plans;
}

}  // namespace shardscope::storage
