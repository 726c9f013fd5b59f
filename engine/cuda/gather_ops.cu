// Forward lookups and copies of rows.

#include "engine/cuda/bag_offsets.hpp"
#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/kernels/gather.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

/// Rows in memory: strided, of one type.
struct RowsAt {
  const void* data = nullptr;
  std::int64_t stride = 0;
  DType type = DType::fp32;
};

/// Whether rows of that width can go from one place to the other a vector at a time.
bool moves_by_vectors(std::int64_t width, const RowsAt& from, const RowsAt& to) {
  return width % kVector == 0 && is_vector_aligned(from.data, from.stride, bytes_of(from.type)) &&
         is_vector_aligned(to.data, to.stride, bytes_of(to.type));
}

}  // namespace

void CudaOps::gather_pool(Stream& stream, std::span<const GatherPool> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<BagLengths> lengths;
  for (const GatherPool& call : calls) lengths.push_back({call.lengths, call.bags});
  const std::vector<const std::int64_t*> offsets = bag_offsets(work, lengths);
  std::vector<PoolCall> pools;
  std::int64_t threads = 0;
  for (const GatherPool& call : calls) {
    const bool vector = moves_by_vectors(call.width, {call.rows, call.row_stride, call.row_type},
                                         {call.out, call.out_stride, call.out_type});
    pools.push_back({call, offsets[pools.size()], vector});
    threads = std::max(threads, row_threads(call.bags, call.width, vector ? kVector : 1));
  }
  work.launch(list_grid(threads, pools.size()), gather_pool_kernel, work.upload(pools));
}

void CudaOps::gather_rows(Stream& stream, std::span<const GatherRows> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<RowsCall> rows;
  std::int64_t threads = 0;
  for (const GatherRows& call : calls) {
    const bool vector = moves_by_vectors(call.width, {call.rows, call.row_stride, call.row_type},
                                         {call.out, call.out_stride, call.out_type});
    rows.push_back({call, vector});
    threads = std::max(threads, row_threads(call.count, call.width, vector ? kVector : 1));
  }
  work.launch(list_grid(threads, rows.size()), gather_rows_kernel, work.upload(rows));
}

void CudaOps::copy_columns(Stream& stream, std::span<const CopyColumns> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<ColumnsCall> columns;
  std::int64_t threads = 0;
  for (const CopyColumns& call : calls) {
    const bool vector = moves_by_vectors(call.width, {call.from, call.from_stride, call.from_type},
                                         {call.to, call.to_stride, call.to_type});
    columns.push_back({call, vector});
    threads = std::max(threads, row_threads(call.rows, call.width, vector ? kVector : 1));
  }
  work.launch(list_grid(threads, columns.size()), copy_columns_kernel, work.upload(columns));
}

void CudaOps::sum_columns(Stream& stream, std::span<const SumColumns> calls) {
  Work work(stream);
  std::vector<SumCall> sums;
  std::int64_t threads = 0;
  for (const SumColumns& call : calls) {
    if (call.count == 0) continue;
    SumCall sum;
    sum.count = call.count;
    sum.terms = work.upload(std::vector<CopyColumns>(call.terms, call.terms + call.count));
    sum.scaled = call.store != nullptr;
    sum.store = sum.scaled ? *call.store : call.terms[0];
    sum.vector =
        sum.store.width % kVector == 0 &&
        is_vector_aligned(sum.store.to, sum.store.to_stride, bytes_of(sum.store.to_type)) &&
        std::all_of(call.terms, call.terms + call.count, [](const CopyColumns& term) {
          return is_vector_aligned(term.from, term.from_stride, bytes_of(term.from_type));
        });
    threads =
        std::max(threads, row_threads(sum.store.rows, sum.store.width, sum.vector ? kVector : 1));
    sums.push_back(sum);
  }
  if (sums.empty()) return;
  work.launch(list_grid(threads, sums.size()), sum_columns_kernel, work.upload(sums));
}

}  // namespace shardscope::engine::cuda
