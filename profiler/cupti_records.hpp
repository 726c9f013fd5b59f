#pragma once
// CUPTI's activity records, as far as they are read. CUPTI appends to a record's layout and never
// moves a field, so these prefixes fit every version from 12.0 on; where its header is at hand,
// cupti_layout.cpp compares them with it.

#include <cstddef>
#include <cstdint>

namespace shardscope::cupti {

/// CUpti_ActivityKind.
enum class RecordKind : std::uint32_t {
  invalid = 0,
  memcpy = 1,
  memset = 2,
  driver = 4,
  runtime = 5,
  concurrent_kernel = 10,
  overhead = 17,
  memcpy_peer = 22,
  synchronization = 38,
  external_correlation = 39,
};

#define SHARDSCOPE_CUPTI_RECORD __attribute__((packed, aligned(8)))

struct SHARDSCOPE_CUPTI_RECORD KernelRecord {
  RecordKind kind = RecordKind::concurrent_kernel;
  std::uint8_t cache_config = 0;
  std::uint8_t shared_memory_config = 0;
  std::uint16_t registers_per_thread = 0;
  std::uint32_t partitioned_cache[2] = {};
  std::uint64_t start = 0;  ///< 0 with end: the timestamp was lost
  std::uint64_t end = 0;
  std::uint64_t completed = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::int32_t grid[3] = {};
  std::int32_t block[3] = {};
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t correlation = 0;
  std::int64_t grid_id = 0;
  const char* name = nullptr;
  void* reserved = nullptr;
  std::uint64_t queued = 0;
  std::uint64_t submitted = 0;
  std::uint8_t launch[4] = {};
  std::uint32_t shared_memory_executed = 0;
  std::uint64_t graph_node = 0;
};

struct SHARDSCOPE_CUPTI_RECORD MemcpyRecord {
  RecordKind kind = RecordKind::memcpy;
  std::uint8_t direction = 0;
  std::uint8_t source = 0;
  std::uint8_t destination = 0;
  std::uint8_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint32_t runtime_correlation = 0;
  std::uint32_t padding = 0;
  void* reserved = nullptr;
  std::uint64_t graph_node = 0;
};

/// A copy between two GPUs.
struct SHARDSCOPE_CUPTI_RECORD PeerCopyRecord {
  RecordKind kind = RecordKind::memcpy_peer;
  std::uint8_t direction = 0;
  std::uint8_t source = 0;
  std::uint8_t destination = 0;
  std::uint8_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t source_device = 0;
  std::uint32_t source_context = 0;
  std::uint32_t destination_device = 0;
  std::uint32_t destination_context = 0;
  std::uint32_t correlation = 0;
  void* reserved = nullptr;
  std::uint64_t graph_node = 0;
};

struct SHARDSCOPE_CUPTI_RECORD MemsetRecord {
  RecordKind kind = RecordKind::memset;
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint16_t flags = 0;
  std::uint16_t memory = 0;
  std::uint32_t padding = 0;
  void* reserved = nullptr;
  std::uint64_t graph_node = 0;
};

/// A call of the runtime or the driver.
struct SHARDSCOPE_CUPTI_RECORD CallRecord {
  RecordKind kind = RecordKind::runtime;
  std::uint32_t function = 0;  ///< CUpti_CallbackId
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;
};

struct SHARDSCOPE_CUPTI_RECORD CorrelationRecord {
  RecordKind kind = RecordKind::external_correlation;
  std::uint32_t external_kind = 0;
  std::uint64_t external_id = 0;
  std::uint32_t correlation = 0;
  std::uint32_t reserved = 0;
};

struct SHARDSCOPE_CUPTI_RECORD SynchronizationRecord {
  RecordKind kind = RecordKind::synchronization;
  std::uint32_t type = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
};

struct SHARDSCOPE_CUPTI_RECORD OverheadRecord {
  RecordKind kind = RecordKind::overhead;
  std::uint32_t overhead_kind = 0;
  std::uint32_t object_kind = 0;
  std::uint32_t object[3] = {};  ///< of a thread: process, thread
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;
};

/// What a callback about a resource is given (CUpti_ResourceData), and its descriptor where that is
/// a graph's node (CUpti_GraphData).
struct ResourceData {
  void* context = nullptr;
  void* resource = nullptr;
  const void* descriptor = nullptr;
};
struct GraphData {
  void* graph = nullptr;
  void* original_graph = nullptr;
  void* node = nullptr;
  void* original_node = nullptr;
};

}  // namespace shardscope::cupti
