#pragma once
// Values a person writes after an option, with units.

#include <string>

#include "engine/cuda/dense_precision.hpp"
#include "engine/engine.hpp"
#include "layout/executor.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"

namespace shardscope::app {

/// "1%" or "0.01": a share above 0, below 1.
[[nodiscard]] Result<double> parse_share(const std::string& text, const std::string& option);

/// "60s", "2min", "500ms", "1h" or plain seconds; above 0.
[[nodiscard]] Result<double> parse_seconds(const std::string& text, const std::string& option);

/// A whole number from 0 to 2^64 - 1.
[[nodiscard]] Result<std::uint64_t> parse_seed(const std::string& text);

/// "10" (both link classes) or "10,2" (intra, inter), in GB/s (1e9 bytes); above 0. Empty: none.
[[nodiscard]] Result<engine::WireThrottle> parse_wire(const std::string& text);

[[nodiscard]] Result<ScheduleKind> parse_schedule(const std::string& text);
[[nodiscard]] Result<Executor> parse_executor(const std::string& text);
[[nodiscard]] Result<engine::DecayKind> parse_decay(const std::string& text);
[[nodiscard]] Result<engine::RangePolicy> parse_range_policy(const std::string& text);

[[nodiscard]] Result<engine::cuda::DensePrecision> parse_dense_math(const std::string& text);

/// threads or loopback of the cpu, loopback or nccl of GPUs. The others are told why.
[[nodiscard]] Result<engine::CommKind> parse_comm(const std::string& backend,
                                                  const std::string& comm);

}  // namespace shardscope::app
