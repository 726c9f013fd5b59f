#include "engine/pipeline/table_images.hpp"

#include <cstring>

#include "engine/cpu/half.hpp"

namespace shardscope::engine {

namespace {

/// Table row of a shard's local row.
std::int64_t table_row(const RunPlan& plan, const ShardMemory& shard, std::int64_t local) {
  const TablePlacement& placement = plan.placement(shard.table);
  return placement.cluster == ClusterType::DP ? local : placement.global_row(shard.row, local);
}

/// Calls visit(place in the shard, place in the table, elements) for every row, in elements.
template <class Visit>
void for_rows(const RunPlan& plan, const ShardMemory& shard, const Visit& visit) {
  const std::int64_t dim = plan.table(shard.table).dim;
  for (std::int64_t row = 0; row < shard.rows; ++row) {
    visit(static_cast<std::size_t>(row * shard.width),
          static_cast<std::size_t>(table_row(plan, shard, row) * dim + shard.first_column),
          static_cast<std::size_t>(shard.width));
  }
}

std::uint16_t to_half(float value, DType dtype) {
  return dtype == DType::fp16 ? float_to_fp16(value) : float_to_bf16(value);
}

}  // namespace

TableImage empty_image(const Table& table) {
  const auto elements = static_cast<std::size_t>(table.rows * table.dim);
  TableImage image;
  image.weights.resize(elements * static_cast<std::size_t>(bytes_of(table.dtype)));
  image.element_state.resize(elements *
                             static_cast<std::size_t>(table.optimizer.words_per_element));
  image.row_state.resize(static_cast<std::size_t>(table.rows) *
                         static_cast<std::size_t>(table.optimizer.words_per_row));
  return image;
}

void read_shard(const RunPlan& plan, const ShardMemory& shard, TableImage& image) {
  const Table& table = plan.table(shard.table);
  const auto size = static_cast<std::size_t>(bytes_of(table.dtype));
  const auto* weights = static_cast<const std::byte*>(shard.weights);
  const auto shard_plane = static_cast<std::size_t>(shard.rows * shard.width);
  const auto table_plane = static_cast<std::size_t>(table.rows * table.dim);
  for_rows(plan, shard, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::memcpy(image.weights.data() + to * size, weights + from * size, count * size);
    for (std::int32_t word = 0; word < table.optimizer.words_per_element; ++word) {
      const auto w = static_cast<std::size_t>(word);
      std::memcpy(image.element_state.data() + w * table_plane + to,
                  shard.state + w * shard_plane + from, count * sizeof(float));
    }
  });
  if (table.optimizer.per_shard && shard.column > 0) return;
  const float* rows =
      shard.state + static_cast<std::size_t>(table.optimizer.words_per_element) * shard_plane;
  for (std::int32_t word = 0; word < table.optimizer.words_per_row; ++word) {
    for (std::int64_t row = 0; row < shard.rows; ++row) {
      image.row_state[static_cast<std::size_t>(word * table.rows + table_row(plan, shard, row))] =
          rows[word * shard.rows + row];
    }
  }
}

void write_shard(const RunPlan& plan, const ShardMemory& shard, const TableImage& image) {
  const Table& table = plan.table(shard.table);
  const auto size = static_cast<std::size_t>(bytes_of(table.dtype));
  auto* weights = static_cast<std::byte*>(shard.weights);
  const auto shard_plane = static_cast<std::size_t>(shard.rows * shard.width);
  const auto table_plane = static_cast<std::size_t>(table.rows * table.dim);
  for_rows(plan, shard, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::memcpy(weights + to * size, image.weights.data() + from * size, count * size);
    for (std::int32_t word = 0; word < table.optimizer.words_per_element; ++word) {
      const auto w = static_cast<std::size_t>(word);
      std::memcpy(shard.state + w * shard_plane + to,
                  image.element_state.data() + w * table_plane + from, count * sizeof(float));
    }
  });
  float* rows =
      shard.state + static_cast<std::size_t>(table.optimizer.words_per_element) * shard_plane;
  for (std::int32_t word = 0; word < table.optimizer.words_per_row; ++word) {
    for (std::int64_t row = 0; row < shard.rows; ++row) {
      rows[word * shard.rows + row] =
          image
              .row_state[static_cast<std::size_t>(word * table.rows + table_row(plan, shard, row))];
    }
  }
}

void fill_shard(const RunPlan& plan, const ShardMemory& shard, InitialWeights kind) {
  const Table& table = plan.table(shard.table);
  const WeightSource source(kind, plan.seed, shard.table, table.rows);
  for (std::int64_t row = 0; row < shard.rows; ++row) {
    const std::int64_t id = table_row(plan, shard, row);
    for (std::int32_t c = 0; c < shard.width; ++c) {
      const float value = source(id, shard.first_column + c);
      const std::int64_t at = row * shard.width + c;
      if (table.dtype == DType::fp32) {
        static_cast<float*>(shard.weights)[at] = value;
      } else {
        static_cast<std::uint16_t*>(shard.weights)[at] = to_half(value, table.dtype);
      }
    }
  }
}

std::vector<float> weights_of(const Table& table, const TableImage& image) {
  std::vector<float> values(static_cast<std::size_t>(table.rows * table.dim));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (table.dtype == DType::fp32) {
      std::memcpy(&values[i], image.weights.data() + i * sizeof(float), sizeof(float));
      continue;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, image.weights.data() + i * sizeof(bits), sizeof(bits));
    values[i] = table.dtype == DType::fp16 ? fp16_to_float(bits) : bf16_to_float(bits);
  }
  return values;
}

}  // namespace shardscope::engine
