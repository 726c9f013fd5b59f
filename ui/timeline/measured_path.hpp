#pragma once
// The chain of cause through the recorded spans of one iteration.

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/span.hpp"
#include "ui/model/evaluation.hpp"

namespace shardscope::ui {

/// Walks back from the working span that ends last. What a rank did before a span is its cause;
/// where that was waiting inside a collective, the cause is the peer that arrived last: the work of
/// another rank that ended last while it waited. So the path changes rank only at collectives, and
/// holds no waiting. Pieces in order of time, cut at `begin_ns`; spans in any order, of all ranks.
[[nodiscard]] std::vector<PathPiece> measured_path(std::span<const Span> spans,
                                                   std::int64_t begin_ns);

}  // namespace shardscope::ui
