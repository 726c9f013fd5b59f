#include "profiler/stage_times.hpp"

#include <algorithm>

#include "layout/memory.hpp"

namespace shardscope {
namespace {

double milliseconds_each(std::int64_t ns, std::int64_t iterations) {
  return static_cast<double>(ns) / 1e6 / static_cast<double>(iterations);
}

}  // namespace

StageSum::StageSum(std::vector<std::int32_t> excluded_iterations)
    : excluded_(std::move(excluded_iterations)) {
  std::sort(excluded_.begin(), excluded_.end());
}

void StageSum::add(const Span& span) {
  if (std::binary_search(excluded_.begin(), excluded_.end(), span.iteration)) return;
  iterations_.insert(span.iteration);
  StageTotals& sum = sums_[{span.rank, span.stage, span.work}];
  sum.rank = span.rank;
  sum.stage = span.stage;
  sum.work = span.work;
  sum.spans += 1;
  std::int64_t& duration = span.waiting ? sum.waiting_ns : sum.total_ns;
  duration = saturating_add(duration, span.end_ns - span.start_ns);
  sum.busy_ns = saturating_add(sum.busy_ns, span.busy_ns);
  sum.intra_bytes = saturating_add(sum.intra_bytes, span.intra_bytes);
  sum.inter_bytes = saturating_add(sum.inter_bytes, span.inter_bytes);
  sum.rows = saturating_add(sum.rows, span.rows);
}

std::vector<StageTotals> StageSum::totals() const {
  std::vector<StageTotals> totals;
  totals.reserve(sums_.size());
  for (const auto& [key, sum] : sums_) totals.push_back(sum);
  return totals;
}

std::vector<RankStages> rank_stages(std::span<const StageTotals> totals, std::int64_t iterations) {
  iterations = std::max<std::int64_t>(iterations, 1);
  std::map<std::int32_t, RankStages> ranks;
  for (const StageTotals& sum : totals) {
    RankStages& rank = ranks[sum.rank];
    if (rank.ms.empty()) {
      rank.rank = sum.rank;
      rank.ms.resize(kStages);
      rank.busy_ms.resize(kStages);
      rank.waiting_ms.resize(kStages);
    }
    const auto stage = static_cast<std::size_t>(sum.stage);
    rank.ms[stage] += milliseconds_each(sum.total_ns, iterations);
    rank.busy_ms[stage] += milliseconds_each(sum.busy_ns, iterations);
    rank.waiting_ms[stage] += milliseconds_each(sum.waiting_ns, iterations);
  }
  std::vector<RankStages> rows;
  rows.reserve(ranks.size());
  for (auto& [number, rank] : ranks) rows.push_back(std::move(rank));
  return rows;
}

std::vector<StageRow> stage_table(std::span<const StageTotals> totals, std::int64_t iterations) {
  iterations = std::max<std::int64_t>(iterations, 1);
  const std::vector<RankStages> ranks = rank_stages(totals, iterations);
  std::map<Stage, StageRow> rows;
  for (const StageTotals& sum : totals) {
    StageRow& row = rows[sum.stage];
    row.stage = sum.stage;
    row.intra_bytes += static_cast<double>(sum.intra_bytes) / static_cast<double>(iterations);
    row.inter_bytes += static_cast<double>(sum.inter_bytes) / static_cast<double>(iterations);
    row.rows += static_cast<double>(sum.rows) / static_cast<double>(iterations);
  }
  std::vector<StageRow> table;
  for (auto& [stage, row] : rows) {
    const auto index = static_cast<std::size_t>(stage);
    row.slowest_rank = ranks.front().rank;
    for (const RankStages& rank : ranks) {
      if (rank.ms[index] > row.ms_max) {
        row.ms_max = rank.ms[index];
        row.slowest_rank = rank.rank;
      }
      row.busy_ms_max = std::max(row.busy_ms_max, rank.busy_ms[index]);
      row.ms_mean += rank.ms[index];
      row.busy_ms_mean += rank.busy_ms[index];
      row.waiting_ms_mean += rank.waiting_ms[index];
    }
    const auto count = static_cast<double>(ranks.size());
    row.ms_mean /= count;
    row.busy_ms_mean /= count;
    row.waiting_ms_mean /= count;
    table.push_back(row);
  }
  return table;
}

}  // namespace shardscope
