#pragma once
// What a file is, by its content.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::storage {

enum class ImportKind : std::uint8_t {
  torchrec,        ///< ShardingPlan: JSON or printed
  torchrec_stats,  ///< the planner's printed report, or its table section as CSV
  hugectr,         ///< plans: JSON, 3.x files, scripts, logs
  kineto,          ///< PyTorch profiler traces
  nsys,            ///< Nsight Systems' SQLite export
  tbe,             ///< FBGEMM's table-batched-embedding configurations
  mlperf,          ///< HugeCTR training logs with MLPerf's lines
  nccl_tests,      ///< all-to-all bandwidth by size
};

/// "torchrec", "torchrec-stats", ... as written after --from.
[[nodiscard]] const char* to_string(ImportKind value);
[[nodiscard]] std::optional<ImportKind> parse_import_kind(std::string_view name);
/// "torchrec | torchrec-stats | ...", for messages.
[[nodiscard]] std::string import_kinds();

/// The kind that the first bytes of a file (unpacked) tell; nothing where they tell none.
[[nodiscard]] std::optional<ImportKind> recognise_text(std::string_view head);

/// The kind of a file or of a directory of traces. A usage error where it is none.
[[nodiscard]] Result<ImportKind> recognise(const std::string& path);

/// Nsight Systems' exports in a directory (*.sqlite), by name.
[[nodiscard]] std::vector<std::string> nsys_files(const std::string& directory);

/// True for any SQLite file: a session of ours or an Nsight Systems export.
[[nodiscard]] bool is_sqlite(std::string_view head);

/// True where the file is a session of ours.
[[nodiscard]] bool is_session_file(const std::string& path);

}  // namespace shardscope::storage
