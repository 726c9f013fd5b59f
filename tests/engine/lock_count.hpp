#pragma once
// Counts the mutexes that the test program locks.

#include <cstdint>

namespace shardscope::engine {

/// False under a sanitizer, which watches mutexes itself.
[[nodiscard]] bool locks_are_counted();

/// pthread_mutex_lock() by any thread of the program since its construction; 0 where locks are not
/// counted.
class LockCount {
 public:
  LockCount();
  [[nodiscard]] std::int64_t locks() const;

 private:
  std::int64_t before_;
};

}  // namespace shardscope::engine
