#pragma once
// What the engine refuses before it allocates anything.

#include "engine/engine.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

/// The layout breaks no rule of the engine, and a batch of the workload fits the memory.
[[nodiscard]] Status admit(const EngineConfig& config, const Layout& layout);

/// Every rank's buffers fit the topology's GPU, and all together the memory of this machine, of
/// which `reclaimed` bytes will have been given back by then.
[[nodiscard]] Status admit_memory(const RunPlan& plan, std::int64_t reclaimed);

}  // namespace shardscope::engine
