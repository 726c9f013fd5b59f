#include "layout/workload.hpp"

#include <algorithm>
#include <utility>

#include "layout/memory.hpp"
#include "layout/names.hpp"

namespace shardscope {

Optimizer make_optimizer(OptimizerKind kind, double learning_rate) {
  Optimizer optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = learning_rate;
  if (kind == OptimizerKind::adagrad) optimizer.words_per_element = 1;
  if (kind == OptimizerKind::rowwise_adagrad) optimizer.words_per_row = 1;
  if (kind == OptimizerKind::adam) optimizer.words_per_element = 2;
  return optimizer;
}

double Hotness::mean() const {
  if (kind == HotnessKind::fixed) return minimum;
  if (kind == HotnessKind::uniform) return (static_cast<double>(minimum) + maximum) / 2;
  double total = 0;
  double lengths = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    total += weights[i];
    lengths += weights[i] * (minimum + static_cast<double>(i));
  }
  return total > 0 ? lengths / total : minimum;
}

Workload with_rows_cap(Workload workload, std::int64_t cap) {
  if (cap <= 0) return workload;
  for (Table& table : workload.tables) {
    if (table.rows <= cap) continue;
    table.rows = cap;
    workload.rows_cap = cap;
  }
  return workload;
}

std::vector<std::vector<std::int32_t>> features_by_table(const Workload& workload) {
  std::vector<std::vector<std::int32_t>> readers(workload.tables.size());
  for (std::size_t f = 0; f < workload.features.size(); ++f) {
    // A reference outside the tables is check_workload's to report.
    const auto table = static_cast<std::size_t>(workload.features[f].table);
    if (table < readers.size()) readers[table].push_back(static_cast<std::int32_t>(f));
  }
  return readers;
}

std::int64_t samples_of_rank(std::int64_t global_batch, std::int32_t rank, std::int32_t ranks) {
  return global_batch / ranks + (rank < global_batch % ranks ? 1 : 0);
}

std::int64_t first_sample_of_rank(std::int64_t global_batch, std::int32_t rank,
                                  std::int32_t ranks) {
  return global_batch / ranks * rank + std::min<std::int64_t>(rank, global_batch % ranks);
}

std::int64_t interaction_width(const Workload& workload) {
  std::int64_t width = 0;
  for (const Feature& feature : workload.features) {
    const auto table = static_cast<std::size_t>(feature.table);
    if (table >= workload.tables.size()) continue;
    std::int64_t elements = saturating_multiply(feature.num_poolings, workload.tables[table].dim);
    if (feature.pooling == Pooling::concat) {
      elements = saturating_multiply(elements, feature.hotness.maximum);
    }
    width = saturating_add(width, elements);
  }
  return width;
}

const char* to_string(DType value) {
  return name_of(value);
}
const char* to_string(KeyType value) {
  return name_of(value);
}
const char* to_string(OptimizerKind value) {
  return name_of(value);
}
const char* to_string(Pooling value) {
  return name_of(value);
}
const char* to_string(Interaction value) {
  return name_of(value);
}

}  // namespace shardscope
