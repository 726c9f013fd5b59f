#include "planner/table_facts.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

/// Share on a measured curve: log-linear in rows between points, proportional below the first.
double share_on_curve(const std::vector<MassPoint>& curve, double top) {
  if (top <= 0) return 0;
  if (top <= curve.front().rows) return curve.front().share * top / curve.front().rows;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const MassPoint& low = curve[i - 1];
    const MassPoint& high = curve[i];
    if (top > high.rows) continue;
    const double at = std::log(top / low.rows) / std::log(high.rows / low.rows);
    return low.share + at * (high.share - low.share);
  }
  return curve.back().share;
}

/// Distinct rows when features of different distributions read one table: they may overlap or not,
/// so their sum limited to the rows.
double unique_of_features(const Workload& workload, const std::vector<std::int32_t>& readers,
                          const Table& table, double samples) {
  double sum = 0;
  for (const std::int32_t f : readers) {
    const Feature& feature = workload.features[static_cast<std::size_t>(f)];
    const double keys = samples * feature.num_poolings * feature.hotness.mean();
    sum += IdLaw(table.rows, feature.ids).unique(keys);
  }
  return std::min(sum, static_cast<double>(table.rows));
}

bool same_distribution(const Workload& workload, const std::vector<std::int32_t>& readers) {
  return std::all_of(readers.begin(), readers.end(), [&](std::int32_t f) {
    return workload.features[static_cast<std::size_t>(f)].ids ==
           workload.features[static_cast<std::size_t>(readers.front())].ids;
  });
}

void add_feature(TableFacts& facts, const Feature& feature) {
  const double keys = feature.num_poolings * feature.hotness.mean();
  facts.keys += keys;
  facts.bags += feature.num_poolings;
  if (feature.weighted) facts.weighted_keys += keys;
  if (is_pooled(feature.pooling)) {
    facts.pooled += feature.num_poolings;
    facts.largest_pooled = std::max<double>(facts.largest_pooled, feature.num_poolings);
  } else {
    facts.unpooled += keys;
  }
}

}  // namespace

double TableFacts::unique(double key_count) const {
  if (!stats.unique.empty()) return std::min(stats.unique_among(key_count), rows);
  return law.unique(key_count);
}

double TableFacts::top_mass(double top) const {
  if (!stats.top_mass.empty()) return share_on_curve(stats.top_mass, top);
  return law.mass(top);
}

double TableFacts::modulo_share(std::int32_t shard, std::int32_t shards) const {
  const auto count = static_cast<double>(shards);
  if (by_popularity) return law.modulo_share(shard, shards);
  // Equal classes: rows of the first rows % shards classes are one more.
  const auto whole = std::floor(rows / count);
  const double own = whole + (shard < rows - whole * count ? 1 : 0);
  return rows > 0 ? own / rows : 1 / count;
}

double TableFacts::block_share(std::int64_t begin, std::int64_t end) const {
  if (by_popularity)
    return top_mass(static_cast<double>(end)) - top_mass(static_cast<double>(begin));
  return rows > 0 ? static_cast<double>(end - begin) / rows : 0;
}

double TableFacts::block_unique_share(std::int64_t begin, std::int64_t end) const {
  if (!by_popularity || batch_unique <= 0) {
    return rows > 0 ? static_cast<double>(end - begin) / rows : 0;
  }
  return law.unique_in(batch_keys, begin, end) / law.unique(batch_keys);
}

WorkloadFacts workload_facts(const Workload& workload, std::int32_t ranks,
                             const std::vector<TableStats>& stats) {
  WorkloadFacts facts;
  facts.ranks = ranks;
  facts.batch = static_cast<double>(workload.global_batch);
  facts.rank_batch = facts.batch / ranks;
  facts.wire_bytes = static_cast<double>(bytes_of(workload.wire));
  facts.key_bytes = static_cast<double>(bytes_of(workload.key));
  const std::vector<std::vector<std::int32_t>> readers = features_by_table(workload);
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const IdDistribution ids =
        readers[t].empty() ? IdDistribution{.kind = IdDistributionKind::uniform}
                           : workload.features[static_cast<std::size_t>(readers[t].front())].ids;
    TableFacts& one =
        facts.tables.emplace_back(TableFacts{.name = table.name, .law = IdLaw(table.rows, ids)});
    one.rows = static_cast<double>(table.rows);
    one.dim = table.dim;
    one.weight_bytes = static_cast<double>(bytes_of(table.dtype));
    one.state_element_bytes = 4.0 * table.optimizer.words_per_element;
    one.state_row_bytes = 4.0 * table.optimizer.words_per_row;
    one.row_wise_state =
        table.optimizer.kind == OptimizerKind::rowwise_adagrad && !table.optimizer.per_shard;
    for (const std::int32_t f : readers[t])
      add_feature(one, workload.features[static_cast<std::size_t>(f)]);
    one.by_popularity = ids.order == IdOrder::popularity && ids.kind != IdDistributionKind::uniform;
    const auto measured = std::find_if(stats.begin(), stats.end(),
                                       [&](const TableStats& s) { return s.table == table.name; });
    if (measured != stats.end()) one.stats = *measured;
    one.batch_keys = facts.batch * one.keys;
    one.rank_keys = facts.rank_batch * one.keys;
    if (one.stats.unique.empty() && !same_distribution(workload, readers[t])) {
      one.batch_unique = unique_of_features(workload, readers[t], table, facts.batch);
      one.rank_unique = unique_of_features(workload, readers[t], table, facts.rank_batch);
    } else {
      one.batch_unique = one.unique(one.batch_keys);
      one.rank_unique = one.unique(one.rank_keys);
    }
  }
  return facts;
}

}  // namespace shardscope
