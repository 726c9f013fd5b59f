// ShardingPlan as print(plan) writes it.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "storage/import/hugectr/literal.hpp"
#include "storage/import/torchrec/torchrec_collector.hpp"
#include "storage/import/torchrec/torchrec_plan.hpp"

namespace shardscope::storage {
namespace {

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
    const bool head = is_head(text);
    // The first line of a message may be the only one with a logger's prefix. Headers are centred:
    // they tell whether the prefix is there, not where it ends.
    if (head && text.find("param") < prefix_) prefix_ = 0;
    const std::vector<std::string_view> cells =
        cells_of(text.size() > prefix_ ? text.substr(prefix_) : std::string_view());
    if (cells.size() < 4) return notes_.skip(cells.empty() ? 0 : 1);
    if (head) {
      part_ = text.find("sharding type") != std::string_view::npos ? Part::tables : Part::shards;
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

  static bool is_head(std::string_view text) {
    return text.find("param") != std::string_view::npos &&
           (text.find("sharding type") != std::string_view::npos ||
            text.find("shard offsets") != std::string_view::npos);
  }

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

  /// A list of shards that ends early leaves its last table without some.
  void flush() {
    for (TorchrecPlanEntry& entry : entries_) {
      if (!entry.shards.empty() && entry.shards.size() < entry.ranks.size()) {
        collector_.plan().cut = true;
        notes_.warn(line_,
                    fmt::format("{} has {} of {} shards and is left out", quoted_piece(entry.table),
                                entry.shards.size(), entry.ranks.size()),
                    "the whole list of shards");
        continue;
      }
      collector_.add(std::move(entry));
    }
    entries_.clear();
  }

  ImportNotes& notes_;
  TorchrecPlanCollector collector_;
  std::string module_;
  std::vector<TorchrecPlanEntry> entries_;  ///< of this module
  std::size_t prefix_ = 0;
  std::int64_t line_ = 0;
  Part part_ = Part::none;
};

}  // namespace

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
