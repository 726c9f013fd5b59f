#include "ui/model/suggestions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <utility>

#include "ui/model/alternatives.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kShardsTried = 6;   ///< of a GPU, the costliest
constexpr std::size_t kTargetsTried = 3;  ///< the lightest GPUs
constexpr std::size_t kTablesTried = 16;  ///< for another cluster
constexpr std::size_t kChecked = 8;       ///< of the priced ones, in full

std::vector<std::int32_t> lightest(const std::vector<double>& values, std::size_t count) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](std::int32_t a, std::int32_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    less);
  order.resize(count);
  return order;
}

/// Shards of a GPU by falling weight.
std::vector<ShardId> heaviest_shards(const Document& document, std::int32_t rank, bool by_memory) {
  std::vector<std::pair<double, ShardId>> found;
  const Layout& layout = document.layout();
  for (const Shard& shard : shards_of(layout)) {
    if (shard.owner != rank) continue;
    const ShardId id{shard.table, shard.row, shard.column};
    found.emplace_back(by_memory ? shard_bytes(document.workload(), layout, id)
                                 : load_seconds(document.costs().of(layout, id)),
                       id);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > kShardsTried) found.resize(kShardsTried);
  std::vector<ShardId> result;
  for (const auto& [weight, id] : found) result.push_back(id);
  return result;
}

void add(std::vector<Edit>& candidates, Result<Edit> edit) {
  if (edit) candidates.push_back(std::move(*edit));
}

void around_gpu(const Document& document, std::int32_t rank, bool by_memory,
                std::vector<Edit>& candidates) {
  const Evaluation& now = document.current();
  const std::vector<double>& fill = by_memory ? now.memory_bytes : now.load_s;
  for (const ShardId& shard : heaviest_shards(document, rank, by_memory)) {
    for (const std::int32_t to : lightest(fill, kTargetsTried)) {
      if (to == rank) continue;
      add(candidates, edit_move(document, shard, to));
      add(candidates, edit_split_rows(document, shard, 2, to));
    }
  }
}

/// Clusters that the table's features allow.
void other_clusters(const Document& document, std::int32_t table, std::vector<Edit>& candidates) {
  const auto index = static_cast<std::size_t>(table);
  const Workload& workload = document.workload();
  const ClusterType now = document.layout().tables[index].cluster;
  for (const ClusterType cluster : {ClusterType::DP, ClusterType::RB, ClusterType::UB}) {
    if (cluster == now) continue;
    if (cluster == ClusterType::DP &&
        table_bytes(workload.tables[index]) > document.current().memory_limit / 8) {
      continue;
    }
    add(candidates, as_cluster(document, table, cluster));
  }
}

}  // namespace

void Suggestions::start(const Document& document) {
  candidates_.clear();
  seconds_.clear();
  best_.clear();
  next_ = 0;
  fresh_ = false;
  node_ = document.history().current();
  const Evaluation& now = document.current();
  if (!now.priced) return;
  std::set<std::int32_t> full;
  for (const Violation& violation : now.violations) {
    if (violation.rule == "memory.gpu" && violation.rank >= 0) full.insert(violation.rank);
  }
  for (const std::int32_t rank : full) {
    if (candidates_.size() < 4 * kShardsTried * kTargetsTried) {
      around_gpu(document, rank, true, candidates_);
    }
  }
  const auto heaviest = std::max_element(now.load_s.begin(), now.load_s.end());
  if (heaviest != now.load_s.end()) {
    around_gpu(document, static_cast<std::int32_t>(heaviest - now.load_s.begin()), false,
               candidates_);
    const auto critical = now.critical_rank;
    if (critical != heaviest - now.load_s.begin()) {
      around_gpu(document, critical, false, candidates_);
    }
  }
  std::vector<std::pair<double, std::int32_t>> tables;
  for (std::size_t t = 0; t < document.layout().tables.size(); ++t) {
    tables.emplace_back(load_seconds(document.costs().table(document.layout(), t)),
                        static_cast<std::int32_t>(t));
  }
  std::stable_sort(tables.begin(), tables.end(), std::greater<>());
  if (tables.size() > kTablesTried) tables.resize(kTablesTried);
  for (const auto& [cost, table] : tables) other_clusters(document, table, candidates_);
}

void Suggestions::rank(Document& document) {
  const Evaluation& now = document.current();
  std::vector<std::size_t> order(candidates_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return seconds_[a] < seconds_[b]; });
  // Where something is broken, the candidates that were made for it stand at the front.
  std::vector<std::size_t> checked(order.begin(), order.begin() + std::min(order.size(), kChecked));
  if (now.errors > 0) {
    for (std::size_t i = 0; i < std::min(candidates_.size(), 2 * kChecked); ++i) {
      if (std::find(checked.begin(), checked.end(), i) == checked.end()) checked.push_back(i);
    }
  }
  for (const std::size_t i : checked) {
    const double gain = now.iteration_s - seconds_[i];
    auto layout = std::make_shared<Layout>(document.layout());
    layout->tables[static_cast<std::size_t>(candidates_[i].table)] = candidates_[i].placement;
    const Evaluation after = document.evaluator().preview(layout);
    if (!after.priced || after.errors > now.errors) continue;
    Suggestion suggestion{candidates_[i], gain, after.errors < now.errors, {}};
    if (suggestion.cures) {
      for (const Violation& violation : now.violations) {
        if (violation.rule != "memory.gpu" || violation.rank < 0) continue;
        const double left = after.memory_bytes[static_cast<std::size_t>(violation.rank)];
        if (left > after.memory_limit) continue;
        suggestion.cure_text = fmt::format(
            "cures {} ({} GiB)", gpu_title(document.topology(), violation.rank), gib_text(left));
        break;
      }
      if (suggestion.cure_text.empty()) suggestion.cure_text = "cures a violation";
    }
    if (suggestion.cures || gain > now.iteration_s * 1e-4) best_.push_back(std::move(suggestion));
  }
  std::stable_sort(best_.begin(), best_.end(), [](const Suggestion& a, const Suggestion& b) {
    if (a.cures != b.cures) return a.cures;
    return a.gain_s > b.gain_s;
  });
  // One suggestion a shard or table is enough where there is choice.
  if (best_.size() > kShown) best_.resize(kShown);
}

bool Suggestions::work(Document& document, double budget_ms) {
  if (document.previewing()) return true;
  if (fresh_ || node_ != document.history().current()) start(document);
  const auto begin = std::chrono::steady_clock::now();
  if (finished()) return true;
  while (next_ < candidates_.size()) {
    const Edit& edit = candidates_[next_++];
    const double seconds = document.evaluator().try_table(
        document.layout(), static_cast<std::size_t>(edit.table), edit.placement);
    seconds_.push_back(seconds > 0 ? seconds : 1e9);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    if (spent.count() > budget_ms) break;
  }
  if (next_ < candidates_.size()) return false;
  rank(document);
  return true;
}

}  // namespace shardscope::ui
