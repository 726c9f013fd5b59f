#include "storage/import/torchrec/torchrec_plan.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "storage/import/hugectr/literal.hpp"
#include "storage/import/log_lines.hpp"
#include "storage/import/torchrec/torchrec_collector.hpp"

namespace shardscope::storage {
namespace {

std::string text_of(const JsonValue* value) {
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}

void read_table(const std::string& module, const std::string& name, const JsonValue& value,
                TorchrecPlanCollector& collector) {
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

bool is_table(const JsonValue& value) {
  return value.find("sharding_type") != nullptr;
}

/// The quoted key of the value that begins at `at`, and where it begins; empty where there is none.
std::pair<std::string_view, std::size_t> key_before(std::string_view text, std::size_t at) {
  const auto back = [&](std::size_t from, std::string_view passed) {
    while (from > 0 && passed.find(text[from - 1]) != std::string_view::npos) --from;
    return from;
  };
  std::size_t end = back(at, " \t\r\n");
  if (end == 0 || text[end - 1] != ':') return {};
  end = back(end - 1, " \t\r\n");
  if (end == 0 || (text[end - 1] != '"' && text[end - 1] != '\'')) return {};
  const std::size_t begin = end < 2 ? std::string_view::npos : text.rfind(text[end - 1], end - 2);
  if (begin == std::string_view::npos) return {};
  return {text.substr(begin + 1, end - begin - 2), begin};
}

/// Tables one by one, wherever they stand: in a log, after other text, in a file that was cut off.
void read_scattered(std::string_view text, ImportNotes& notes, TorchrecPlanCollector& collector) {
  constexpr int kMostDamaged = 64;
  int damaged = 0;
  std::string module;
  std::size_t done = 0;
  for (std::size_t at = text.find("sharding_type"); at != std::string_view::npos;
       at = text.find("sharding_type", at + 1)) {
    const std::size_t open = text.rfind('{', at);
    if (open == std::string_view::npos || open < done) continue;
    done = open + 1;
    const auto [name, begin] = key_before(text, open);
    const auto line = static_cast<std::int64_t>(line_of(text, open));
    const auto entry = parse_literal(text, open, notes.place(line));
    if (!entry || !is_table(entry->value) || name.empty()) {
      collector.plan().cut = true;
      notes.warn(line, "the sharding of " + quoted_piece(name) + " is damaged and left out",
                 "{\"sharding_type\": ..., \"ranks\": [...], \"shards\": [...]}");
      if (++damaged >= kMostDamaged) return;
      continue;
    }
    done = entry->end;
    const std::size_t before = text.find_last_not_of(" \t\r\n", begin == 0 ? 0 : begin - 1);
    if (before != std::string_view::npos && text[before] == '{') {
      module = std::string(key_before(text, before).first);
    }
    read_table(module == "plan" ? "" : module, std::string(name), entry->value, collector);
  }
}

/// A plan inside other text; an error that names where the whole one ends is `otherwise`.
Result<TorchrecPlan> scattered_plan(std::string_view text, ImportNotes& notes,
                                    const Error& otherwise) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return fail(otherwise);
  const std::string bare = without_prefixes(text, open);
  for (const std::string_view one : {text, std::string_view(bare)}) {
    ImportNotes found(notes.file());
    TorchrecPlanCollector collector(found);
    read_scattered(one, found, collector);
    if (collector.plan().tables.empty()) continue;
    notes.add(found);
    notes.kept(fmt::format("the sharding of {} tables, found one by one in other text",
                           collector.plan().tables.size()));
    return std::move(collector.plan());
  }
  return fail(otherwise);
}

}  // namespace

Result<TorchrecPlan> read_torchrec_json(std::string_view text, ImportNotes& notes) {
  const Result<Literal> root = parse_literal(text, 0, notes.file());
  if (!root) return scattered_plan(text, notes, root.error());
  const JsonValue* modules = root->value.find("plan");
  if (modules == nullptr) modules = &root->value;
  TorchrecPlanCollector collector(notes);
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
  return scattered_plan(text, notes,
                        {ErrorKind::usage, "it is no ShardingPlan", notes.file(),
                         "{\"plan\": {module: {table: {\"sharding_type\": ...}}}}",
                         "Write json.dumps(plan._serialize()) from the training job"});
}

}  // namespace shardscope::storage
