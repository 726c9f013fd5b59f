#include "storage/import/torchrec_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "storage/import/literal.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostPlanRanks = 65536;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 50;

std::optional<std::int64_t> whole(const JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&value->data)) return *number;
  return std::nullopt;
}

std::string text_of(const JsonValue* value) {
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}

/// [a, b], both 0 to 2^50.
std::optional<std::array<std::int64_t, 2>> pair_of(const JsonValue* value) {
  const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
  if (items == nullptr || items->size() != 2) return std::nullopt;
  const auto a = whole(&items->front());
  const auto b = whole(&items->back());
  if (!a || !b || *a < 0 || *b < 0 || *a > kMostExtent || *b > kMostExtent) return std::nullopt;
  return std::array<std::int64_t, 2>{*a, *b};
}

std::optional<std::int32_t> number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::int32_t number = -1;
  const char* begin = text.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kMostPlanRanks) return std::nullopt;
  return number;
}

/// Collects tables and what their placements tell of the machine.
class PlanCollector {
 public:
  explicit PlanCollector(ImportNotes& notes) : notes_(notes) {}

  void rank_list(const JsonValue* value, TorchrecPlanEntry& entry) {
    const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
    if (items == nullptr) return;
    for (const JsonValue& item : *items) {
      const auto rank = whole(&item);
      if (!rank || *rank < 0 || *rank >= kMostPlanRanks) {
        notes_.warn_at(place(entry), "a rank is no number below 65536 and is left out", "ranks");
        continue;
      }
      entry.ranks.push_back(static_cast<std::int32_t>(*rank));
      plan_.ranks = std::max(plan_.ranks, entry.ranks.back() + 1);
    }
  }

  /// "rank:R/cuda:L".
  void shard(const JsonValue* offsets, const JsonValue* sizes, const std::string& placement,
             TorchrecPlanEntry& entry) {
    const auto offset = pair_of(offsets);
    const auto size = pair_of(sizes);
    if (!offset || !size) {
      notes_.warn_at(place(entry), "a shard has no two offsets and two sizes and is left out",
                     "shard_offsets [row, column], shard_sizes [rows, columns]");
      return;
    }
    TorchrecShardEntry shard{(*offset)[0], (*offset)[1], (*size)[0], (*size)[1], -1};
    if (const auto rank = number_after(placement, "rank:")) {
      shard.rank = *rank;
      plan_.ranks = std::max(plan_.ranks, shard.rank + 1);
    } else if (entry.shards.size() < entry.ranks.size()) {
      shard.rank = entry.ranks[entry.shards.size()];
    }
    for (const std::string_view device : {"cuda:", "cpu:", "mtia:", "npu:"}) {
      if (const auto local = number_after(placement, device)) {
        plan_.local_ranks = std::max(plan_.local_ranks, *local + 1);
      }
    }
    entry.shards.push_back(shard);
  }

  void add(TorchrecPlanEntry entry) { plan_.tables.push_back(std::move(entry)); }
  [[nodiscard]] TorchrecPlan& plan() { return plan_; }

  static std::string place(const TorchrecPlanEntry& entry) {
    return entry.module.empty() ? entry.table : entry.module + "." + entry.table;
  }

 private:
  ImportNotes& notes_;
  TorchrecPlan plan_;
};

void read_table(const std::string& module, const std::string& name, const JsonValue& value,
                PlanCollector& collector) {
  TorchrecPlanEntry entry;
  entry.module = module;
  entry.table = name;
  entry.sharding = text_of(value.find("sharding_type"));
  entry.kernel = text_of(value.find("compute_kernel"));
  collector.rank_list(value.find("ranks"), entry);
  const JsonValue* shards = value.find("shards");
  if (shards == nullptr) {
    if (const JsonValue* spec = value.find("sharding_spec")) shards = spec->find("shards");
  }
  if (shards != nullptr && shards->array() != nullptr) {
    for (const JsonValue& shard : *shards->array()) {
      collector.shard(shard.find("shard_offsets"), shard.find("shard_sizes"),
                      text_of(shard.find("placement")), entry);
    }
  }
  collector.add(std::move(entry));
}

/// Cells of a printed table's line: separated by '|', or by two blanks.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const bool bars = line.find(" | ") != std::string_view::npos;
  std::size_t at = 0;
  while (at <= line.size()) {
    std::size_t end = bars ? line.find('|', at) : line.find("  ", at);
    if (end == std::string_view::npos) end = line.size();
    std::string_view cell = line.substr(at, end - at);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t' || cell.back() == '\r')) {
      cell.remove_suffix(1);
    }
    if (!cell.empty()) cells.push_back(cell);
    if (end == line.size()) break;
    at = end + 1;
  }
  return cells;
}

/// Reads print(plan) line by line. A prefix before the first cell is what stands before "module:".
class PlanTextReader {
 public:
  explicit PlanTextReader(ImportNotes& notes) : notes_(notes), collector_(notes) {}

