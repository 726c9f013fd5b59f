#pragma once
// What codecs did in a run.

#include <cstdint>
#include <vector>

#include "layout/result.hpp"
#include "profiler/codec_work.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Sums over the traced iterations by stage, cluster and codec, ordered by them; empty where
/// nothing was coded.
[[nodiscard]] Result<std::vector<CodecTotals>> run_codecs(const Session& session, std::int64_t run);

}  // namespace shardscope::storage
