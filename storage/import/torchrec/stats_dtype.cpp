#include "storage/import/torchrec/stats_dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shardscope::storage {
namespace {

constexpr double kGibBytes = 1024.0 * 1024.0 * 1024.0;
/// Storage is printed to 0.001 GiB in up to three columns.
constexpr double kRoundingBytes = 3 * 0.0005 * kGibBytes;

enum class Tells { nothing, fp16, fp32 };

/// Ids and vectors of an iteration that the planner counts as storage, at least.
double exchanged_bytes(const StatsTable& table, double samples) {
  constexpr double kIdBytes = 8;
  constexpr double kVectorElementBytes = 4;
  const double ids = table.num_indices >= 0 ? table.num_indices : table.sum_pooling;
  const double vectors = table.pooled ? table.sum_num_poolings : ids;
  return samples *
         (ids * kIdBytes + vectors * static_cast<double>(table.dim) * kVectorElementBytes);
}

Tells told_by(const StatsTable& table, double samples) {
  const bool replicated = table.sharding == "DP" || table.sharding == "data_parallel";
  const double copies =
      replicated ? static_cast<double>(std::max<std::size_t>(table.ranks.size(), 1)) : 1;
  const double elements = static_cast<double>(table.rows) * static_cast<double>(table.dim);
  const double storage = (table.hbm_gib + table.ddr_gib + table.ssd_gib) * kGibBytes;
  if (storage <= 0 || elements <= 0) return Tells::nothing;
  if (elements * copies * 4 > storage * 1.01 + kRoundingBytes) return Tells::fp16;
  // Planners count inputs and outputs up to three times (prefetching pipelines).
  const bool mostly_weights = exchanged_bytes(table, samples) * 3 + kRoundingBytes < elements;
  return mostly_weights ? Tells::fp32 : Tells::nothing;
}

}  // namespace

StatsTypes stats_types(const TorchrecStats& stats, std::int32_t ranks) {
  constexpr std::int64_t kUsualBatch = 512;
  const double samples =
      static_cast<double>(stats.batch_per_rank > 0 ? stats.batch_per_rank : kUsualBatch) * ranks;
  std::vector<Tells> told;
  for (const StatsTable& table : stats.tables) told.push_back(told_by(table, samples));
  const auto halves = std::count(told.begin(), told.end(), Tells::fp16);
  const auto singles = std::count(told.begin(), told.end(), Tells::fp32);
  const DType others = halves > singles ? DType::fp16 : DType::fp32;
  StatsTypes types;
  for (const Tells one : told) {
    types.tables.push_back(one == Tells::fp16   ? DType::fp16
                           : one == Tells::fp32 ? DType::fp32
                                                : others);
  }
  types.note =
      halves == 0
          ? fmt::format("weights are taken as fp32: the printed storage of all {} tables holds it",
                        told.size())
          : fmt::format(
                "weights of {} of {} tables are fp16 (fp32 exceeds their printed storage), "
                "of {} fp32; the others are taken as {}",
                halves, told.size(), singles, to_string(others));
  return types;
}

}  // namespace shardscope::storage
