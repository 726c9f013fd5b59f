#include "planner/memory_model.hpp"

#include <algorithm>

#include "layout/dense_sizes.hpp"

namespace shardscope {

namespace {

std::size_t slot(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

constexpr double kBoth = 2;  ///< two batches in flight, or training and evaluation

}  // namespace

/// A table's amounts a sample, as the executors' rules count them.
struct MemoryModel::TableSize {
  double rows = 0, dim = 0, element = 4, state_element = 0, state_row = 0;
  double bags = 0;    ///< id lists
  double pooled = 0;  ///< pooled vectors
  double ids = 0;     ///< HugeCTR counts the longest bags, the others the mean
  double mean_ids = 0;
  double unpooled_ids = 0;
  double weighted_ids = 0;
  double filled = 0;  ///< TorchRec: vectors of bags that are expected to hold an id
};

MemoryModel::~MemoryModel() = default;

MemoryModel::MemoryModel(const Workload& workload, const Topology& topology, Executor executor)
    : topology_(topology), executor_(executor), engine_(workload, topology) {
  batch_ = static_cast<double>(workload.global_batch);
  rank_batch_ = batch_ / topology.ranks();
  wire_ = static_cast<double>(bytes_of(workload.wire));
  key_ = executor == Executor::torchrec ? 8 : static_cast<double>(bytes_of(workload.key));
  for (const Table& table : workload.tables) {
    TableSize& one = tables_.emplace_back();
    one.rows = static_cast<double>(table.rows);
    one.dim = table.dim;
    one.element = static_cast<double>(bytes_of(table.dtype));
    one.state_element = 4.0 * table.optimizer.words_per_element;
    one.state_row = 4.0 * table.optimizer.words_per_row;
  }
  double outputs = 0;  // bytes a sample
  for (const Feature& feature : workload.features) {
    TableSize& one = tables_[slot(feature.table)];
    const double mean = feature.num_poolings * feature.hotness.mean();
    const double longest = feature.num_poolings * static_cast<double>(feature.hotness.maximum);
    one.bags += feature.num_poolings;
    one.mean_ids += mean;
    one.ids += executor == Executor::hugectr ? longest : mean;
    if (feature.weighted) one.weighted_ids += mean;
    const bool pooled = is_pooled(feature.pooling);
    if (pooled) {
      one.pooled += feature.num_poolings;
      one.filled += std::min(1.0, feature.hotness.mean()) * feature.num_poolings;
    } else {
      one.unpooled_ids += mean;
    }
    const double vectors =
        pooled ? feature.num_poolings : (executor == Executor::hugectr ? longest : mean);
    outputs += vectors * one.dim * (executor == Executor::hugectr ? wire_ : 4.0) * 2;
  }
  common_ = static_cast<double>(topology.reserve_bytes);
  const auto samples =
      static_cast<std::int64_t>(workload.global_batch + topology.ranks() - 1) / topology.ranks();
  const DenseSizes dense = dense_sizes(workload, samples);
  const auto parameters = static_cast<double>(dense.parameters);
  switch (executor) {
    case Executor::engine:
      common_ += engine_.common();
      break;
    case Executor::hugectr:
      common_ += rank_batch_ * outputs + parameters * (4 + (wire_ < 4 ? 2 * wire_ : 4)) +
                 static_cast<double>(dense.state_bytes) +
                 static_cast<double>(dense.activation_bytes) / 4 * wire_ * 2 * kBoth;
      break;
    case Executor::torchrec: {
      double input = 0;
      for (const TableSize& table : tables_) input += (table.mean_ids + table.weighted_ids) * 8;
      common_ += 20 * input * rank_batch_ + parameters * 4 * 6;
      break;
    }
  }
}

double MemoryModel::resident_bytes(const TableSize& table, double rows, double width) const {
  return rows * (width * (table.element + table.state_element) + table.state_row);
}

double MemoryModel::shard_bytes(std::size_t table_index, ClusterType cluster, double row_share,
                                double width) const {
  const TableSize& table = tables_[table_index];
  const double rows = table.rows * row_share;
  const double resident = resident_bytes(table, rows, width);
  const bool reduced = cluster == ClusterType::RB;
  switch (executor_) {
    case Executor::hugectr: {
      // Static buffers assume that every id may fall into every row shard.
      const double ids = batch_ * table.ids, bags = batch_ * table.bags;
      const double vectors = reduced ? batch_ * table.bags : ids;
      return resident + vectors * width * wire_ * kBoth + ids * (kBoth * key_ + 8 + key_ + 20) +
             bags * key_ * kBoth + ids * (width * wire_ + key_ + 8);
    }
    case Executor::torchrec: {
      const double ids = batch_ * table.mean_ids * row_share;
      const double inputs = batch_ * (table.mean_ids + table.weighted_ids) * 8 * row_share;
      const double vectors = batch_ * (table.filled + row_share * table.unpooled_ids);
      const double index = table.unpooled_ids > 0 ? rows * 4 : 0;
      return resident + kBoth * inputs + vectors * width * table.element + 40 * ids + index;
    }
    case Executor::engine:
      return engine_.shard(table_index, cluster, row_share, width);
  }
  return resident;
}

double MemoryModel::replicated_bytes(std::size_t table_index) const {
  const TableSize& table = tables_[table_index];
  const double resident = resident_bytes(table, table.rows, table.dim);
  switch (executor_) {
    case Executor::hugectr: {
      const double ids = rank_batch_ * table.ids;
      return resident + ids * (kBoth * key_ + 8 + key_ + 20) +
             rank_batch_ * table.bags * key_ * kBoth + table.rows * (table.dim * wire_ + key_ + 8);
    }
    case Executor::torchrec: {
      const double ids = rank_batch_ * table.mean_ids;
      const double vectors = rank_batch_ * (table.filled + table.unpooled_ids);
      return resident + kBoth * (ids + rank_batch_ * table.weighted_ids) * 8 +
             vectors * table.dim * table.element + 40 * ids +
             table.rows * table.dim * table.element;
    }
    case Executor::engine:
      return engine_.replicated(table_index);
  }
  return resident;
}

double MemoryModel::consumer_bytes(const TableSize& table, ClusterType cluster, double row_shards,
                                   double column_shards) const {
  if (executor_ == Executor::torchrec) return 0;
  const bool reduced = cluster == ClusterType::RB;
  const double ids = rank_batch_ * table.ids;
  const double vectors = reduced ? rank_batch_ * table.bags * row_shards : ids;
  return ids * column_shards * key_ * kBoth + vectors * table.dim * wire_ * kBoth +
         (reduced ? 0 : ids * 8 * kBoth);
}

TableMemory MemoryModel::of(std::size_t table_index, const TablePlacement& placement,
                            Exchange exchange, bool dedup) const {
  if (executor_ == Executor::engine) return engine_.of(table_index, placement, exchange, dedup);
  const TableSize& table = tables_[table_index];
  TableMemory memory;
  if (placement.cluster == ClusterType::DP) {
    memory.everywhere = replicated_bytes(table_index);
    return memory;
  }
  memory.everywhere =
      consumer_bytes(table, placement.cluster, placement.row_shards, placement.column_shards());
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    const double share = row_share(placement, j, table.rows);
    for (std::int32_t k = 0; k < placement.column_shards(); ++k)
      memory.ranks.emplace_back(placement.owner(j, k), shard_bytes(table_index, placement.cluster,
                                                                   share, placement.width(k)));
  }
  if (placement.cluster != ClusterType::RB || exchange == Exchange::flat ||
      executor_ == Executor::torchrec)
    return memory;
  // What a domain's owners hand to each of its rails, and the sums it hands on.
  const double rail_samples = rank_batch_ * topology_.domains();
  std::vector<double> present(slot(topology_.domains()));
  for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
    std::fill(present.begin(), present.end(), 0.0);
    for (std::int32_t j = 0; j < placement.row_shards; ++j)
      present[slot(topology_.domain_of(placement.owner(j, k)))] += 1;
    for (std::int32_t d = 0; d < topology_.domains(); ++d)
      if (present[slot(d)] > 0)
        memory.domains.emplace_back(d, rail_samples * table.pooled * placement.width(k) *
                                           (present[slot(d)] + 1) * wire_ * kBoth);
  }
  return memory;
}

