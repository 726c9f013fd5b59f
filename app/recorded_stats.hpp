#pragma once
// Recorded ids follow no law: predictions of them rest on what their streams hold.

#include "app/inputs.hpp"

namespace shardscope::app {

/// Statistics of the tables that recorded features read, from some global batches of their streams
/// (up to about 4 million ids, at least one batch). Nothing where a stream is not there, cannot be
/// read or is larger than 2 GiB: predictions then assume a law and say so (planner's warning
/// ids.assumed).
[[nodiscard]] std::vector<TableStats> recorded_stats(const Inputs& inputs);

/// predict_options() with those statistics.
[[nodiscard]] PredictOptions measured_options(const Inputs& inputs, const PredictHow& how);

}  // namespace shardscope::app
