#pragma once
// GPU and driver activity as a collector delivers it (CUPTI or an imported trace). Plain values.

#include <array>
#include <cstdint>
#include <string>

#include "layout/schedule.hpp"

namespace shardscope {

/// Kind of memory at an end of a copy, in CUPTI's numbering.
enum class MemoryKind : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static,
  managed_static,
};

/// A device as TARGET_INFO_GPU shows it; 0 or empty where unknown.
struct GpuInfo {
  std::int32_t id = 0;  ///< ActivityRecord::device
  std::string name;
  std::string uuid;
  std::string bus;  ///< PCI location
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bytes_per_s = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t clock_hz = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
};

/// One record. Times are ns since the run's start; names are interned by the sink.
struct ActivityRecord {
  enum class Kind : std::uint8_t { kernel, memcpy, memset, runtime, synchronization, overhead };
  Kind kind = Kind::kernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< equal to start where the timestamp was lost
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int32_t context = 0;
  std::int32_t stream = 0;
  std::uint32_t correlation = 0;
  std::int64_t bytes = 0;
  /// memcpy: direction (CUPTI_ACTIVITY_MEMCPY_KIND_*); synchronization: CUPTI's type; memset: the
  /// value; runtime: the return value; overhead: CUPTI's kind.
  std::int32_t detail = 0;
  std::int32_t iteration = 0;
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  bool attributed = false;  ///< iteration, stage and work are known
  std::string name;         ///< kernel: demangled; runtime: the call with its version suffix

  // Where the collector knows them.
  std::int32_t thread = 0;  ///< runtime, overhead: the system's thread id
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;  ///< memset: the memory that is set
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::int32_t local_bytes_per_thread = 0;
  std::int64_t local_bytes = 0;
  std::int64_t grid_id = 0;
  std::uint64_t graph_node = 0;  ///< 0: not launched by a graph
  std::uint32_t event = 0;       ///< synchronization
};

}  // namespace shardscope
