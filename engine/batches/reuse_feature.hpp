#pragma once
// A feature whose batches reproduce a reuse histogram.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batches/feature_source.hpp"
#include "engine/batches/lengths.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Every global batch reads its distinct rows exactly as often as the histogram says (rounded to
/// whole rows), in a random order over the samples. Rows read 8 times or more are the same in
/// every iteration; the others are drawn anew from the rest of the table, as rarely read rows of a
/// real stream are. Where the batch needs more distinct rows than the table has, ranks wrap around
/// and the reuse is higher than asked for (TableStats shows it).
[[nodiscard]] Result<std::unique_ptr<FeatureSource>> make_reuse_feature(const Workload& workload,
                                                                        std::int32_t feature,
                                                                        std::uint64_t seed,
                                                                        Lengths lengths,
                                                                        const std::string& place);

}  // namespace shardscope::engine
