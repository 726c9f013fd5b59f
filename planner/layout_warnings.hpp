#pragma once
// What is legal and yet likely a mistake: said beside every plan, prediction and check.

#include <vector>

#include "layout/check.hpp"
#include "planner/cost_model.hpp"

namespace shardscope {

/// Warnings of a layout whose geometry is valid (layout/check.hpp), each with its cure:
/// - memory.replicated: DP tables fill more than half of a GPU, or more than all of it
/// - memory.load: what loading or building the tables takes at once on a host or on one GPU
/// - rows.lopsided_blocks: a block of rows that far more ids read than its share
/// - layout.idle_ranks: ranks that own nothing, as of a plan made for a smaller world
/// - balance.work: memory lies evenly and work does not
/// - codec.unpriced: codecs that the options have no profile of, priced as plain wires
/// - replicate.small: tables under 2 GB that would be faster replicated (looked for where
///   `priced`: it re-prices the layout once a table, at most 32 of them)
/// A layout for another number of ranks is an error of check(), not a warning here.
[[nodiscard]] std::vector<Violation> layout_warnings(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     const PredictOptions& options,
                                                     bool priced = true);

}  // namespace shardscope
