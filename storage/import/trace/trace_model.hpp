#pragma once
// What an imported trace of one rank holds, whichever profiler wrote it, before its work is given
// to stages. Times are ns on the trace's own clock.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/activity.hpp"

namespace shardscope::storage {

/// Texts by number: traces repeat a few thousand names millions of times.
class NameTable {
 public:
  [[nodiscard]] std::uint32_t id(std::string_view text);
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> texts_;
};

/// A kernel, copy or memset on the device.
struct GpuWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;  ///< copied or set; sent, for collectives that say so
  std::uint32_t name = 0;
  std::uint32_t correlation = 0;
  std::int32_t stream = 0;
  std::int32_t device = 0;
  std::int32_t context = 0;
  std::int32_t detail = 0;  ///< as ActivityRecord::detail
  ActivityRecord::Kind kind = ActivityRecord::Kind::kernel;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int32_t registers = 0;
  std::int32_t shared_bytes = 0;
};

/// A call on a CPU thread: an API call (with a correlation), or a named range (an annotation).
struct CpuRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t correlation = 0;
  std::int32_t thread = 0;
};

/// A collective as its caller described it.
struct CollectiveCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t sent_bytes = -1;      ///< -1: not stated
  std::int64_t received_bytes = -1;  ///< -1: not stated
  std::int32_t thread = 0;
  std::int32_t group_size = 0;    ///< 0: not stated
  bool whole_ids = false;         ///< elements are integers
  std::uint32_t correlation = 0;  ///< of the kernel where it carries the facts itself
  std::int64_t element_bytes = 1;
  std::vector<std::int64_t> sent_splits;  ///< bytes by peer of the group, where stated
  std::vector<std::int32_t> group_ranks;  ///< the group's ranks, where all are stated
};

/// One call of a table-batched embedding operator.
struct LookupCall {
  std::int64_t start_ns = 0;
  std::int64_t tables = 0;
  std::int64_t ids = 0;
  std::int64_t batch = 0;     ///< bags a table
  std::int64_t elements = 0;  ///< of all its weights on this rank; 0: not stated
  bool replicated = false;    ///< dense operator: its gradients are all-reduced
};

struct RankTrace {
  std::string file;
  std::int32_t rank = -1;  ///< -1: the file does not say
  std::int32_t world_size = 0;
  std::int32_t host_gpus = 0;  ///< GPUs of the profiled host; 0: the file does not say
  std::string device_name;
  std::int64_t clock_utc_ns = 0;  ///< when its clock stood at 0; 0: the file does not say
  std::vector<GpuWork> work;
  std::vector<CpuRange> calls;   ///< API calls
  std::vector<CpuRange> ranges;  ///< annotations, steps included
  std::vector<CollectiveCall> collectives;
  std::vector<LookupCall> lookups;
  NameTable names;
  std::int64_t events = 0;   ///< records read
  std::int64_t skipped = 0;  ///< records of kinds that are not used
};

}  // namespace shardscope::storage
