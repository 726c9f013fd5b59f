#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bench/kernels/cases.hpp"
#include "bench/kernels/setup.hpp"

namespace shardscope::engine {
namespace {

constexpr OptimizerKind kOptimizers[] = {OptimizerKind::sgd, OptimizerKind::adagrad,
                                         OptimizerKind::rowwise_adagrad, OptimizerKind::adam};

/// Updates distinct random rows of a quarter of the table. Bytes: gradients once, weights and state
/// there and back.
void update_typed(benchmark::State& state) {
  const OptimizerKind kind = kOptimizers[state.range(0)];
  const auto type = static_cast<DType>(state.range(1));
  fill_table(type);
  const std::int64_t row_count = fixture().rows() / 4;
  std::vector<std::int64_t> rows;
  for (const std::int32_t id : fixture().rows_of[0]) rows.push_back(id % row_count);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const auto count = static_cast<std::int64_t>(rows.size());
  OptimizerUpdate call;
  call.optimizer = make_optimizer(kind, 1e-6);
  const std::int64_t words =
      call.optimizer.words_per_element * kWidth + call.optimizer.words_per_row;
  const HugeMemory words_of_rows = allocated(std::max<std::int64_t>(words * row_count * 4, 64));
  std::fill_n(words_of_rows.as<float>(), words * row_count, 0.0F);
  const std::vector<float> squares(rows.size(), 1.0F);
  call.unique_count = &count;
  call.unique_rows = rows.data();
  call.gradients = fixture().gradients.as<float>();
  call.row_square_sum = squares.data();
  call.rows = fixture().table.data();
  call.row_type = type;
  call.width = static_cast<std::int32_t>(kWidth);
  call.full_width = call.width;
  call.state = words_of_rows.as<float>();
  call.row_count = row_count;
  const double bytes =
      static_cast<double>(count * (kRowBytes + 2 * kWidth * bytes_of(type) + 2 * words * 4));
  compare(state, fmt::format("update of {} rows, {}", to_string(type), to_string(kind)), 0.6,
          kCopyBytes, bytes, copy_seconds, [&] {
            ++call.step;
            return seconds_of([&] { optimizer_update(call); });
          });
}

/// fp32 rows into a wire's type; limit: memcpy.
void to_wire(benchmark::State& state) {
  const auto type = static_cast<DType>(state.range(0));
  CopyColumns call;
  call.from = fixture().gradients.data();
  call.from_stride = kWidth;
  call.to = fixture().out.data();
  call.to_type = type;
  call.to_stride = kWidth;
  call.rows = kIds;
  call.width = static_cast<std::int32_t>(kWidth);
  call.factor = 1024;
  const double bytes = static_cast<double>(kIds * kWidth * (4 + bytes_of(type)));
  compare(state, fmt::format("fp32 rows to a {} wire", to_string(type)), 0.6, kCopyBytes, bytes,
          copy_seconds, [&] { return seconds_of([&] { copy_columns(call); }); });
}

}  // namespace

void add_update_cases() {
  add_case("update_typed", update_typed)
      ->ArgNames({"optimizer", "type"})
      ->ArgsProduct({{0, 1, 2, 3}, row_types()});
  add_case("to_wire", to_wire)->ArgName("type")->ArgsProduct({row_types()});
}

}  // namespace shardscope::engine
