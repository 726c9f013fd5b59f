#include "tests/engine/cpu/gradient_cases.hpp"

#include <cmath>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/rounding.hpp"

namespace shardscope::engine::testing {
namespace {

/// Square sums by the documented order: 16 interleaved sums, added in halves.
float reference_square_sum(const float* gradient, std::int64_t width) {
  float sums[16] = {};
  for (std::int64_t c = 0; c < width; ++c) sums[c % 16] += gradient[c] * gradient[c];
  for (const int half : {8, 4, 2, 1}) {
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  return sums[0];
}

}  // namespace

GradientCase::GradientCase(Random& random, bool dyadic)
    : width(random.width()),
      shard_rows(random.between(1, 40)),
      unique(0),
      offsets{0},
      gradients(DType::fp32, 0) {
  const std::int64_t gradient_rows = random.between(1, 50);
  for (std::int64_t row = 0; row < shard_rows; ++row) {
    if (random.chance(0.4)) continue;
    unique_rows.push_back(row);
    const std::int64_t occurrences = random.between(1, 12);
    for (std::int64_t i = 0; i < occurrences; ++i) {
      gradient_row.push_back(static_cast<std::uint32_t>(random.between(0, gradient_rows - 1)));
    }
    offsets.push_back(static_cast<std::uint32_t>(gradient_row.size()));
  }
  unique = static_cast<std::int64_t>(unique_rows.size());
  if (random.chance(0.5)) {
    for (std::size_t i = 0; i < gradient_row.size(); ++i) {
      weights.push_back(dyadic ? random.dyadic() : random.real());
    }
  }
  stride = width + random.between(0, 7);
  std::int64_t elements = gradient_rows * stride;
  if (random.chance(0.5)) {
    elements = 0;
    for (std::int64_t g = 0; g < gradient_rows; ++g) {
      row_offset.push_back(elements + random.between(0, 5));
      elements = row_offset.back() + width;
    }
  }
  factor = random.chance(0.5) ? 1 : 0.25F;
  gradients = random_values(random, random.dtype(), elements, dyadic);
}

SegmentReduce GradientCase::call() const {
  return {&unique,
          offsets.data(),
          gradient_row.data(),
          weights.empty() ? nullptr : weights.data(),
          gradients.data(),
          gradients.type(),
          row_offset.empty() ? nullptr : row_offset.data(),
          stride,
          width,
          factor,
          nullptr};
}

std::vector<float> GradientCase::reduced() const {
  std::vector<float> result(static_cast<std::size_t>(unique * width));
  for (std::int64_t u = 0; u < unique; ++u) {
    for (std::int64_t c = 0; c < width; ++c) {
      float sum = 0;
      for (std::size_t i = offsets[static_cast<std::size_t>(u)];
           i < offsets[static_cast<std::size_t>(u) + 1]; ++i) {
        const std::uint32_t g = gradient_row[i];
        const std::int64_t begin = row_offset.empty() ? g * stride : row_offset[g];
        const float value = gradients[begin + c];
        sum += weights.empty() ? value : weights[i] * value;
      }
      result[static_cast<std::size_t>(u * width + c)] = factor * sum;
    }
  }
  return result;
}

void GradientCase::reduce_into(std::vector<float>& out) const {
  SegmentReduce reduce = call();
  reduce.out = out.data();
  segment_reduce(reduce);
}

UpdateCase::UpdateCase(Random& random, const GradientCase& gradients)
    : optimizer(make_optimizer(static_cast<OptimizerKind>(random.between(0, 3)), 0.125)),
      unique_rows(gradients.unique_rows),
      width(gradients.width),
      rows(random_values(random, random.dtype(), gradients.shard_rows * width)) {
  const std::int64_t words =
      gradients.shard_rows * (optimizer.words_per_element * width + optimizer.words_per_row);
  for (std::int64_t i = 0; i < words; ++i) state.push_back(std::abs(random.real()));
  settings.full_width = gradients.width + static_cast<std::int32_t>(random.between(0, 64));
  settings.row_count = gradients.shard_rows;
  settings.step = random.between(1, 1000);
  settings.seed = static_cast<std::uint64_t>(random.between(0, 1'000'000));
  settings.table = static_cast<std::int32_t>(random.between(0, 500));
  settings.first_column = static_cast<std::int32_t>(random.between(0, 300));
  settings.row_scale = random.between(1, 9);
  settings.row_base = random.between(0, 1'000'000'000'000);
}

OptimizerUpdate UpdateCase::call(const GradientCase& gradients) {
  OptimizerUpdate update = settings;
  update.optimizer = optimizer;
  update.unique_count = &gradients.unique;
  update.unique_rows = unique_rows.data();
  update.rows = rows.data();
  update.row_type = rows.type();
  update.width = gradients.width;
  update.state = state.data();
  return update;
}

void UpdateCase::apply_reference(const std::vector<float>& reduced) {
  const auto rate = static_cast<float>(optimizer.learning_rate);
  const auto epsilon = static_cast<float>(optimizer.epsilon);
  const auto beta1 = static_cast<float>(optimizer.beta1);
  const auto beta2 = static_cast<float>(optimizer.beta2);
  const auto steps = static_cast<double>(settings.step);
  const auto correction1 = static_cast<float>(1 / (1 - std::pow(optimizer.beta1, steps)));
  const auto correction2 = static_cast<float>(1 / (1 - std::pow(optimizer.beta2, steps)));
  const auto words = static_cast<std::size_t>(settings.row_count * width);
  for (std::size_t u = 0; u < unique_rows.size(); ++u) {
    const std::int64_t row = unique_rows[u];
    const float* gradient = reduced.data() + u * static_cast<std::size_t>(width);
    float row_state = 0;
    if (optimizer.kind == OptimizerKind::rowwise_adagrad) {
      row_state = state[static_cast<std::size_t>(row)] +=
          reference_square_sum(gradient, width) / static_cast<float>(settings.full_width);
    }
    for (std::int64_t c = 0; c < width; ++c) {
      const auto at = static_cast<std::size_t>(row * width + c);
      const float g = gradient[c];
      float step = rate * g;
      if (optimizer.kind == OptimizerKind::adagrad) {
        state[at] += g * g;
        step = step / (std::sqrt(state[at]) + epsilon);
      } else if (optimizer.kind == OptimizerKind::rowwise_adagrad) {
        step = step / (std::sqrt(row_state) + epsilon);
      } else if (optimizer.kind == OptimizerKind::adam) {
        float& m = state[at];
        float& v = state[words + at];
        m = beta1 * m + (1 - beta1) * g;
        v = beta2 * v + (1 - beta2) * (g * g);
        step = rate * (m * correction1) / (std::sqrt(v * correction2) + epsilon);
      }
      const float value = rows[static_cast<std::int64_t>(at)] - step;
      const std::uint32_t random =
          rounding_bits(rounding_key(settings.seed, settings.table,
                                     row * settings.row_scale + settings.row_base, settings.step),
                        static_cast<std::uint32_t>(settings.first_column + c));
      float rounded = value;
      if (rows.type() == DType::fp16) rounded = fp16_to_float(stochastic_fp16(value, random));
      if (rows.type() == DType::bf16) rounded = bf16_to_float(stochastic_bf16(value, random));
      rows.set(static_cast<std::int64_t>(at), rounded);
    }
  }
}

void UpdateCase::apply_kernels(const GradientCase& gradients) {
  std::vector<float> reduced(static_cast<std::size_t>(gradients.unique * width));
  std::vector<float> squares(static_cast<std::size_t>(gradients.unique));
  gradients.reduce_into(reduced);
  square_sum({&gradients.unique, reduced.data(), gradients.width, squares.data()});
  OptimizerUpdate update = call(gradients);
  update.gradients = reduced.data();
  update.row_square_sum = squares.data();
  optimizer_update(update);
}

}  // namespace shardscope::engine::testing
