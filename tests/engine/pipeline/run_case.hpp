#pragma once
// Runs a case on the engine and on the reference and compares everything the law speaks of.

#include <functional>
#include <optional>
#include <string>

#include "cases.hpp"
#include "engine/pipeline/faults.hpp"

namespace shardscope::engine {

/// What differs, or nothing: forward outputs, weights, bytes by rank, stage and link class, arena
/// use.
[[nodiscard]] std::optional<std::string> run_case(const PipelineCase& value,
                                                  Fault fault = Fault::none);

/// The smallest case that still fails, by dropping tables, features, samples, iterations and
/// shards one at a time.
[[nodiscard]] PipelineCase shrink_case(PipelineCase value,
                                       const std::function<bool(const PipelineCase&)>& fails);

/// Puts something between a rank and its communicators.
using CommunicatorWrapper = decltype(EngineConfig::wrap_communicator);

/// Makes an engine of the case.
[[nodiscard]] Result<std::unique_ptr<Engine>> engine_of(const PipelineCase& value,
                                                        Fault fault = Fault::none,
                                                        CommunicatorWrapper wrap = nullptr);

/// Compares the engine with the reference after `iterations` steps.
[[nodiscard]] std::optional<std::string> compare_with_reference(const PipelineCase& value,
                                                                const Engine& engine,
                                                                const Reference& reference,
                                                                std::int64_t iterations);

/// The reference before its first step.
[[nodiscard]] Reference reference_of(const PipelineCase& value);

/// Steps the reference through iterations [from, to).
void step_reference(const PipelineCase& value, Reference& reference, std::int64_t from,
                    std::int64_t to);

}  // namespace shardscope::engine
