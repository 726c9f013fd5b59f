// Memory of TorchRec by its planner's storage estimator (meta-pytorch/torchrec 1.9.0a0,
// torchrec/distributed/planner/shard_estimators.py, read 2026-09) and FBGEMM's index scratch.

#include <algorithm>

#include "layout/dense_sizes.hpp"
#include "layout/memory_parts.hpp"

namespace shardscope {

namespace {

constexpr double kIndexBytes = 8;  // BIGINT_DTYPE
/// Pipeline TRAIN_SPARSE_DIST: the inputs of two batches in flight.
constexpr double kBatchesInFlight = 2;
/// Heuristical reservation: dense parameters with gradients, state and activations; 20 batches of
/// ids as they come from the reader.
constexpr std::int64_t kDenseMultiplier = 6;
constexpr double kKjtMultiplier = 20;
/// FBGEMM transpose_embedding_input, per id: linear index, sorted index and run of 8 bytes each;
/// info, sorted info, run length and cumulative run length of 4.
constexpr double kSortBytesPerId = 3 * 8 + 4 * 4;
/// EmbeddingCollection (unpooled): 4 bytes a row for the inverse of its deduplication.
constexpr std::int64_t kUnpooledBytesPerRow = 4;

/// Ids and output vectors a sample of a table's features.
struct TableTraffic {
  double input_bytes = 0;  ///< of ids; weighted features send a weight as large
  double ids = 0;
  double pooled_vectors = 0;
  double unpooled_vectors = 0;
};

TableTraffic traffic_of_table(const Workload& workload, std::size_t table,
                              const std::vector<std::vector<std::int32_t>>& readers) {
  TableTraffic traffic;
  for (const std::int32_t f : readers[table]) {
    const Feature& feature = workload.features[static_cast<std::size_t>(f)];
    const double ids = feature.hotness.mean() * feature.num_poolings;
    traffic.ids += ids;
    traffic.input_bytes += ids * kIndexBytes * (feature.weighted ? 2 : 1);
    if (is_pooled(feature.pooling)) {
      // O counts min(1, pooling) vectors a bag.
      traffic.pooled_vectors += std::min(1.0, feature.hotness.mean()) * feature.num_poolings;
    } else {
      traffic.unpooled_vectors += ids;
    }
  }
  return traffic;
}

/// A shard sees its share of the ids of the global batch and returns a vector a bag of all samples,
/// or a row an id. This is the estimator's rule of all types: I x W x 8 (whole table), I x 8 (one
/// of W row shards), I / G x W x 8 (one of G).
void add_shard_buffers(const Table& table, const TableTraffic& traffic, double samples,
                       double row_share, std::int64_t width, MemoryUse& use) {
  const double ids = traffic.ids * samples * row_share;
  const double input = traffic.input_bytes * samples * row_share;
  const double vectors = samples * (traffic.pooled_vectors + row_share * traffic.unpooled_vectors);
  const double output =
      vectors * static_cast<double>(width) * static_cast<double>(bytes_of(table.dtype));
  raise_by(use.indices, whole_bytes(kBatchesInFlight * input));
  raise_by(use.communication, whole_bytes(output));
  raise_by(use.sort, whole_bytes(kSortBytesPerId * ids));
}

void add_table(const Workload& workload, const Topology& topology, const Layout& layout,
               std::size_t t, const TableTraffic& traffic, MemoryAccount& account) {
  const Table& table = workload.tables[t];
  const TablePlacement& placement = layout.tables[t];
  const auto batch = static_cast<double>(workload.global_batch);
  if (placement.cluster == ClusterType::DP) {
    for (MemoryUse& use : account.gpus) {
      add_shard_buffers(table, traffic, batch / topology.ranks(), 1, table.dim, use);
      // DistributedDataParallel keeps a dense gradient of the table.
      raise_by(use.wgrad, weight_bytes(table, {table.rows, table.dim}));
    }
    return;
  }
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    const std::int64_t rows = placement.rows_in(j, table.rows);
    const double share =
        table.rows > 0 ? static_cast<double>(rows) / static_cast<double>(table.rows) : 0;
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      MemoryUse& use = account.gpus[static_cast<std::size_t>(placement.owner(j, k))];
      add_shard_buffers(table, traffic, batch, share, placement.width(k), use);
      if (traffic.unpooled_vectors > 0) {
        raise_by(use.indices, saturating_multiply(rows, kUnpooledBytesPerRow));
      }
    }
  }
}

}  // namespace

void add_torchrec_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                          MemoryAccount& account) {
  const auto readers = features_by_table(workload);
  double input_bytes = 0;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TableTraffic traffic = traffic_of_table(workload, t, readers);
    input_bytes += traffic.input_bytes;
    add_table(workload, topology, layout, t, traffic, account);
  }
  const double samples = static_cast<double>(workload.global_batch) / topology.ranks();
  const std::int64_t parameters = dense_sizes(workload, 0).parameters;
  for (MemoryUse& use : account.gpus) {
    raise_by(use.indices, whole_bytes(kKjtMultiplier * input_bytes * samples));
    raise_by(use.dense, product(parameters, kFp32Bytes, kDenseMultiplier));
  }
}

}  // namespace shardscope
