#pragma once
// Tables outside any layout: assembled from shards, cut into shards, made new.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/initial_weights.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"

namespace shardscope::engine {

/// One table with its optimizer state, whole.
struct TableImage {
  std::vector<std::byte> weights;    ///< rows x dim in the table's dtype
  std::vector<float> element_state;  ///< words_per_element planes of rows x dim
  std::vector<float> row_state;      ///< words_per_row planes of rows
};

/// Copies a shard into (or out of) the image. Row-wise state is equal in all column shards of a
/// row, so that the last one written stands; with per_shard state the first column's stands.
void read_shard(const RunPlan& plan, const ShardMemory& shard, TableImage& image);
void write_shard(const RunPlan& plan, const ShardMemory& shard, const TableImage& image);

[[nodiscard]] TableImage empty_image(const Table& table);

/// First values of a shard; its state is zero already.
void fill_shard(const RunPlan& plan, const ShardMemory& shard, InitialWeights kind);

/// Weights of an image in fp32.
[[nodiscard]] std::vector<float> weights_of(const Table& table, const TableImage& image);

}  // namespace shardscope::engine
