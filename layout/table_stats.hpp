#pragma once
// What a stream of ids looks like per feature and table: measured by engine/batches, used by the
// cost model. Plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope {

/// Expected distinct rows among `keys` keys.
struct UniquePoint {
  double keys = 0;
  double unique = 0;

  friend bool operator==(const UniquePoint&, const UniquePoint&) = default;
};

/// Share of all keys that read the `rows` most popular rows.
struct MassPoint {
  double rows = 0;
  double share = 0;

  friend bool operator==(const MassPoint&, const MassPoint&) = default;
};

/// Statistics of one table over all features that read it.
struct TableStats {
  std::string table;
  std::int64_t samples = 0;         ///< samples looked at
  std::int64_t keys = 0;            ///< ids looked at
  double mean_bag_length = 0;       ///< ids a bag
  double p50_bag_length = 0;
  double p99_bag_length = 0;
  double max_bag_length = 0;
  double empty_bag_share = 0;       ///< 0..1
  std::vector<UniquePoint> unique;  ///< ascending keys: from a rank's share to the whole batch
  std::vector<MassPoint> top_mass;  ///< ascending rows: 1, 10, 100, ...
  std::int64_t working_set_rows = 0;  ///< distinct rows over everything looked at
  std::int64_t untouched_rows = 0;    ///< table rows never read
  std::int64_t out_of_range = 0;      ///< ids that were >= rows or negative before the policy
  /// Largest share of keys in one modulo row shard, for 2, 4, 8, ... shards (1/r if even).
  std::vector<double> modulo_max_share;

  /// Distinct rows among `key_count` keys: interpolated on the curve (log-log), never above
  /// key_count nor the table's rows seen.
  [[nodiscard]] double unique_among(double key_count) const;

  friend bool operator==(const TableStats&, const TableStats&) = default;
};

}  // namespace shardscope
