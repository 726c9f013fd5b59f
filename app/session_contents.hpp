#pragma once
// What a session holds, read whole: for inspect, and for whoever asks an engine about its session.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "profiler/codec_work.hpp"
#include "profiler/stage_profile.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"
#include "storage/queries/runs.hpp"
#include "storage/session.hpp"
#include "storage/statistics.hpp"

namespace shardscope::app {

struct RunContents {
  storage::RunRecord record;
  StageProfile stages;
  std::vector<CodecTotals> codecs;
  std::vector<storage::CurvePoint> curve;
};

struct SessionContents {
  std::vector<RunContents> runs;
  std::vector<storage::ComparisonRecord> comparisons;
  std::vector<storage::StatisticsRecord> statistics;
};

/// `only_run` 0: all runs, the comparisons and the statistics.
[[nodiscard]] Result<SessionContents> read_contents(const storage::Session& session,
                                                    std::int64_t only_run);

/// "complete", "stopped", or "unfinished".
[[nodiscard]] std::string state_of(const storage::RunRecord& run);

/// The object that `inspect --json` prints.
[[nodiscard]] nlohmann::ordered_json contents_json(const std::string& path,
                                                   const SessionContents& contents);

}  // namespace shardscope::app