  void line(std::string_view text, std::int64_t number) {
    line_ = number;
    if (const std::size_t at = text.find("module: "); at != std::string_view::npos) {
      flush();
      prefix_ = at;
      module_ = std::string(cells_of(text.substr(at + 8)).empty()
                                ? std::string_view()
                                : cells_of(text.substr(at + 8)).front());
      part_ = Part::none;
      return;
    }
    const bool after_prefix = text.size() > prefix_;
    const std::vector<std::string_view> cells =
        cells_of(after_prefix ? text.substr(prefix_) : std::string_view());
    if (cells.size() < 4) return notes_.skip(cells.empty() ? 0 : 1);
    if (cells[0] == "param") {
      part_ = cells[1] == "sharding type" ? Part::tables : Part::shards;
    } else if (cells[0].find_first_not_of("-+") == std::string_view::npos) {
      return;
    } else if (part_ == Part::tables) {
      table(cells);
    } else if (part_ == Part::shards) {
      shard(cells);
    }
  }

  Result<TorchrecPlan> finish() {
    flush();
    if (!collector_.plan().tables.empty()) return std::move(collector_.plan());
    return fail({ErrorKind::usage, "it has no printed ShardingPlan", notes_.file(),
                 "\"module: NAME\" with tables \"param | sharding type | ...\"",
                 "Print str(plan), or json.dumps(plan._serialize())"});
  }

 private:
  enum class Part { none, tables, shards };

  void table(const std::vector<std::string_view>& cells) {
    TorchrecPlanEntry entry;
    entry.module = module_;
    entry.table = std::string(cells[0]);
    entry.sharding = std::string(cells[1]);
    entry.kernel = std::string(cells[2]);
    if (const auto ranks = parse_literal(cells[3], 0, notes_.place(line_))) {
      collector_.rank_list(&ranks->value, entry);
    } else {
      notes_.warn(line_, "ranks " + quoted_piece(cells[3]) + " of " + entry.table + " are left out",
                  "[0, 1]");
    }
    entries_.push_back(std::move(entry));
  }

  void shard(const std::vector<std::string_view>& cells) {
    const auto entry = std::find_if(entries_.rbegin(), entries_.rend(),
                                    [&](const auto& one) { return one.table == cells[0]; });
    const auto offsets = parse_literal(cells[1], 0, notes_.place(line_));
    const auto sizes = parse_literal(cells[2], 0, notes_.place(line_));
    if (entry == entries_.rend() || !offsets || !sizes) {
      return notes_.warn(line_, "a shard of " + quoted_piece(cells[0]) + " is left out",
                         "a table of the list above with [row, column] offsets and sizes");
    }
    collector_.shard(&offsets->value, &sizes->value, std::string(cells[3]), *entry);
  }

  void flush() {
    for (TorchrecPlanEntry& entry : entries_) collector_.add(std::move(entry));
    entries_.clear();
  }

  ImportNotes& notes_;
  PlanCollector collector_;
  std::string module_;
  std::vector<TorchrecPlanEntry> entries_;  ///< of this module
  std::size_t prefix_ = 0;
  std::int64_t line_ = 0;
  Part part_ = Part::none;
};

bool is_table(const JsonValue& value) {
  return value.find("sharding_type") != nullptr;
}

}  // namespace

Result<TorchrecPlan> read_torchrec_json(std::string_view text, ImportNotes& notes) {
  const Result<Literal> root = parse_literal(text, 0, notes.file());
  if (!root) return fail(root.error());
  const JsonValue* modules = root->value.find("plan");
  if (modules == nullptr) modules = &root->value;
  PlanCollector collector(notes);
  const JsonValue::Object* fields = modules->object();
  for (std::size_t m = 0; fields != nullptr && m < fields->size(); ++m) {
    const auto& [module, tables] = (*fields)[m];
    if (is_table(tables)) {
      read_table("", module, tables, collector);
      continue;
    }
    const JsonValue::Object* inner = tables.object();
    for (std::size_t t = 0; inner != nullptr && t < inner->size(); ++t) {
      const auto& [name, value] = (*inner)[t];
      if (is_table(value)) {
        read_table(module, name, value, collector);
      } else {
        notes.warn_at(module + "." + name, "is no table's sharding and is left out",
                      "sharding_type, compute_kernel, ranks, shards");
      }
    }
  }
  if (!collector.plan().tables.empty()) return std::move(collector.plan());
  return fail({ErrorKind::usage, "it is no ShardingPlan", notes.file(),
               "{\"plan\": {module: {table: {\"sharding_type\": ...}}}}",
               "Write json.dumps(plan._serialize()) from the training job"});
}

Result<TorchrecPlan> read_torchrec_text(std::string_view text, ImportNotes& notes) {
  PlanTextReader reader(notes);
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at), number);
    at = end + 1;
  }
  return reader.finish();
}

}  // namespace shardscope::storage
