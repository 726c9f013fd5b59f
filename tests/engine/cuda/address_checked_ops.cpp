#include "tests/engine/cuda/address_checked_ops.hpp"

#include <cstdio>
#include <cstdlib>

#include "engine/cuda/host/ops.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"

namespace shardscope::engine::cuda {
namespace {

/// `memory` is null, leads nowhere (bytes 0) or lies in an emulated GPU's memory. Where the size is
/// the device's alone to know (kSomewhere), its start does.
constexpr std::int64_t kSomewhere = 1;
void require(const char* operation, const char* field, const void* memory, std::int64_t bytes) {
  if (memory == nullptr || bytes <= 0) return;
  if (is_emulated_memory(memory, bytes == kSomewhere ? 0 : bytes)) return;
  std::fprintf(stderr, "%s: %s leads to memory that the device does not have\n", operation, field);
  std::abort();
}

/// Bytes of rows of `width` elements `stride` apart.
std::int64_t rows_bytes(std::int64_t rows, std::int64_t stride, std::int64_t width, DType type) {
  return rows <= 0 ? 0 : ((rows - 1) * stride + width) * bytes_of(type);
}

void check(const GatherPool& call) {
  require("gather_pool", "rows", call.rows, call.bags > 0 ? kSomewhere : 0);
  require("gather_pool", "lengths", call.lengths, 4 * call.bags);
  require("gather_pool", "ids", call.ids, call.bags > 0 ? kSomewhere : 0);
  require("gather_pool", "weights", call.weights, call.bags > 0 ? kSomewhere : 0);
  require("gather_pool", "out", call.out,
          rows_bytes(call.bags, call.out_stride, call.width, call.out_type));
}
void check(const GatherRows& call) {
  require("gather_rows", "rows", call.rows, call.count > 0 ? kSomewhere : 0);
  require("gather_rows", "ids", call.ids, call.count * bytes_of(call.key));
  require("gather_rows", "out", call.out,
          rows_bytes(call.count, call.out_stride, call.width, call.out_type));
}
void check(const CopyColumns& call) {
  require("copy_columns", "from", call.from,
          rows_bytes(call.rows, call.from_stride, call.width, call.from_type));
  require("copy_columns", "to", call.to,
          rows_bytes(call.rows, call.to_stride, call.width, call.to_type));
  require("copy_columns", "scale", call.scale, 4 * call.rows);
}
void check(const SumColumns& call) {
  for (std::int32_t n = 0; n < call.count; ++n) {
    const CopyColumns& term = call.terms[n];
    require("sum_columns", "from", term.from,
            rows_bytes(term.rows, term.from_stride, term.width, term.from_type));
    require("sum_columns", "scale", term.scale, 4 * term.rows);
  }
  if (call.store != nullptr) {
    require("sum_columns", "store", call.store->to,
            rows_bytes(call.store->rows, call.store->to_stride, call.store->width,
                       call.store->to_type));
  }
}
void check(const Bucketize& call) {
  require("bucketize", "lengths", call.lengths, 4 * call.bags);
  require("bucketize", "ids", call.ids, call.bags > 0 ? kSomewhere : 0);
  require("bucketize", "counts", call.counts, 8 * call.row_shards);
  for (std::int32_t j = 0; j < call.row_shards; ++j) {
    require("bucketize", "lengths_out", call.lengths_out[j], 4 * call.bags);
    require("bucketize", "ids_out", call.ids_out[j], call.bags > 0 ? kSomewhere : 0);
  }
}
void check(const Dedup& call) {
  require("dedup", "ids", call.ids, call.count * bytes_of(call.key));
  require("dedup", "counts", call.counts, 8 * call.row_shards);
  require("dedup", "slot", call.slot, 4 * call.count);
  require("dedup", "table", call.table, dedup_table_bytes(call.count, call.key));
  for (std::int32_t j = 0; j < call.row_shards; ++j) {
    require("dedup", "unique_out", call.unique_out[j], call.count > 0 ? kSomewhere : 0);
  }
}
void check(const SortIndex& call) {
  require("sort_index", "rows", call.rows, call.count * bytes_of(call.key));
  require("sort_index", "gradient_row", call.gradient_row, 4 * call.count);
  require("sort_index", "weights", call.weights, 4 * call.count);
  require("sort_index", "sorted_gradient_row", call.sorted_gradient_row, 4 * call.count);
  require("sort_index", "unique_count", call.unique_count, 8);
}
void check(const SegmentReduce& call) {
  require("segment_reduce", "unique_count", call.unique_count, 8);
  require("segment_reduce", "offsets", call.offsets, 4);
  require("segment_reduce", "gradients", call.gradients, kSomewhere);
  require("segment_reduce", "row_offset", call.row_offset, kSomewhere);
  require("segment_reduce", "out", call.out, kSomewhere);
  require("segment_reduce", "square_sum", call.square_sum, kSomewhere);
}
void check(const SquareSum& call) {
  require("square_sum", "gradients", call.gradients, kSomewhere);
  require("square_sum", "out", call.out, kSomewhere);
}
void check(const OptimizerUpdate& call) {
  require("optimizer_update", "unique_rows", call.unique_rows, kSomewhere);
  require("optimizer_update", "gradients", call.gradients, kSomewhere);
  require("optimizer_update", "row_square_sum", call.row_square_sum, kSomewhere);
  require("optimizer_update", "rows", call.rows,
          call.row_count * call.width * bytes_of(call.row_type));
}
void check(const CopyBytes& call) {
  require("copy_bytes", "from", call.from, call.bytes);
  require("copy_bytes", "to", call.to, call.bytes);
}
void check(const FillZero& call) {
  require("fill_zero", "to", call.to, call.bytes);
}
void check(const BagScale& call) {
  require("bag_scale", "lengths", call.lengths, 4 * call.bags);
  require("bag_scale", "scale", call.scale, 4 * call.bags);
}
void check(const ScaleRows& call) {
  require("scale_rows", "rows", call.rows,
          rows_bytes(call.count, call.stride, call.width, DType::fp32));
  require("scale_rows", "scale", call.scale, 4 * call.count);
}
void check(const MeanBags& call) {
  require("mean_bags", "lengths", call.lengths, 4 * call.bags);
  require("mean_bags", "out", call.out, call.bags > 0 ? kSomewhere : 0);
}
void check(const SpreadBags& call) {
  require("spread_bags", "lengths", call.lengths, 4 * call.bags);
  require("spread_bags", "gradients", call.gradients, call.bags > 0 ? kSomewhere : 0);
}
void check(const ExpandBags& call) {
  require("expand_bags", "lengths", call.lengths, 4 * call.bags);
  require("expand_bags", "weights", call.weights, call.bags > 0 ? kSomewhere : 0);
  require("expand_bags", "scale", call.scale, call.bags > 0 ? kSomewhere : 0);
}
void check(const FillOffsets& call) {
  require("fill_offsets", "offsets", call.offsets, 8 * call.count);
}
void check(const GroupIds& call) {
  require("group_ids", "ids", call.ids, call.count * bytes_of(call.key));
  require("group_ids", "counts", call.counts, 8 * call.row_shards);
  require("group_ids", "slot", call.slot, 4 * call.count);
}
void check(const ScatterRows& call) {
  require("scatter_rows", "from", call.from, kSomewhere);
  require("scatter_rows", "to", call.to, kSomewhere);
}
void check(const CompactRows& call) {
  require("compact_rows", "touched", call.touched, 4 * call.row_count);
  require("compact_rows", "rows", call.rows, 8 * call.row_count);
}
void check(const AddSums& call) {
  require("add_sums", "add", call.add, kSomewhere);
  require("add_sums", "sum", call.sum, kSomewhere);
}
void check(const PackSums& call) {
  require("pack_sums", "bytes", call.bytes, 8);
  for (std::int32_t n = 0; n < call.lists; ++n) {
    require("pack_sums", "unique_counts", call.unique_counts[n], 8);
    require("pack_sums", "sums", call.sums[n], kSomewhere);
  }
}
void check(const UnpackSums& call) {
  for (std::int32_t n = 0; n < call.lists; ++n) {
    require("unpack_sums", "sums", call.sums[n], kSomewhere);
  }
}

/// Every list is checked when it is enqueued, as a GPU's driver copies it then.
class AddressCheckedOps final : public Ops {
 public:
#define SHARDSCOPE_CHECKED(operation, Call)                              \
  void operation(Stream& stream, std::span<const Call> calls) override { \
    for (const Call& call : calls) check(call);                          \
    inner_->operation(stream, calls);                                    \
  }
  SHARDSCOPE_CHECKED(gather_pool, GatherPool)
  SHARDSCOPE_CHECKED(gather_rows, GatherRows)
  SHARDSCOPE_CHECKED(copy_columns, CopyColumns)
  SHARDSCOPE_CHECKED(sum_columns, SumColumns)
  SHARDSCOPE_CHECKED(bucketize, Bucketize)
  SHARDSCOPE_CHECKED(dedup, Dedup)
  SHARDSCOPE_CHECKED(sort_index, SortIndex)
  SHARDSCOPE_CHECKED(segment_reduce, SegmentReduce)
  SHARDSCOPE_CHECKED(square_sum, SquareSum)
  SHARDSCOPE_CHECKED(copy_bytes, CopyBytes)
  SHARDSCOPE_CHECKED(fill_zero, FillZero)
  SHARDSCOPE_CHECKED(bag_scale, BagScale)
  SHARDSCOPE_CHECKED(scale_rows, ScaleRows)
  SHARDSCOPE_CHECKED(mean_bags, MeanBags)
  SHARDSCOPE_CHECKED(spread_bags, SpreadBags)
  SHARDSCOPE_CHECKED(expand_bags, ExpandBags)
  SHARDSCOPE_CHECKED(fill_offsets, FillOffsets)
  SHARDSCOPE_CHECKED(group_ids, GroupIds)
  SHARDSCOPE_CHECKED(scatter_rows, ScatterRows)
  SHARDSCOPE_CHECKED(compact_rows, CompactRows)
  SHARDSCOPE_CHECKED(add_sums, AddSums)
  SHARDSCOPE_CHECKED(pack_sums, PackSums)
  SHARDSCOPE_CHECKED(unpack_sums, UnpackSums)
#undef SHARDSCOPE_CHECKED
  void optimizer_update(Stream& stream, std::span<const OptimizerUpdate> calls,
                        std::int64_t step) override {
    for (const OptimizerUpdate& call : calls) check(call);
    inner_->optimizer_update(stream, calls, step);
  }

 private:
  std::unique_ptr<Ops> inner_{make_host_cuda_ops()};
};

}  // namespace

Ops* make_address_checked_ops() {
  return new AddressCheckedOps;
}

}  // namespace shardscope::engine::cuda
