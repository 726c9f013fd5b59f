#include "app/recorded_stats.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "engine/batches/batch.hpp"

namespace shardscope::app {
namespace {

constexpr std::uintmax_t kLargestStream = std::uintmax_t{2} << 30;
constexpr double kIdsLookedAt = 4e6;
constexpr double kMostBatches = 8;
constexpr std::uint64_t kStreamSeed = 1;

/// A stream is a path, or "FORMAT:path".
bool is_readable(const std::string& stream) {
  for (const std::string& path : {stream, stream.substr(stream.find(':') + 1)}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) return size <= kLargestStream;
  }
  return false;
}

}  // namespace

std::vector<TableStats> recorded_stats(const Inputs& inputs) {
  const Workload& workload = inputs.workload;
  std::set<std::string> tables;
  double ids = 0;
  for (const Feature& feature : workload.features) {
    ids +=
        static_cast<double>(workload.global_batch) * feature.num_poolings * feature.hotness.mean();
    if (feature.ids.kind != IdDistributionKind::recorded) continue;
    if (!is_readable(feature.ids.stream)) return {};
    tables.insert(workload.tables[static_cast<std::size_t>(feature.table)].name);
  }
  if (tables.empty()) return {};
  const auto source = engine::make_batch_source(workload, kStreamSeed, engine::RangePolicy::wrap);
  if (!source) return {};
  const double batches = std::clamp(kIdsLookedAt / std::max(ids, 1.0), 1.0, kMostBatches);
  auto stats = engine::collect_stats(workload, **source, static_cast<std::int64_t>(batches),
                                     inputs.topology.ranks());
  if (!stats) return {};
  std::erase_if(*stats, [&](const TableStats& one) { return !tables.contains(one.table); });
  return std::move(*stats);
}

PredictOptions measured_options(const Inputs& inputs, const PredictHow& how) {
  PredictOptions options = predict_options(how);
  options.stats = recorded_stats(inputs);
  return options;
}

}  // namespace shardscope::app
