#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/batches/row_set.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

/// Counts of one table's features over all ranks.
class TableCounter {
 public:
  TableCounter(const Workload& workload, const Layout& layout, std::size_t table,
               std::int64_t rank_keys, std::int64_t batch_keys)
      : placement_(layout.tables[table]),
        one_shard_(placement_.cluster == ClusterType::DP || placement_.row_shards == 1),
        row_shards_(one_shard_ ? 1 : static_cast<std::size_t>(placement_.row_shards)),
        requests_(placement_.cluster == ClusterType::UB),
        dedup_(layout.options(ClusterType::UB).dedup),
        rank_rows_(workload.tables[table].rows, rank_keys),
        batch_rows_(workload.tables[table].rows, batch_keys) {}

  void count(const std::vector<std::int32_t>& features, std::size_t table,
             const std::vector<RankBatch>& parts, BatchCounts& counts) {
    counts.unique[table].assign(row_shards_, 0);
    if (requests_) counts.requests[table].assign(parts.size() * row_shards_, 0);
    for (const std::int32_t feature : features) {
      counts.ids[static_cast<std::size_t>(feature)].assign(parts.size() * row_shards_, 0);
    }
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      std::int64_t* requests =
          requests_ ? counts.requests[table].data() + rank * row_shards_ : nullptr;
      for (const std::int32_t feature : features) {
        const auto at = static_cast<std::size_t>(feature);
        count_feature(parts[rank].features[at].ids, counts.ids[at].data() + rank * row_shards_,
                      requests, counts.unique[table].data());
      }
      if (requests_ && dedup_) rank_rows_.clear();
    }
  }

 private:
  void count_feature(const Ids& ids, std::int64_t* per_shard, std::int64_t* requests,
                     std::int64_t* unique) {
    const auto prefetch = [&](std::int64_t row) {
      batch_rows_.prefetch(row);
      if (requests_ && dedup_) rank_rows_.prefetch(row);
    };
    for_each_id(ids, 0, ids.size(), prefetch, [&](std::int64_t row) {
      const auto shard =
          one_shard_ ? std::size_t{0} : static_cast<std::size_t>(placement_.row_shard_of(row));
      ++per_shard[shard];
      // A row new to the batch is new to its rank, so most repeats end at the first set.
      const bool fresh = requests_ && dedup_ ? rank_rows_.insert(row) : true;
      if (requests_ && fresh) ++requests[shard];
      if (fresh && batch_rows_.insert(row)) ++unique[shard];
    });
  }

  const TablePlacement& placement_;
  bool one_shard_;
  std::size_t row_shards_;
  bool requests_;
  bool dedup_;
  RowSet rank_rows_;
  RowSet batch_rows_;
};

}  // namespace

BatchCounts count_batch(const Workload& workload, const Layout& layout,
                        const std::vector<RankBatch>& parts) {
  SHARDSCOPE_CHECK(layout.tables.size() == workload.tables.size(), "a layout of this workload");
  BatchCounts counts;
  counts.ids.resize(workload.features.size());
  counts.requests.resize(workload.tables.size());
  counts.unique.resize(workload.tables.size());
  const auto readers = features_by_table(workload);
  for (std::size_t table = 0; table < workload.tables.size(); ++table) {
    std::int64_t keys = 0;
    for (const RankBatch& part : parts) {
      for (const std::int32_t feature : readers[table]) {
        keys += part.features[static_cast<std::size_t>(feature)].ids.size();
      }
    }
    const auto ranks = static_cast<std::int64_t>(parts.size());
    TableCounter counter(workload, layout, table, ranks > 0 ? keys / ranks : 0, keys);
    counter.count(readers[table], table, parts, counts);
  }
  return counts;
}

}  // namespace shardscope::engine
