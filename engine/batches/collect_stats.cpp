#include <optional>
#include <utility>

#include "engine/batches/batch.hpp"
#include "engine/batches/parallel.hpp"
#include "engine/batches/stats_collector.hpp"

namespace shardscope::engine {
namespace {

/// The parts of all ranks, or the first error.
Result<std::vector<RankBatch>> make_parts(const BatchSource& source, std::int64_t iteration,
                                          std::int32_t ranks) {
  std::vector<Result<RankBatch>> made(static_cast<std::size_t>(ranks));
  parallel_for(ranks, [&](std::int64_t rank) {
    made[static_cast<std::size_t>(rank)] =
        source.make(iteration, static_cast<std::int32_t>(rank), ranks);
  });
  std::vector<RankBatch> parts;
  for (auto& part : made) {
    if (!part) return fail(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace

Result<std::vector<TableStats>> collect_stats(const Workload& workload, const BatchSource& source,
                                              std::int64_t iterations, std::int32_t ranks) {
  const auto readers = features_by_table(workload);
  std::vector<TableStatsCollector> collectors;
  std::vector<std::int64_t> out_of_range;
  for (std::size_t table = 0; table < workload.tables.size(); ++table) {
    const auto index = static_cast<std::int32_t>(table);
    collectors.emplace_back(workload, index, readers[table]);
    out_of_range.push_back(source.out_of_range_of_table(index));
  }
  const auto tables = static_cast<std::int64_t>(collectors.size());
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    auto parts = make_parts(source, iteration, ranks);
    if (!parts) return fail(std::move(parts.error()));
    parallel_for(tables, [&](std::int64_t table) {
      collectors[static_cast<std::size_t>(table)].add(*parts);
    });
  }
  std::vector<TableStats> stats(collectors.size());
  parallel_for(tables, [&](std::int64_t table) {
    const auto at = static_cast<std::size_t>(table);
    stats[at] = collectors[at].finish();
    stats[at].out_of_range =
        source.out_of_range_of_table(static_cast<std::int32_t>(table)) - out_of_range[at];
  });
  return stats;
}

}  // namespace shardscope::engine
