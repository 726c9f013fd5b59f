#include "planner/engine_memory.hpp"

#include <algorithm>

#include "layout/dense_sizes.hpp"
#include "layout/routes.hpp"
#include "layout/scratch_bytes.hpp"

namespace shardscope {

namespace {

constexpr double kInFlight = 2;      ///< results of input_dist: this batch's and the next one's
constexpr double kBothWays = 2;      ///< an exchange has a buffer in the forward and the backward
constexpr double kFloat = 4;         ///< fp32
constexpr double kUniqueEntry = 12;  ///< row number (8) and offset (4) of a distinct row
constexpr double kPosition = 4;      ///< gradient row of an occurrence

std::size_t place(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

/// Scratch and positions of sorting a list of this many occurrences.
double list_bytes(double occurrences) {
  return occurrences * (kPosition + static_cast<double>(sort_scratch_bytes(1, 1)));
}

/// (owner, columns' width) of a row shard, every owner once.
std::vector<std::pair<std::int32_t, double>> owners_of(const TablePlacement& placement,
                                                       std::int32_t row) {
  std::vector<std::pair<std::int32_t, double>> owners;
  for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
    const std::int32_t owner = placement.owner(row, k);
    const auto found = std::find_if(owners.begin(), owners.end(),
                                    [&](const auto& known) { return known.first == owner; });
    if (found == owners.end()) {
      owners.emplace_back(owner, placement.width(k));
    } else {
      found->second += placement.width(k);
    }
  }
  return owners;
}

}  // namespace

/// A table's amounts a sample.
struct EngineMemory::Sizes {
  double rows = 0, dim = 0;
  double row_bytes = 0;  ///< of an element: weight and state
  double state_row = 0;  ///< and of a row
  double ids = 0, weighted_ids = 0;
  double bags = 0;
  double pooled = 0;      ///< pooled vectors
  double longest = 0;     ///< pooled vectors of the feature with the most
  bool weighted = false;  ///< some feature has weights
  bool scaled = false;    ///< some has weights or takes the mean
  bool row_wise_state = false, shares_state = false;
};

/// One row shard of a global batch.
struct EngineMemory::RowShard {
  double share = 0;  ///< of the table's rows
  double rows = 0;
  double ids = 0;     ///< of the batch
  double unique = 0;  ///< at most, of the batch
  double asked = 0;   ///< rows that one rank asks for
};

EngineMemory::~EngineMemory() = default;

EngineMemory::EngineMemory(const Workload& workload, const Topology& topology)
    : workload_(workload), topology_(topology) {
  batch_ = static_cast<double>(workload.global_batch);
  const std::int64_t samples = samples_of_rank(workload.global_batch, 0, topology.ranks());
  rank_batch_ = static_cast<double>(samples);
  wire_ = static_cast<double>(bytes_of(workload.wire));
  key_ = static_cast<double>(bytes_of(workload.key));
  for (const Table& table : workload.tables) {
    Sizes& one = tables_.emplace_back();
    one.rows = static_cast<double>(table.rows);
    one.dim = table.dim;
    one.row_bytes =
        static_cast<double>(bytes_of(table.dtype)) + kFloat * table.optimizer.words_per_element;
    one.state_row = kFloat * table.optimizer.words_per_row;
    one.row_wise_state = table.optimizer.kind == OptimizerKind::rowwise_adagrad;
    one.shares_state = one.row_wise_state && !table.optimizer.per_shard;
  }
  common_ = static_cast<double>(dense_sizes(workload, samples).total());
  for (const Feature& feature : workload.features) {
    Sizes& one = tables_[place(feature.table)];
    const double ids = feature.num_poolings * feature.hotness.mean();
    one.bags += feature.num_poolings;
    one.ids += ids;
    if (feature.weighted) one.weighted_ids += ids;
    one.weighted |= feature.weighted;
    one.scaled |= feature.weighted || feature.pooling == Pooling::mean;
    const bool pooled = is_pooled(feature.pooling);
    if (pooled) {
      one.pooled += feature.num_poolings;
      one.longest = std::max(one.longest, static_cast<double>(feature.num_poolings));
    }
    if (feature.pooling == Pooling::mean) common_ += rank_batch_ * feature.num_poolings * kFloat;
    common_ += rank_batch_ * (pooled ? feature.num_poolings : ids) * one.dim * kFloat * kBothWays;
  }
}

double EngineMemory::replicated(std::size_t index) const {
  return replicated(tables_[index]);
}

double EngineMemory::replicated(const Sizes& table) const {
  const double ids = rank_batch_ * table.ids;
  return table.rows * (table.dim * table.row_bytes + table.state_row) +
         std::min(ids, table.rows) * kUniqueEntry + ids * kPosition * (table.scaled ? 2 : 1) +
         table.rows * 8 +                        // marks of touched rows
         table.rows * (table.dim + 1) * kFloat;  // what is all-reduced
}

EngineMemory::RowShard EngineMemory::row_shard(const Sizes& table, double share, bool dedup) const {
  RowShard rows;
  rows.share = share;
  rows.rows = table.rows * share;
  rows.ids = batch_ * table.ids * share;
  rows.unique = std::min(rows.ids, rows.rows);
  rows.asked = rank_batch_ * table.ids * share;
  if (dedup) rows.asked = std::min(rows.asked, rows.rows);
  return rows;
}

/// Of an owner of columns of a row shard, once however many they are.
double EngineMemory::received(const Sizes& table, ClusterType cluster, const RowShard& rows) const {
  if (cluster == ClusterType::UB) {
    const double asked = rows.asked * topology_.ranks();
    return kInFlight * asked * key_ + asked * kPosition + rows.unique * kUniqueEntry;
  }
  return kInFlight * (rows.ids * key_ + batch_ * table.weighted_ids * rows.share * kFloat +
                      batch_ * table.bags * kFloat) +
         rows.unique * kUniqueEntry + rows.ids * kPosition * (table.weighted ? 2 : 1);
}

/// Of the owner of one cell.
double EngineMemory::cell(const Sizes& table, ClusterType cluster, const RowShard& rows,
                          double width) const {
  double bytes = rows.rows * (width * table.row_bytes + table.state_row) +
                 rows.unique * (width + (table.row_wise_state ? 1 : 0)) * kFloat;
  if (cluster == ClusterType::UB) {
    const double asked = rows.asked * topology_.ranks();
    bytes += asked * 8 + kBothWays * asked * width * wire_;
  }
  return bytes;
}

/// RB: of an owner of cells of a column shard, once however many row shards they are.
double EngineMemory::column(const Sizes& table, double width) const {
  return batch_ * table.bags * 8 + kBothWays * batch_ * table.pooled * width * wire_;
}

double EngineMemory::shard(std::size_t index, ClusterType cluster, double row_share,
                           double width) const {
  const Sizes& table = tables_[index];
  const RowShard rows = row_shard(table, row_share, true);
  return received(table, cluster, rows) + cell(table, cluster, rows, width) +
         (cluster == ClusterType::RB ? column(table, width) : 0);
}

void EngineMemory::add_square_sums(const Sizes& table, std::size_t owners, double unique,
                                   double& bytes) const {
  if (table.shares_state && owners > 1)
    bytes += kBothWays * static_cast<double>(owners) * unique * kFloat;
}

void EngineMemory::add_replicated(const Sizes& table, TableMemory& memory) const {
  const double ids = rank_batch_ * table.ids;
  memory.everywhere = replicated(table);
  memory.staging.push_back({-1, kDpLists, ids * key_ + list_bytes(ids)});
  if (table.scaled) memory.staging.push_back({-1, kDpWeights, ids * kFloat});
  memory.staging.push_back({-1, kDpGradients, std::min(ids, table.rows) * table.dim * kFloat});
  if (table.row_wise_state) memory.staging.push_back({-1, kDpSquareSums, table.rows * kFloat});
}

void EngineMemory::add_reduced(const Sizes& table, const TablePlacement& placement,
                               Exchange exchange, TableMemory& memory) const {
  const double sent_id = key_ + (table.ids > 0 ? table.weighted_ids / table.ids * kFloat : 0);
  if (placement.row_shards > 1)  // ids in buckets by row shard
    memory.everywhere += rank_batch_ * (table.ids * key_ + table.weighted_ids * kFloat +
                                        table.bags * placement.row_shards * kFloat);
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    const double share = row_share(placement, j, table.rows);
    const RowShard rows = row_shard(table, share, true);
    const auto owners = owners_of(placement, j);
    for (const auto& [owner, width] : owners) {
      double bytes = received(table, ClusterType::RB, rows);
      add_square_sums(table, owners.size(), rows.unique, bytes);
      memory.ranks.emplace_back(owner, bytes);
      memory.staging.push_back({owner, kRbLists, rows.ids * key_ + list_bytes(rows.ids)});
      if (table.weighted) memory.staging.push_back({owner, kRbWeights, rows.ids * kFloat});
      memory.everywhere +=
          rank_batch_ * (table.bags * kFloat + table.ids * share * sent_id);  // sent
    }
    for (std::int32_t k = 0; k < placement.column_shards(); ++k)
      memory.ranks.emplace_back(placement.owner(j, k),
                                cell(table, ClusterType::RB, rows, placement.width(k)));
  }
  add_partials(table, placement, exchange, memory);
}

