#pragma once
// The runs of a session.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "profiler/span.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Message of a run whose job went on under another layout, as the next run of the session.
inline constexpr const char* kMovedOn = "moved to another layout";

/// A run with what it recorded. Figures are NaN until it has ended.
struct RunRecord {
  std::int64_t id = 0;
  std::string label;
  std::string mode;  ///< measured | emulated | simulated
  std::string executor;
  std::string backend;
  std::string comm;
  std::string wire;
  std::string schedule;
  std::string seed;
  std::int64_t global_batch = 0;
  std::int64_t rows_cap = 0;
  std::int64_t ranks = 0;
  std::int64_t workload = 0;
  std::string workload_name;
  std::int64_t topology = 0;
  std::string topology_name;
  std::int64_t layout = 0;
  std::string layout_name;
  std::string environment_json;
  std::int64_t start_utc_ns = 0;
  std::int64_t duration_ns = 0;  ///< 0 while it runs
  bool ended = false;            ///< false: running, or its program died and nobody wrote since
  bool complete = false;
  std::string message;
  double samples_per_s = 0;
  double iteration_ms = 0;
  double critical_path_ms = 0;
  double tracing_overhead = 0;
  std::int64_t iterations = 0;  ///< warm-up excluded
  std::int64_t traced_iterations = 0;
  std::int64_t spans = 0;
  std::int64_t dropped = 0;  ///< records lost on the way to the session
};

/// All runs, oldest first.
[[nodiscard]] Result<std::vector<RunRecord>> list_runs(const Session& session);

/// One run; a usage error where there is none with that id.
[[nodiscard]] Result<RunRecord> find_run(const Session& session, std::int64_t run);

/// Iterations of a run in order, warm-up included.
[[nodiscard]] Result<std::vector<Iteration>> iterations_of(const Session& session,
                                                           std::int64_t run);

}  // namespace shardscope::storage
