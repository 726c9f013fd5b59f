// Launches of the codec kernels.

#include "engine/cuda/codec_ops.hpp"

#include <algorithm>
#include <vector>

#include "engine/cuda/kernels/codec_planes.cuh"
#include "engine/cuda/kernels/codec_quantize.cuh"
#include "engine/cuda/kernels/codec_rows.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

std::int64_t groups_of_values(std::int64_t values) {
  return (values + 31) / 32;
}

std::int64_t slots_for(std::int64_t rows) {
  std::int64_t slots = 16;
  while (slots < 2 * rows) slots *= 2;
  return slots;
}

/// Sums up lists of int64 that lie behind each other: one scan for all calls.
struct Scans {
  std::int64_t* in = nullptr;
  std::int64_t* out = nullptr;
  std::int64_t count = 0;

  Scans(Work& work, std::int64_t total)
      : in(work.scratch<std::int64_t>(total)), out(work.scratch<std::int64_t>(total)) {}
  /// The next `wanted` elements of both.
  template <class Call>
  void give(Call& call, std::int64_t* Call::*from, std::int64_t* Call::*to, std::int64_t wanted) {
    call.*from = in + count;
    call.*to = out + count;
    count += wanted;
  }
};

class CudaCodecOps final : public CodecOps {
 public:
  void finite_range(Stream& stream, std::span<const FiniteRangeCall> calls) override {
    launch_list(stream, calls, codec_range_clear_kernel,
                [](const FiniteRangeCall&) { return std::int64_t{2}; });
    launch_list(stream, calls, codec_range_kernel,
                [](const FiniteRangeCall& call) { return call.count; });
  }

  void quantize(Stream& stream, std::span<const QuantizeCall> calls) override {
    launch_list(stream, calls, codec_quantize_kernel,
                [](const QuantizeCall& call) { return 32 * groups_of_values(call.count); });
  }

  void number_rows(Stream& stream, std::span<const NumberRowsCall> calls) override {
    if (calls.empty()) return;
    Work work(stream);
    std::int64_t rows = 0;
    std::int64_t slots = 0;
    std::int64_t most = 1;
    for (const NumberRowsCall& call : calls) {
      rows += call.rows + 1;
      slots += slots_for(call.rows);
      most = std::max(most, call.rows);
    }
    auto* table = work.scratch<std::uint32_t>(slots);
    work.clear(table, slots * static_cast<std::int64_t>(sizeof(std::uint32_t)));
    Scans scans(work, rows);
    std::vector<NumberRowsWork> works;
    for (const NumberRowsCall& call : calls) {
      NumberRowsWork& one = works.emplace_back();
      one.call = call;
      one.table = table;
      one.mask = static_cast<std::uint32_t>(slots_for(call.rows) - 1);
      table += slots_for(call.rows);
      scans.give(one, &NumberRowsWork::is_first, &NumberRowsWork::number, call.rows + 1);
    }
    const NumberRowsWork* lists = work.upload(works);
    work.launch(list_grid(32 * most, calls.size()), codec_insert_rows_kernel, lists);
    work.launch(list_grid(32 * most, calls.size()), codec_first_rows_kernel, lists);
    work.exclusive_sum(scans.in, scans.out, scans.count);
    work.launch(list_grid(most, calls.size()), codec_number_rows_kernel, lists);
  }

  void pack_planes(Stream& stream, std::span<const PackPlanesCall> calls) override {
    if (calls.empty()) return;
    Work work(stream);
    std::int64_t groups = 0;
    std::int64_t most = 1;
    for (const PackPlanesCall& call : calls) {
      const std::int64_t of_call = groups_of_values(call.rows * call.dim);
      groups += of_call + 1;
      most = std::max(most, of_call);
    }
    Scans scans(work, groups);
    std::vector<PackWork> works;
    for (const PackPlanesCall& call : calls) {
      PackWork& one = works.emplace_back();
      one.call = call;
      scans.give(one, &PackWork::words, &PackWork::place,
                 groups_of_values(call.rows * call.dim) + 1);
    }
    const PackWork* lists = work.upload(works);
    work.launch(list_grid(32 * most, calls.size()), codec_widths_kernel, lists);
    work.exclusive_sum(scans.in, scans.out, scans.count);
    work.launch(list_grid(32 * most, calls.size()), codec_pack_kernel, lists);
  }

  void unpack_planes(Stream& stream, std::span<const UnpackPlanesCall> calls) override {
    if (calls.empty()) return;
    Work work(stream);
    std::int64_t groups = 0;
    std::int64_t most = 1;
    for (const UnpackPlanesCall& call : calls) {
      groups += groups_of_values(call.count) + 1;
      most = std::max(most, groups_of_values(call.count));
    }
    Scans scans(work, groups);
    std::vector<UnpackWork> works;
    for (const UnpackPlanesCall& call : calls) {
      UnpackWork& one = works.emplace_back();
      one.call = call;
      scans.give(one, &UnpackWork::words, &UnpackWork::place, groups_of_values(call.count) + 1);
    }
    const UnpackWork* lists = work.upload(works);
    work.launch(list_grid(most, calls.size()), codec_plane_counts_kernel, lists);
    work.exclusive_sum(scans.in, scans.out, scans.count);
    work.launch(list_grid(32 * most, calls.size()), codec_unpack_kernel, lists);
  }

  void expand(Stream& stream, std::span<const ExpandCodesCall> calls) override {
    launch_list(stream, calls, codec_expand_kernel, [](const ExpandCodesCall& call) {
      return row_threads(call.rows, static_cast<std::int32_t>(call.dim), 1);
    });
  }
};

}  // namespace

CodecOps* make_codec_ops() {
  return new CudaCodecOps;
}

}  // namespace shardscope::engine::cuda
