#include "engine/batches/stats_collector.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace shardscope::engine {
namespace {

/// Shard counts 2, 4, ... up to this one are looked at.
constexpr std::size_t kMostModuloShards = 1024;

/// Smallest length that at least `share` of the bags do not exceed.
double length_quantile(const std::vector<std::int64_t>& bags_of_length, double share) {
  const auto bags = static_cast<double>(
      std::accumulate(bags_of_length.begin(), bags_of_length.end(), std::int64_t{0}));
  double seen = 0;
  for (std::size_t length = 0; length < bags_of_length.size(); ++length) {
    seen += static_cast<double>(bags_of_length[length]);
    if (seen >= share * bags) return static_cast<double>(length);
  }
  return 0;
}

std::vector<MassPoint> top_mass_of(const RowCounts& reads, std::int64_t keys) {
  std::vector<std::int64_t> counts;
  counts.reserve(static_cast<std::size_t>(reads.size()));
  reads.for_each([&](std::int64_t, std::int64_t count) { counts.push_back(count); });
  std::sort(counts.begin(), counts.end(), std::greater<>());
  std::vector<MassPoint> points;
  std::int64_t sum = 0;
  std::size_t next = 1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum += counts[i];
    if (i + 1 == next || i + 1 == counts.size()) {
      points.push_back(
          {static_cast<double>(i + 1), static_cast<double>(sum) / static_cast<double>(keys)});
      if (i + 1 == next) next *= 10;
    }
  }
  return points;
}

std::vector<double> modulo_shares_of(const RowCounts& reads, std::int64_t keys) {
  std::vector<std::int64_t> by_residue(kMostModuloShards);
  reads.for_each([&](std::int64_t row, std::int64_t count) {
    by_residue[static_cast<std::size_t>(row) % kMostModuloShards] += count;
  });
  // Residues of half as many shards are pairs of residues of these.
  std::vector<double> shares;
  for (std::size_t shards = kMostModuloShards; shards >= 2; shards /= 2) {
    const auto largest =
        *std::max_element(by_residue.begin(), by_residue.begin() + static_cast<long>(shards));
    shares.push_back(keys > 0 ? static_cast<double>(largest) / static_cast<double>(keys) : 0.0);
    for (std::size_t i = 0; i < shards / 2; ++i) by_residue[i] += by_residue[i + shards / 2];
  }
  std::reverse(shares.begin(), shares.end());
  return shares;
}

std::int64_t keys_of(const RankBatch& part, const std::vector<std::int32_t>& features) {
  std::int64_t keys = 0;
  for (const std::int32_t feature : features) {
    keys += part.features[static_cast<std::size_t>(feature)].ids.size();
  }
  return keys;
}

}  // namespace

TableStatsCollector::TableStatsCollector(const Workload& workload, std::int32_t table,
                                         std::vector<std::int32_t> features)
    : table_(workload.tables[static_cast<std::size_t>(table)]),
      features_(std::move(features)),
      reads_(table_.rows) {}

void TableStatsCollector::count_lengths(const RankBatch& part) {
  for (const std::int32_t feature : features_) {
    for (const std::int32_t length : part.features[static_cast<std::size_t>(feature)].lengths) {
      const auto at = static_cast<std::size_t>(length);
      if (at >= bags_of_length_.size()) bags_of_length_.resize(at + 1);
      ++bags_of_length_[at];
    }
  }
}

void TableStatsCollector::add_point(std::size_t point, std::int64_t keys, std::int64_t unique) {
  if (point >= unique_sums_.size()) unique_sums_.resize(point + 1);
  unique_sums_[point].keys += static_cast<double>(keys);
  unique_sums_[point].unique += static_cast<double>(unique);
}

void TableStatsCollector::add(const std::vector<RankBatch>& parts) {
  const std::int64_t rank_keys = keys_of(parts.front(), features_);
  RowSet of_rank(table_.rows, rank_keys);
  RowSet of_batch(table_.rows, rank_keys * static_cast<std::int64_t>(parts.size()));
  const auto prefetch = [&](std::int64_t row) {
    of_rank.prefetch(row);
    of_batch.prefetch(row);
    reads_.prefetch(row);
  };
  std::int64_t keys = 0;
  std::int64_t rank_unique = 0;
  std::size_t point = 1;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    samples_ += parts[rank].samples;
    count_lengths(parts[rank]);
    of_rank.clear();
    for (const std::int32_t feature : features_) {
      const Ids& ids = parts[rank].features[static_cast<std::size_t>(feature)].ids;
      keys += ids.size();
      for_each_id(ids, 0, ids.size(), prefetch, [&](std::int64_t row) {
        reads_.add(row);
        if (of_rank.insert(row)) of_batch.insert(row);
      });
    }
    rank_unique += of_rank.size();
    const std::size_t ranks = rank + 1;
    if (ranks > 1 && ((ranks & rank) == 0 || ranks == parts.size())) {
      add_point(point++, keys, of_batch.size());
    }
  }
  // A rank's share is the mean over all ranks, the larger shares start with rank 0's samples.
  const auto ranks = static_cast<double>(parts.size());
  if (unique_sums_.empty()) unique_sums_.resize(1);
  unique_sums_[0].keys += static_cast<double>(keys) / ranks;
  unique_sums_[0].unique += static_cast<double>(rank_unique) / ranks;
  ++batches_;
}

TableStats TableStatsCollector::finish() const {
  TableStats stats;
  stats.table = table_.name;
  stats.samples = samples_;
  std::int64_t bags = 0;
  for (std::size_t length = 0; length < bags_of_length_.size(); ++length) {
    bags += bags_of_length_[length];
    stats.keys += static_cast<std::int64_t>(length) * bags_of_length_[length];
  }
  if (bags > 0) {
    stats.mean_bag_length = static_cast<double>(stats.keys) / static_cast<double>(bags);
    stats.p50_bag_length = length_quantile(bags_of_length_, 0.5);
    stats.p99_bag_length = length_quantile(bags_of_length_, 0.99);
    stats.max_bag_length = static_cast<double>(bags_of_length_.size() - 1);
    stats.empty_bag_share = static_cast<double>(bags_of_length_[0]) / static_cast<double>(bags);
  }
  for (const UniquePoint& sum : unique_sums_) {
    const auto batches = static_cast<double>(batches_);
    if (sum.keys > 0) stats.unique.push_back({sum.keys / batches, sum.unique / batches});
  }
  stats.top_mass = top_mass_of(reads_, stats.keys);
  stats.working_set_rows = reads_.size();
  stats.untouched_rows = table_.rows - reads_.size();
  stats.modulo_max_share = modulo_shares_of(reads_, stats.keys);
  return stats;
}

}  // namespace shardscope::engine
