// The timed path allocates nothing: global operator new counts what this thread asks for.
// Sanitizers bring their own allocator, so the counter stands in plain builds only.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "profiler/recorder.hpp"
#include "tests/profiler/recording_sink.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local std::int64_t allocations_of_this_thread = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations_of_this_thread;
  if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace shardscope {
namespace {

TEST(TimedPath, RecordingAllocatesNothingEvenWhenTheRingIsFull) {
  test::RecordingSink sink;
  Recorder recorder(sink, 1, {.spans_per_stream = 64});
  const std::int64_t before = allocations_of_this_thread;
  for (std::int64_t i = 0; i < 10000; ++i) {
    recorder.record(Span{.start_ns = i, .end_ns = i + 1});
    recorder.record(Iteration{.index = static_cast<std::int32_t>(i)});
  }
  EXPECT_EQ(allocations_of_this_thread, before);
}

}  // namespace
}  // namespace shardscope

#endif