void EngineMemory::add_partials(const Sizes& table, const TablePlacement& placement,
                                Exchange exchange, TableMemory& memory) const {
  std::vector<std::int32_t> owners;
  for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
    owners.clear();
    for (std::int32_t j = 0; j < placement.row_shards; ++j) owners.push_back(placement.owner(j, k));
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    const double width = placement.width(k);
    const double sums = wire_ < kFloat ? rank_batch_ * table.longest * width * kFloat : 0;
    // A vector a bag of a rank's own samples, from every owner or every domain.
    const double vectors = kBothWays * rank_batch_ * table.pooled * width * wire_;
    for (const std::int32_t owner : owners) {
      memory.ranks.emplace_back(owner, column(table, width));
      if (exchange == Exchange::hierarchical) continue;
      memory.everywhere += vectors;
      memory.staging.push_back({owner, kRbPartials, sums});
    }
    if (exchange == Exchange::flat) continue;
    // Owners hand on to the rails of their domain, which hand one sum to every domain.
    for (std::size_t first = 0; first < owners.size();) {
      const std::int32_t domain = topology_.domain_of(owners[first]);
      std::size_t next = first;
      while (next < owners.size() && topology_.domain_of(owners[next]) == domain) ++next;
      const auto present = static_cast<double>(next - first);
      memory.domains.emplace_back(domain, vectors * topology_.domains() * (present + 1));
      memory.everywhere += vectors;
      for (std::int32_t p = 0; p < topology_.fast_domain; ++p)
        memory.staging.push_back({domain * topology_.fast_domain + p, kRbPartials, sums});
      first = next;
    }
  }
}

