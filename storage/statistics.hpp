#pragma once
// Statistics of id streams.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "layout/table_stats.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Statistics of a workload's tables on the stream that `source` names; earlier ones of the same
/// workload, table and source are replaced.
[[nodiscard]] Status save_table_stats(const Session& session, std::int64_t workload,
                                      const std::string& source, std::span<const TableStats> stats);

/// Statistics of one workload's tables on one stream.
struct StatisticsRecord {
  std::string workload;  ///< its name
  std::string source;
  std::vector<TableStats> tables;  ///< by name
};

/// All that the session holds, by workload, oldest first, then source.
[[nodiscard]] Result<std::vector<StatisticsRecord>> list_table_stats(const Session& session);

}  // namespace shardscope::storage
