#include "engine/device.hpp"

#include "engine/cpu/kernels.hpp"

namespace shardscope::engine {

namespace {

/// One task for the whole list; nothing for an empty one.
template <class Call>
void enqueue_list(Stream& stream, std::span<const Call> calls, void (*kernel)(const Call&)) {
  if (calls.empty()) return;
  stream.enqueue([calls, kernel] {
    for (const Call& call : calls) kernel(call);
  });
}

class CpuOps final : public Ops {
 public:
  void gather_pool(Stream& stream, std::span<const GatherPool> calls) override {
    enqueue_list(stream, calls, engine::gather_pool);
  }
  void gather_rows(Stream& stream, std::span<const GatherRows> calls) override {
    enqueue_list(stream, calls, engine::gather_rows);
  }
  void copy_columns(Stream& stream, std::span<const CopyColumns> calls) override {
    enqueue_list(stream, calls, engine::copy_columns);
  }
  void bucketize(Stream& stream, std::span<const Bucketize> calls) override {
    enqueue_list(stream, calls, engine::bucketize);
  }
  void dedup(Stream& stream, std::span<const Dedup> calls) override {
    enqueue_list(stream, calls, engine::dedup);
  }
  void sort_index(Stream& stream, std::span<const SortIndex> calls) override {
    enqueue_list(stream, calls, engine::sort_index);
  }
  void segment_reduce(Stream& stream, std::span<const SegmentReduce> calls) override {
    enqueue_list(stream, calls, engine::segment_reduce);
  }
  void square_sum(Stream& stream, std::span<const SquareSum> calls) override {
    enqueue_list(stream, calls, engine::square_sum);
  }
  void optimizer_update(Stream& stream, std::span<const OptimizerUpdate> calls,
                        std::int64_t step) override {
    if (calls.empty()) return;
    stream.enqueue([calls, step] {
      for (const OptimizerUpdate& call : calls) {
        OptimizerUpdate now = call;
        now.step = step;
        engine::optimizer_update(now);
      }
    });
  }

  void copy_bytes(Stream& stream, std::span<const CopyBytes> calls) override {
    enqueue_list(stream, calls, engine::copy_bytes);
  }
  void fill_zero(Stream& stream, std::span<const FillZero> calls) override {
    enqueue_list(stream, calls, engine::fill_zero);
  }
  void sum_columns(Stream& stream, std::span<const SumColumns> calls) override {
    enqueue_list(stream, calls, engine::sum_columns);
  }
  void bag_scale(Stream& stream, std::span<const BagScale> calls) override {
    enqueue_list(stream, calls, engine::bag_scale);
  }
  void scale_rows(Stream& stream, std::span<const ScaleRows> calls) override {
    enqueue_list(stream, calls, engine::scale_rows);
  }
  void mean_bags(Stream& stream, std::span<const MeanBags> calls) override {
    enqueue_list(stream, calls, engine::mean_bags);
  }
  void spread_bags(Stream& stream, std::span<const SpreadBags> calls) override {
    enqueue_list(stream, calls, engine::spread_bags);
  }
  void expand_bags(Stream& stream, std::span<const ExpandBags> calls) override {
    enqueue_list(stream, calls, engine::expand_bags);
  }
  void fill_offsets(Stream& stream, std::span<const FillOffsets> calls) override {
    enqueue_list(stream, calls, engine::fill_offsets);
  }
  void group_ids(Stream& stream, std::span<const GroupIds> calls) override {
    enqueue_list(stream, calls, engine::group_ids);
  }
  void scatter_rows(Stream& stream, std::span<const ScatterRows> calls) override {
    enqueue_list(stream, calls, engine::scatter_rows);
  }
  void compact_rows(Stream& stream, std::span<const CompactRows> calls) override {
    enqueue_list(stream, calls, engine::compact_rows);
  }
  void add_sums(Stream& stream, std::span<const AddSums> calls) override {
    enqueue_list(stream, calls, engine::add_sums);
  }
  void pack_sums(Stream& stream, std::span<const PackSums> calls) override {
    enqueue_list(stream, calls, engine::pack_sums);
  }
  void unpack_sums(Stream& stream, std::span<const UnpackSums> calls) override {
    enqueue_list(stream, calls, engine::unpack_sums);
  }
};

}  // namespace

std::unique_ptr<Ops> make_cpu_ops() {
  return std::make_unique<CpuOps>();
}

}  // namespace shardscope::engine