void EngineMemory::add_unique(const Sizes& table, const TablePlacement& placement, bool dedup,
                              TableMemory& memory) const {
  double asked = 0;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    const double share = row_share(placement, j, table.rows);
    const RowShard rows = row_shard(table, share, dedup);
    asked += rows.asked;
    const auto owners = owners_of(placement, j);
    memory.everywhere += rows.asked * key_ * static_cast<double>(owners.size());
    for (const auto& [owner, width] : owners) {
      double bytes = received(table, ClusterType::UB, rows);
      add_square_sums(table, owners.size(), rows.unique, bytes);
      memory.ranks.emplace_back(owner, bytes);
      const double all = rows.asked * topology_.ranks();
      memory.staging.push_back({owner, kUbIds, all * key_});
      memory.staging.push_back({owner, kUbLists, list_bytes(all)});
    }
    for (std::int32_t k = 0; k < placement.column_shards(); ++k)
      memory.ranks.emplace_back(placement.owner(j, k),
                                cell(table, ClusterType::UB, rows, placement.width(k)));
  }
  const double ids = rank_batch_ * table.ids;
  memory.everywhere += asked * (key_ + kUniqueEntry + table.dim * (kFloat + kBothWays * wire_)) +
                       ids * kPosition * (kInFlight + (table.scaled ? 2 : 1));
  memory.staging.push_back({-1, kUbLists, list_bytes(ids)});
  if (table.scaled) memory.staging.push_back({-1, kUbWeights, ids * kFloat});
  const auto count = static_cast<std::int64_t>(ids);
  memory.staging.push_back(
      {-1, kUbJoined, ids * key_ + static_cast<double>(dedup_table_bytes(count, workload_.key))});
  memory.staging.push_back({-1, kUbGradients, asked * table.dim * kFloat});
}

TableMemory EngineMemory::of(std::size_t index, const TablePlacement& placement, Exchange exchange,
                             bool dedup) const {
  TableMemory memory;
  const Sizes& table = tables_[index];
  switch (placement.cluster) {
    case ClusterType::DP:
      add_replicated(table, memory);
      break;
    case ClusterType::RB:
      add_reduced(table, placement, exchange, memory);
      break;
    case ClusterType::UB:
      add_unique(table, placement, dedup, memory);
      break;
  }
  return memory;
}

}  // namespace shardscope
