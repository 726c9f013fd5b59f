#pragma once
// The row of a run and the documents it refers to.

#include <cstdint>
#include <string>

#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "storage/session_state.hpp"

namespace shardscope::storage {

/// Id of the document in `table` (workloads | topologies) with exactly this text; stored if new.
/// The caller holds the mutex and a transaction.
[[nodiscard]] Result<std::int64_t> intern_document(Database& database, const char* table,
                                                   const std::string& json);

/// As above for layouts, which are equal only with the same workload. A new layout's parent is the
/// latest one of that workload with the name its JSON gives. `topology` 0: none.
[[nodiscard]] Result<std::int64_t> intern_layout(Database& database, const std::string& json,
                                                 std::int64_t workload, std::int64_t topology);

/// Writes the run and its documents in one transaction and returns the run's id.
[[nodiscard]] Result<std::int64_t> insert_run(SessionState& state, const RunInfo& info);

}  // namespace shardscope::storage
