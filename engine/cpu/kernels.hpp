#pragma once
// The operations of engine/ops.hpp on the CPU: plain functions that run at once on the calling
// thread, allocate nothing and keep no state. Vectorised for the best instruction set the machine
// has; results do not depend on which one that is: ids of a bag and occurrences of a row are added
// in order, and a product is rounded before it is added (no fused multiply-add). fp16 and bf16 are
// rounded to nearest even except where OptimizerUpdate rounds stochastically.
//
// Preconditions (checked by the caller when it makes the batch): ids lie in their table, counts
// agree, accumulating calls have fp32 targets. Input and output do not overlap unless a struct
// says so.

#include "engine/ops.hpp"

namespace shardscope::engine {

void gather_pool(const GatherPool& call);
void gather_rows(const GatherRows& call);
void copy_columns(const CopyColumns& call);
void bucketize(const Bucketize& call);
void dedup(const Dedup& call);
void sort_index(const SortIndex& call);
void segment_reduce(const SegmentReduce& call);
void square_sum(const SquareSum& call);
void optimizer_update(const OptimizerUpdate& call);

}  // namespace shardscope::engine
