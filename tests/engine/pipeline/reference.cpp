#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/cpu/half.hpp"
#include "engine/cpu/rounding.hpp"

namespace shardscope::engine {

namespace {

constexpr double kEpsilon = 0x1p-24;  // half an ulp of fp32, relative
constexpr double kEpsilonFp16 = 0x1p-11;
constexpr double kEpsilonBf16 = 0x1p-8;
constexpr double kSmallestFp16 = 0x1p-24;

/// fp32 operations of one optimizer step behind the reduced gradient.
constexpr double kStepOperations = 8;

double unit_roundoff(DType type) {
  return type == DType::fp16 ? kEpsilonFp16 : kEpsilonBf16;
}

void add_term(Near& sum, double factor, double value, double value_error) {
  sum.value += factor * value;
  sum.error += std::abs(factor) * value_error;
  sum.magnitude += std::abs(factor * value);
  sum.terms += 1;
}

void close_sum(Near& sum) {
  sum.error += 4 * sum.terms * kEpsilon * sum.magnitude;
}

/// Largest distance from f(centre) over the corners of the inputs' intervals.
template <class Function>
double spread(const Function& f, const Near& a, const Near& b) {
  const double centre = f(a.value, b.value);
  double distance = 0;
  for (const double x : {a.value - a.error, a.value + a.error}) {
    for (const double y : {std::max(b.value - b.error, 0.0), b.value + b.error}) {
      distance = std::max(distance, std::abs(f(x, y) - centre));
    }
  }
  return distance;
}

Near squared(const Near& g) {
  return {g.value * g.value, 2 * std::abs(g.value) * g.error + g.error * g.error};
}

void grow(Near& state, const Near& by) {
  state.value += by.value;
  state.error += by.error + 4 * kEpsilon * (std::abs(state.value) + std::abs(by.value));
}

}  // namespace

Reference::Reference(const Workload& workload, const ReferenceOptions& options)
    : workload_(workload), options_(options) {
  outputs_.resize(workload.features.size());
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const WeightSource source(options.initial, options.seed, static_cast<std::int32_t>(t),
                              table.rows);
    const auto elements = static_cast<std::size_t>(table.rows * table.dim);
    std::vector<Near>& weights = weights_.emplace_back();
    for (std::int64_t row = 0; row < table.rows; ++row) {
      for (std::int32_t c = 0; c < table.dim; ++c) {
        const float value = source(row, c);
        weights.push_back({table.dtype == DType::fp32   ? value
                           : table.dtype == DType::fp16 ? fp16_to_float(float_to_fp16(value))
                                                        : bf16_to_float(float_to_bf16(value))});
      }
    }
    first_state_.emplace_back(elements);
    second_state_.emplace_back(elements);
    row_state_.emplace_back(static_cast<std::size_t>(table.rows));
  }
}

void Reference::step(std::int64_t iteration, const RankBatch& batch, const Gradients& gradients) {
  for (std::size_t f = 0; f < workload_.features.size(); ++f) forward(f, batch.features[f]);
  for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
    const Table& table = workload_.tables[t];
    std::vector<Near> sums(static_cast<std::size_t>(table.rows * table.dim));
    std::vector<bool> touched(static_cast<std::size_t>(table.rows));
    for (std::size_t f = 0; f < workload_.features.size(); ++f) {
      if (workload_.features[f].table != static_cast<std::int32_t>(t)) continue;
      accumulate(f, batch.features[f], gradients[f], sums, touched);
    }
    for (std::int64_t row = 0; row < table.rows; ++row) {
      if (touched[static_cast<std::size_t>(row)]) update_row(t, row, sums, iteration + 1);
    }
  }
}

// Every bag is the weighted sum of its rows; a mean divides by the whole bag's length, an empty bag
// is 0; concat and sequence give every row by itself.
void Reference::forward(std::size_t f, const FeatureBatch& input) {
  const Feature& feature = workload_.features[f];
  const auto t = static_cast<std::size_t>(feature.table);
  const auto dim = static_cast<std::size_t>(workload_.tables[t].dim);
  std::vector<Near>& output = outputs_[f];
  output.clear();
  std::int64_t n = 0;
  for (const std::int32_t length : input.lengths) {
    const bool pooled = is_pooled(feature.pooling);
    const double divide = feature.pooling == Pooling::mean && length > 0 ? 1.0 / length : 1.0;
    if (pooled) output.resize(output.size() + dim);
    for (const std::int64_t end = n + length; n < end; ++n) {
      if (!pooled) output.resize(output.size() + dim);
      const double weight = feature.weighted ? input.weights[static_cast<std::size_t>(n)] : 1.0;
      for (std::size_t c = 0; c < dim; ++c) {
        const Near& value = weights_[t][static_cast<std::size_t>(input.ids[n]) * dim + c];
        add_term(output[output.size() - dim + c], weight * divide, value.value, value.error);
      }
    }
  }
  for (Near& sum : output) {
    close_sum(sum);
    add_wire_error(sum, 1);
  }
}

