#pragma once
// A block's times from what the ranks measured: as the clock went, or composed on a virtual clock.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "engine/pipeline/rank_runner.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "planner/simulate.hpp"
#include "profiler/recorder.hpp"

namespace shardscope::engine {

using RankRunners = std::vector<std::unique_ptr<RankRunner>>;

/// Iterations of the last block by the clock; `epoch_ns` is what their times count from.
[[nodiscard]] Block measured_block(const RunPlan& plan, const RankRunners& runners,
                                   const BlockRequest& request, std::int64_t epoch_ns);

/// loopback: iterations of the last block as the simulator composes them from the stages, which ran
/// one after another: kernels take the thread CPU time they took alone, exchanges what the
/// topology's links need for the bytes that were counted. They follow each other from `start_ns`
/// on; with a recorder their spans are recorded.
[[nodiscard]] Block emulated_block(const RunPlan& plan, const RankRunners& runners,
                                   const BlockRequest& request, std::int64_t start_ns,
                                   Recorder* recorder);

/// What codecs did in the last block, where it was traced; times of the clock.
[[nodiscard]] std::vector<CodecWork> codec_work_of(const RankRunners& runners);

/// Iteration `n` of the last block as the simulator prices it.
[[nodiscard]] SimulationInput simulation_of(const RunPlan& plan, const RankRunners& runners,
                                            std::size_t n);

}  // namespace shardscope::engine
