#pragma once
// What the collector uses of CUPTI, as a table of functions over plain types: filled from
// libcupti.so.13 when a run asks for a trace, by tests with a fake. Functions return CUptiResult's
// numbers.

#include <cstddef>
#include <cstdint>

#include "layout/result.hpp"

namespace shardscope::cupti {

inline constexpr int kSuccess = 0;
inline constexpr int kMaxLimitReached = 12;
inline constexpr int kSubscriberTaken = 39;  ///< another profiler is attached to the process
inline constexpr int kOldestVersion = 120000;
inline constexpr std::uint32_t kDriverDomain = 1;
inline constexpr std::uint32_t kRuntimeDomain = 2;
inline constexpr std::uint32_t kCustomCorrelation = 3;  ///< CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
inline constexpr std::uint32_t kFlushForced = 1;

/// Records that CUPTI writes into buffers of ours.
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                                 std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t bytes, std::size_t valid_bytes);

/// Hears of a resource of the driver; `data` is a ResourceData.
using ResourceCallback = void (*)(void* user, std::uint32_t domain, std::uint32_t callback,
                                  const void* data);
inline constexpr std::uint32_t kResourceDomain = 3;
inline constexpr std::uint32_t kGraphNodeCreated = 13;
inline constexpr std::uint32_t kGraphNodeCloned = 20;

struct CuptiApi {
  int (*get_version)(std::uint32_t* version) = nullptr;
  /// Walks a buffer: null gives the first record; kMaxLimitReached behind the last.
  int (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes, void** record) = nullptr;
  int (*callback_name)(std::uint32_t domain, std::uint32_t function, const char** name) = nullptr;
  int (*set_attribute)(int attribute, std::size_t* bytes, void* value) = nullptr;
  int (*set_thread_id_type)(int type) = nullptr;
  int (*register_callbacks)(BufferRequested requested, BufferCompleted completed) = nullptr;
  int (*register_timestamp)(std::uint64_t (*now)()) = nullptr;
  int (*enable)(std::uint32_t kind) = nullptr;
  int (*disable)(std::uint32_t kind) = nullptr;
  int (*flush_all)(std::uint32_t flag) = nullptr;
  /// Since the last call.
  int (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped) = nullptr;
  int (*push_correlation)(std::uint32_t kind, std::uint64_t id) = nullptr;
  int (*pop_correlation)(std::uint32_t kind, std::uint64_t* id) = nullptr;
  int (*subscribe)(void** subscriber, ResourceCallback callback, void* user) = nullptr;
  int (*unsubscribe)(void* subscriber) = nullptr;
  int (*enable_callback)(std::uint32_t enabled, void* subscriber, std::uint32_t domain,
                         std::uint32_t callback) = nullptr;
  int (*graph_node_id)(void* node, std::uint64_t* id) = nullptr;
  int (*error_text)(int error, const char** text) = nullptr;
};

/// The library's functions. Opened at the first call.
[[nodiscard]] Result<const CuptiApi*> cupti_api();

}  // namespace shardscope::cupti
