#pragma once
// The operations of engine/device.hpp by the kernels of engine/cuda/kernels: one launch a list (a
// few where an operation has steps), whatever the tables' dims and types. Lists are copied when
// they are enqueued. Index operations bring their own work space: SortIndex::scratch is not used.
// Results equal the cpu device's bit for bit, except the gradients of rows with more than 128
// occurrences, which are summed in parts (kernels/reduce.cuh); they do not depend on timing either.

#include "engine/device.hpp"

namespace shardscope::engine::cuda {

class CudaOps final : public Ops {
 public:
  void gather_pool(Stream& stream, std::span<const GatherPool> calls) override;
  void gather_rows(Stream& stream, std::span<const GatherRows> calls) override;
  void copy_columns(Stream& stream, std::span<const CopyColumns> calls) override;
  void sum_columns(Stream& stream, std::span<const SumColumns> calls) override;
  void bucketize(Stream& stream, std::span<const Bucketize> calls) override;
  void dedup(Stream& stream, std::span<const Dedup> calls) override;
  void sort_index(Stream& stream, std::span<const SortIndex> calls) override;
  void segment_reduce(Stream& stream, std::span<const SegmentReduce> calls) override;
  void square_sum(Stream& stream, std::span<const SquareSum> calls) override;
  void optimizer_update(Stream& stream, std::span<const OptimizerUpdate> calls,
                        std::int64_t step) override;

  void copy_bytes(Stream& stream, std::span<const CopyBytes> calls) override;
  void fill_zero(Stream& stream, std::span<const FillZero> calls) override;
  void bag_scale(Stream& stream, std::span<const BagScale> calls) override;
  void scale_rows(Stream& stream, std::span<const ScaleRows> calls) override;
  void mean_bags(Stream& stream, std::span<const MeanBags> calls) override;
  void spread_bags(Stream& stream, std::span<const SpreadBags> calls) override;
  void expand_bags(Stream& stream, std::span<const ExpandBags> calls) override;
  void fill_offsets(Stream& stream, std::span<const FillOffsets> calls) override;
  void group_ids(Stream& stream, std::span<const GroupIds> calls) override;
  void scatter_rows(Stream& stream, std::span<const ScatterRows> calls) override;
  void compact_rows(Stream& stream, std::span<const CompactRows> calls) override;
  void add_sums(Stream& stream, std::span<const AddSums> calls) override;
  void pack_sums(Stream& stream, std::span<const PackSums> calls) override;
  void unpack_sums(Stream& stream, std::span<const UnpackSums> calls) override;

 private:
  static void reduce_runs(Stream& stream, std::span<const SegmentReduce> calls);
};

}  // namespace shardscope::engine::cuda