MemoryLoads MemoryModel::empty() const {
  MemoryLoads loads;
  loads.common = common_;
  loads.rank.assign(slot(topology_.ranks()), 0.0);
  loads.domain.assign(slot(topology_.domains()), 0.0);
  if (executor_ == Executor::engine) loads.rank_staging.resize(loads.rank.size());
  return loads;
}

void MemoryModel::add(MemoryLoads& loads, std::size_t table, const TablePlacement& placement,
                      Exchange exchange, bool dedup, double sign) const {
  const TableMemory memory = of(table, placement, exchange, dedup);
  loads.common += sign * memory.everywhere;
  for (const auto& [rank, bytes] : memory.ranks) loads.rank[slot(rank)] += sign * bytes;
  for (const auto& [domain, bytes] : memory.domains) loads.domain[slot(domain)] += sign * bytes;
  for (const StagingNeed& need : memory.staging) {
    LargestOf& sizes =
        (need.rank < 0 ? loads.common_staging : loads.rank_staging[slot(need.rank)])[need.buffer];
    if (sign > 0) {
      sizes.add(need.bytes);
    } else {
      sizes.remove(need.bytes);
    }
  }
}

MemoryLoads MemoryModel::of(const Layout& layout) const {
  MemoryLoads loads = empty();
  const bool dedup = layout.options(ClusterType::UB).dedup;
  for (std::size_t t = 0; t < layout.tables.size(); ++t)
    add(loads, t, layout.tables[t], layout.exchange_of(t), dedup, 1);
  return loads;
}

double MemoryModel::bytes(const MemoryLoads& loads, std::int32_t rank) const {
  double bytes =
      loads.common + loads.domain[slot(topology_.domain_of(rank))] + loads.rank[slot(rank)];
  if (loads.rank_staging.empty()) return bytes;
  const StagingSizes& own = loads.rank_staging[slot(rank)];
  for (std::size_t s = 0; s < kStagingBuffers; ++s)
    bytes += std::max(loads.common_staging[s].most(), own[s].most());
  return bytes;
}

double MemoryModel::most(const MemoryLoads& loads) const {
  double most = 0;
  for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank)
    most = std::max(most, bytes(loads, rank));
  return most;
}

double MemoryModel::capacity() const {
  return topology_.gpu.memory_bytes.value;
}

}  // namespace shardscope
