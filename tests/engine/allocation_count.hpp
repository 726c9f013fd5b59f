#pragma once
// Counts what the test program allocates with new.

#include <cstdint>

namespace shardscope::engine {

/// Allocations by any thread of the program since its construction. Counts through the operators
/// new of allocation_count.cpp.
class AllocationCount {
 public:
  AllocationCount();
  [[nodiscard]] std::int64_t allocations() const;

 private:
  std::int64_t before_;
};

}  // namespace shardscope::engine
