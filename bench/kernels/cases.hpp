#pragma once
// The cases by kernel.

#include <cstdint>
#include <vector>

#include "layout/workload.hpp"

namespace shardscope::engine {

/// Types of rows and wires, as arguments of cases.
[[nodiscard]] inline std::vector<std::int64_t> row_types() {
  return {static_cast<std::int64_t>(DType::fp32), static_cast<std::int64_t>(DType::fp16),
          static_cast<std::int64_t>(DType::bf16)};
}

void add_pool_cases();
void add_backward_cases();
void add_update_cases();

}  // namespace shardscope::engine
