#pragma once
// What codecs make of a table's traffic, measured on vectors like those that travel: of one rank's
// part of a batch, the pooled sums (RB) or the distinct rows (UB), with the tables' first values.
// Trained values are less even and compress better.

#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/codec/measure.hpp"
#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

struct VectorSample {
  ChunkShape shape;
  std::vector<float> values;
};

/// Vectors of a table in the batch; at most about `max_values` values. Empty where none travel.
[[nodiscard]] VectorSample sample_vectors(const Workload& workload, std::size_t table,
                                          ClusterType cluster, const RankBatch& batch,
                                          std::uint64_t seed, std::int64_t max_values);

/// (Distinct rows of codes) / (distinct rows of values) at that bound, relative to the range.
[[nodiscard]] double homogenization(const VectorSample& sample, double bound);

/// Profiles of codecs on the sample and on parts of it, throughput by size.
[[nodiscard]] Result<std::vector<CodecProfile>> measure_profiles(
    const VectorSample& sample, const std::string& table, const std::vector<CodecSpec>& specs,
    double seconds_each);

/// Codecs at one bound, a share of the range; those that keep none are without.
[[nodiscard]] std::vector<CodecSpec> specs_at(const std::vector<CodecKind>& codecs, double bound);

}  // namespace shardscope::engine