void Reference::accumulate(std::size_t f, const FeatureBatch& input,
                           const std::vector<float>& gradient, std::vector<Near>& sums,
                           std::vector<bool>& touched) const {
  const Feature& feature = workload_.features[f];
  const auto dim =
      static_cast<std::size_t>(workload_.tables[static_cast<std::size_t>(feature.table)].dim);
  std::int64_t n = 0;
  for (std::size_t bag = 0; bag < input.lengths.size(); ++bag) {
    const std::int32_t length = input.lengths[bag];
    const double divide = feature.pooling == Pooling::mean && length > 0 ? 1.0 / length : 1.0;
    for (const std::int64_t end = n + length; n < end; ++n) {
      const std::size_t from = is_pooled(feature.pooling) ? bag : static_cast<std::size_t>(n);
      const double weight = feature.weighted ? input.weights[static_cast<std::size_t>(n)] : 1.0;
      const auto row = static_cast<std::size_t>(input.ids[n]);
      touched[row] = true;
      for (std::size_t c = 0; c < dim; ++c) {
        add_term(sums[row * dim + c], weight * divide, gradient[from * dim + c], 0);
      }
    }
  }
}

void Reference::update_row(std::size_t t, std::int64_t row, const std::vector<Near>& sums,
                           std::int64_t step) {
  const Table& table = workload_.tables[t];
  const auto first = static_cast<std::size_t>(row * table.dim);
  std::vector<Near> gradients(sums.begin() + static_cast<std::ptrdiff_t>(first),
                              sums.begin() + static_cast<std::ptrdiff_t>(first) + table.dim);
  Near square_sum;
  for (Near& gradient : gradients) {
    close_sum(gradient);
    add_wire_error(gradient, options_.loss_scale);
    const Near square = squared(gradient);
    add_term(square_sum, 1, square.value, square.error);
  }
  close_sum(square_sum);
  Near& row_state = row_state_[t][static_cast<std::size_t>(row)];
  grow(row_state, {square_sum.value / table.dim, square_sum.error / table.dim});
  for (std::int32_t c = 0; c < table.dim; ++c) {
    const auto column = static_cast<std::size_t>(c);
    const Near weight = update_element(t, first + column, gradients[column], row_state, step);
    store(t, row, c, weight, step);
  }
}

Near Reference::update_element(std::size_t t, std::size_t at, const Near& gradient,
                               const Near& row_state, std::int64_t step) {
  const Optimizer& optimizer = workload_.tables[t].optimizer;
  const double rate = static_cast<float>(optimizer.learning_rate);
  const double epsilon = static_cast<float>(optimizer.epsilon);
  const auto divided = [&](double g, double state) {
    return rate * g / (std::sqrt(state) + epsilon);
  };
  Near move;
  switch (optimizer.kind) {
    case OptimizerKind::adagrad: {
      Near& state = first_state_[t][at];
      grow(state, squared(gradient));
      move = {divided(gradient.value, state.value), spread(divided, gradient, state)};
      break;
    }
    case OptimizerKind::rowwise_adagrad:
      move = {divided(gradient.value, row_state.value), spread(divided, gradient, row_state)};
      break;
    case OptimizerKind::adam: {
      const double beta1 = static_cast<float>(optimizer.beta1);
      const double beta2 = static_cast<float>(optimizer.beta2);
      Near& m = first_state_[t][at];
      Near& v = second_state_[t][at];
      const Near square = squared(gradient);
      m = {beta1 * m.value, beta1 * m.error};
      grow(m, {(1 - beta1) * gradient.value, (1 - beta1) * gradient.error});
      v = {beta2 * v.value, beta2 * v.error};
      grow(v, {(1 - beta2) * square.value, (1 - beta2) * square.error});
      const double correct1 = 1 - std::pow(optimizer.beta1, static_cast<double>(step));
      const double correct2 = 1 - std::pow(optimizer.beta2, static_cast<double>(step));
      const auto corrected = [&](double a, double b) {
        return divided(a / correct1, b / correct2);
      };
      move = {corrected(m.value, v.value), spread(corrected, m, v)};
      break;
    }
    default:
      move = {rate * gradient.value, rate * gradient.error};
  }
  Near weight = weights_[t][at];
  weight.error += move.error + kStepOperations * kEpsilon * std::abs(move.value) +
                  4 * kEpsilon * (std::abs(weight.value) + std::abs(move.value));
  weight.value -= move.value;
  weight.terms = gradient.terms;
  weight.magnitude = gradient.magnitude;
  return weight;
}

// 16-bit tables round by (seed, table, row, column, step); a value that is only nearly known may
// go to the other neighbour.
void Reference::store(std::size_t t, std::int64_t row, std::int32_t column, const Near& weight,
                      std::int64_t step) {
  const Table& table = workload_.tables[t];
  Near stored = weight;
  if (table.dtype != DType::fp32) {
    const std::uint64_t key = rounding_key(options_.seed, static_cast<std::int32_t>(t), row, step);
    const std::uint32_t bits = rounding_bits(key, static_cast<std::uint32_t>(column));
    const auto value = static_cast<float>(weight.value);
    stored.value = table.dtype == DType::fp16 ? fp16_to_float(stochastic_fp16(value, bits))
                                              : bf16_to_float(stochastic_bf16(value, bits));
    stored.error +=
        2 * unit_roundoff(table.dtype) * (std::abs(weight.value) + weight.error) + kSmallestFp16;
  }
  weights_[t][static_cast<std::size_t>(row * table.dim + column)] = stored;
}

// A 16-bit wire rounds each partial sum (or gradient) once a hop, at most two hops; what is below
// its smallest value after scaling is lost.
void Reference::add_wire_error(Near& sum, double scale) const {
  if (workload_.wire == DType::fp32) return;
  constexpr double kHops = 2;
  sum.error += kHops * unit_roundoff(workload_.wire) * (sum.magnitude + sum.error);
  sum.error += kHops * sum.terms * kSmallestFp16 / scale;
}

}  // namespace shardscope::engine
