#pragma once
// A CUPTI of the tests' own making: it is told what to do wrong, and hands over the records that a
// test gives it, or a call and a kernel for every piece of work it was told of.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "profiler/clock.hpp"
#include "tests/profiler/cupti_buffers.hpp"

namespace shardscope::cupti {

/// What the library was told and what it does. One at a time: its functions carry no pointer.
struct FakeCupti {
  std::uint32_t version = 130001;
  int enable_error = kSuccess;
  std::uint32_t failing_kind = 0;  ///< enable_error is for this kind
  std::set<std::uint32_t> enabled;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  std::atomic<std::size_t> dropped{0};
  std::vector<std::uint8_t> last;  ///< handed over at the forced flush

  /// A piece of work that began on some thread.
  struct Heard {
    std::uint64_t external_id = 0;
    std::uint64_t at_ns = 0;
  };
  int subscribe_error = kSuccess;
  ResourceCallback callback = nullptr;  ///< of the subscriber
  void* user = nullptr;
  std::set<std::uint32_t> callbacks;
  bool records_work = false;  ///< every piece of work launches a kernel
  std::mutex mutex;           ///< of `heard`
  std::vector<Heard> heard;
};

/// The one in use; null: none.
[[nodiscard]] inline FakeCupti*& fake_cupti() {
  static FakeCupti* fake = nullptr;
  return fake;
}

/// The calling thread's stack of external ids.
[[nodiscard]] inline std::vector<std::uint64_t>& correlation_stack() {
  thread_local std::vector<std::uint64_t> stack;
  return stack;
}

/// Fills a buffer of the collector and gives it back, from the calling thread.
inline void deliver(const std::vector<std::uint8_t>& bytes) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 1;
  fake_cupti()->requested(&buffer, &size, &most);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 8, 0U);
  EXPECT_EQ(most, 0U);
  ASSERT_LE(bytes.size(), size);
  std::memcpy(buffer, bytes.data(), bytes.size());
  fake_cupti()->completed(nullptr, 0, buffer, size, bytes.size());
}

/// Call, copy and kernel of everything heard so far.
inline void deliver_work() {
  FakeCupti& fake = *fake_cupti();
  std::vector<FakeCupti::Heard> heard;
  {
    const std::lock_guard lock(fake.mutex);
    heard.swap(fake.heard);
  }
  static std::uint32_t correlation = 0;
  for (std::size_t first = 0; first < heard.size(); first += 5000) {
    RecordBuffer buffer;
    for (std::size_t n = first; n < std::min(first + 5000, heard.size()); ++n) {
      ++correlation;
      CallRecord call;
      call.function = 211;
      call.start = heard[n].at_ns;
      call.end = heard[n].at_ns + 500;
      call.thread = 77;
      call.correlation = correlation;
      MemcpyRecord copy;
      copy.direction = 1;
      copy.source = 2;
      copy.destination = 3;
      copy.bytes = 4096;
      copy.start = heard[n].at_ns + 600;
      copy.end = heard[n].at_ns + 700;
      copy.correlation = correlation;
      buffer.add(correlation_of(correlation, heard[n].external_id)).add(call).add(copy);
      buffer.add(kernel_of(correlation, heard[n].at_ns + 800, heard[n].at_ns + 1800));
    }
    deliver(buffer.bytes());
  }
}

inline void fill_fake_correlation(CuptiApi& api) {
  api.push_correlation = [](std::uint32_t, std::uint64_t id) {
    correlation_stack().push_back(id);
    FakeCupti& fake = *fake_cupti();
    if (!fake.records_work) return kSuccess;
    const std::lock_guard lock(fake.mutex);
    fake.heard.push_back({id, static_cast<std::uint64_t>(steady_ns())});
    return kSuccess;
  };
  api.pop_correlation = [](std::uint32_t, std::uint64_t* id) {
    if (correlation_stack().empty()) return 1;
    *id = correlation_stack().back();
    correlation_stack().pop_back();
    return kSuccess;
  };
}

inline void fill_fake_graphs(CuptiApi& api) {
  api.subscribe = [](void** subscriber, ResourceCallback callback, void* user) {
    if (fake_cupti()->subscribe_error != kSuccess) return fake_cupti()->subscribe_error;
    fake_cupti()->callback = callback;
    fake_cupti()->user = user;
    *subscriber = fake_cupti();
    return kSuccess;
  };
  api.unsubscribe = [](void*) {
    fake_cupti()->callback = nullptr;
    return kSuccess;
  };
  api.enable_callback = [](std::uint32_t, void*, std::uint32_t, std::uint32_t callback) {
    fake_cupti()->callbacks.insert(callback);
    return kSuccess;
  };
  // A node's address stands for its number.
  api.graph_node_id = [](void* node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uintptr_t>(node);
    return kSuccess;
  };
}

/// As the driver does on the calling thread: a capture makes node `node`; instantiating makes a
/// copy of `original`.
inline void make_graph_node(std::uint64_t node, std::uint64_t original = 0) {
  GraphData graph;
  graph.node = reinterpret_cast<void*>(node);
  graph.original_node = reinterpret_cast<void*>(original);
  const ResourceData data{nullptr, nullptr, &graph};
  fake_cupti()->callback(fake_cupti()->user, kResourceDomain,
                         original == 0 ? kGraphNodeCreated : kGraphNodeCloned, &data);
}

[[nodiscard]] inline CuptiApi fake_cupti_api() {
  CuptiApi api = walking_api();
  api.get_version = [](std::uint32_t* version) {
    *version = fake_cupti()->version;
    return kSuccess;
  };
  api.set_attribute = [](int, std::size_t*, void*) { return kSuccess; };
  api.set_thread_id_type = [](int) { return kSuccess; };
  api.register_timestamp = [](std::uint64_t (*)()) { return kSuccess; };
  api.register_callbacks = [](BufferRequested requested, BufferCompleted completed) {
    fake_cupti()->requested = requested;
    fake_cupti()->completed = completed;
    return kSuccess;
  };
  api.enable = [](std::uint32_t kind) {
    if (kind == fake_cupti()->failing_kind) return fake_cupti()->enable_error;
    fake_cupti()->enabled.insert(kind);
    return kSuccess;
  };
  api.disable = [](std::uint32_t kind) {
    fake_cupti()->enabled.erase(kind);
    return kSuccess;
  };
  api.flush_all = [](std::uint32_t flag) {
    deliver_work();
    if (flag == kFlushForced && !fake_cupti()->last.empty()) deliver(fake_cupti()->last);
    return kSuccess;
  };
  api.dropped_records = [](void*, std::uint32_t, std::size_t* dropped) {
    *dropped = fake_cupti()->dropped.exchange(0);
    return kSuccess;
  };
  fill_fake_correlation(api);
  fill_fake_graphs(api);
  api.error_text = [](int, const char** text) {
    *text = "made by the test";
    return kSuccess;
  };
  return api;
}

}  // namespace shardscope::cupti
