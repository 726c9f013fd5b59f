#include "tests/engine/lock_count.hpp"

#include <atomic>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARDSCOPE_COUNTS_LOCKS 0
#else
#define SHARDSCOPE_COUNTS_LOCKS 1
#include <dlfcn.h>
#include <pthread.h>
#endif

namespace {

std::atomic<std::int64_t> locks_taken{0};

}  // namespace

#if SHARDSCOPE_COUNTS_LOCKS
// Stands in front of the C library's for everything this program calls.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks_taken.fetch_add(1, std::memory_order_relaxed);
  return next(mutex);
}
#endif

namespace shardscope::engine {

bool locks_are_counted() {
  return SHARDSCOPE_COUNTS_LOCKS != 0;
}

LockCount::LockCount() : before_(locks_taken.load()) {}

std::int64_t LockCount::locks() const {
  return locks_taken.load() - before_;
}

}  // namespace shardscope::engine
