#pragma once
// Traces of several ranks beside each other: their numbers, one clock, and who waited for whom.

#include <cstddef>
#include <vector>

#include "storage/import/notes.hpp"
#include "storage/import/trace/trace_model.hpp"
#include "storage/import/trace/trace_stages.hpp"

namespace shardscope::storage {

/// [k][i] is the work index on rank i of the k-th collective that all ranks share.
using MatchedCollectives = std::vector<std::vector<std::size_t>>;

/// Numbers ranks by their file's name where the trace has no number, else by their order;
/// ascending.
void number_ranks(std::vector<RankTrace>& ranks, ImportNotes& notes);

/// Collectives of one iteration and class, in their order, where every rank has as many.
[[nodiscard]] MatchedCollectives match_collectives(
    const std::vector<RankTrace>& ranks, const std::vector<std::vector<WorkPlace>>& places);

/// Collectives end together: the median difference of their ends is the clocks' difference. Moves
/// every rank to the first one's clock and notes the offsets in `totals` (as ranks).
void align_clocks(std::vector<RankTrace>& ranks, const MatchedCollectives& matches,
                  std::vector<TraceRank>& totals, ImportNotes& notes);

/// A collective's time until its last rank arrived.
void find_waiting(const std::vector<RankTrace>& ranks, const MatchedCollectives& matches,
                  std::vector<std::vector<WorkPlace>>& places);

}  // namespace shardscope::storage
