#pragma once
// Statistics of id streams and calibrations of machines.

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

/// By table name.
[[nodiscard]] Result<std::vector<TableStats>> load_table_stats(const Session& session,
                                                               std::int64_t workload,
                                                               const std::string& source);

/// Sources that a workload has statistics of.
[[nodiscard]] Result<std::vector<std::string>> table_stats_sources(const Session& session,
                                                                   std::int64_t workload);

/// Constants of one machine, as text in the format of whoever fitted them.
struct CalibrationRecord {
  std::int64_t id = 0;  ///< given by save_calibration
  std::string name;
  std::string backend;  ///< cpu | cuda
  std::string environment_json;
  std::string json;
  std::int64_t created_utc_ns = 0;  ///< given by save_calibration
};

[[nodiscard]] Result<std::int64_t> save_calibration(const Session& session,
                                                    const CalibrationRecord& calibration);
/// Oldest first.
[[nodiscard]] Result<std::vector<CalibrationRecord>> list_calibrations(const Session& session);

}  // namespace shardscope::storage
