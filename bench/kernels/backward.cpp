#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "bench/kernels/cases.hpp"
#include "bench/kernels/rows.hpp"
#include "bench/kernels/setup.hpp"

namespace shardscope::engine {
namespace {

/// Index calculation, reduction and row-wise adagrad of one batch.
class Backward {
 public:
  Backward(const std::vector<std::int32_t>& ids, bool gradient_per_bag)
      : ids_(ids),
        unique_rows_(kIds),
        offsets_(kIds + 1),
        gradient_row_(kIds),
        gradient_of_(kIds),
        squares_(kIds),
        scratch_(allocated(sort_scratch_bytes(kIds, fixture().rows()))) {
    for (std::size_t n = 0; n < gradient_of_.size(); ++n) {
      gradient_of_[n] = static_cast<std::uint32_t>(gradient_per_bag ? n / kHotness : n);
    }
    sort();
  }

  void sort() {
    SortIndex call;
    call.count = kIds;
    call.rows = ids_.data();
    call.row_limit = fixture().rows();
    call.gradient_row = gradient_of_.data();
    call.unique_rows = unique_rows_.data();
    call.offsets = offsets_.data();
    call.sorted_gradient_row = gradient_row_.data();
    call.unique_count = &unique_;
    call.scratch = scratch_.data();
    sort_index(call);
  }

  void run() {
    SegmentReduce reduce = reduction();
    reduce.out = fixture().out.as<float>();
    reduce.square_sum = squares_.data();
    segment_reduce(reduce);
    OptimizerUpdate call = update();
    call.gradients = reduce.out;
    call.row_square_sum = squares_.data();
    optimizer_update(call);
  }

  /// Only touches what must be touched, in the order of the rows: gradients are read, weights read
  /// and written. No index calculation, no state.
  void touch() const {
    const auto* order = reinterpret_cast<const std::int32_t*>(gradient_row_.data());
    benchmark::DoNotOptimize(read_rows(fixture().gradients.as<float>(), kWidth, order, kIds, 16));
    rewrite_rows(fixture().table.as<float>(), kWidth, unique_rows_.data(), unique_, 8);
  }

  /// n (D e_grad + 2 key bytes) + u (2 D e_w + 2 state bytes).
  [[nodiscard]] double bytes() const {
    return static_cast<double>(kIds * (kRowBytes + 2 * 4) + unique_ * (2 * kRowBytes + 2 * 4));
  }
  [[nodiscard]] std::int64_t unique() const { return unique_; }

 private:
  [[nodiscard]] SegmentReduce reduction() const {
    SegmentReduce call;
    call.unique_count = &unique_;
    call.offsets = offsets_.data();
    call.gradient_row = gradient_row_.data();
    call.gradients = fixture().gradients.data();
    call.stride = kWidth;
    call.width = static_cast<std::int32_t>(kWidth);
    return call;
  }
  [[nodiscard]] OptimizerUpdate update() const {
    OptimizerUpdate call;
    call.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad, 1e-6);
    call.unique_count = &unique_;
    call.unique_rows = unique_rows_.data();
    call.rows = fixture().table.data();
    call.width = static_cast<std::int32_t>(kWidth);
    call.full_width = call.width;
    call.state = fixture().state.as<float>();
    call.row_count = fixture().rows();
    return call;
  }

  const std::vector<std::int32_t>& ids_;
  std::vector<std::int64_t> unique_rows_;
  std::vector<std::uint32_t> offsets_, gradient_row_, gradient_of_;
  std::vector<float> squares_;
  HugeMemory scratch_;
  std::int64_t unique_ = 0;
};

void backward(benchmark::State& state) {
  const bool zipf = state.range(0) != 0;
  const bool per_bag = state.range(1) != 0;
  Backward work(fixture().rows_of[zipf ? 1 : 0], per_bag);
  compare(state,
          fmt::format("sort + reduce + row-wise adagrad, {}, a gradient per {} (u/n {:.2f})",
                      zipf ? "Zipf 1.1" : "uniform", per_bag ? "bag" : "id",
                      static_cast<double>(work.unique()) / static_cast<double>(kIds)),
          0.6, kCopyBytes, work.bytes(), copy_seconds, [&] {
            return seconds_of([&] {
              work.sort();
              work.run();
            });
          });
}

/// What random rows leave of the copy bandwidth: a loop that only touches gradients and weights.
void backward_against_touching(benchmark::State& state) {
  const bool zipf = state.range(0) != 0;
  const bool per_bag = state.range(1) != 0;
  Backward work(fixture().rows_of[zipf ? 1 : 0], per_bag);
  compare(
      state,
      fmt::format("the same against touching the rows, {}, a gradient per {}",
                  zipf ? "Zipf 1.1" : "uniform", per_bag ? "bag" : "id"),
      0.6, work.bytes(), work.bytes(), [&] { return seconds_of([&] { work.touch(); }); },
      [&] {
        return seconds_of([&] {
          work.sort();
          work.run();
        });
      });
}

void sort_against_stable_sort(benchmark::State& state) {
  const auto& ids = fixture().rows_of[state.range(0) != 0 ? 1 : 0];
  Backward work(ids, true);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(kIds));
  const double bytes = static_cast<double>(kIds * 4);
  compare(
      state,
      fmt::format("sort_index against std::stable_sort, {}",
                  state.range(0) != 0 ? "Zipf 1.1" : "uniform"),
      1.0, bytes, bytes,
      [&] {
        std::iota(order.begin(), order.end(), 0U);
        return seconds_of([&] {
          std::stable_sort(order.begin(), order.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
        });
      },
      [&] { return seconds_of([&] { work.sort(); }); });
}

}  // namespace

void add_backward_cases() {
  add_case("backward", backward)->ArgNames({"zipf", "per_bag"})->ArgsProduct({{0, 1}, {0, 1}});
  add_case("backward_against_touching", backward_against_touching)
      ->ArgNames({"zipf", "per_bag"})
      ->ArgsProduct({{0, 1}, {0, 1}});
  benchmark::RegisterBenchmark("sort_against_stable_sort", sort_against_stable_sort)
      ->ArgName("zipf")
      ->Arg(0)
      ->Arg(1)
      ->Iterations(5)
      ->UseManualTime();
}

}  // namespace shardscope::engine
