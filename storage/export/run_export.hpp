#pragma once
// A run for other programs: Chrome JSON (Perfetto, Holistic Trace Analysis) and CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Writes traces in Kineto's form: rank in distributedInfo, categories, args, ProfilerStep#N. A
/// directory (existing, or a path that ends with '/') gets rank-N.json for every rank, as Holistic
/// Trace Analysis reads them; any other path one file with all ranks, one process each, for
/// Perfetto. GPU activity where the run has it, else the spans of its stages. The files' paths.
[[nodiscard]] Result<std::vector<std::string>> export_perfetto(const Session& session,
                                                               std::int64_t run,
                                                               const std::string& path);

/// One line a span: rank, stream, iteration, stage, work, start_us, duration_us, waiting, busy_us,
/// intra_bytes, inter_bytes, rows, mode.
[[nodiscard]] Status export_csv(const Session& session, std::int64_t run, const std::string& path);

}  // namespace shardscope::storage
