#pragma once
// Turns CUPTI's buffers into activity records. Pure but for the names it remembers.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/activity.hpp"
#include "profiler/cupti_api.hpp"
#include "profiler/cupti_records.hpp"

namespace shardscope::cupti {

/// The part of a buffer that CUPTI has filled.
struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
};

/// What could not be decoded.
struct DecodeCounts {
  std::int64_t records = 0;
  std::int64_t unknown = 0;          ///< of kinds that are not read
  std::int64_t incomplete = 0;       ///< buffers that ended in an unfinished or broken record
  std::int64_t lost_timestamps = 0;  ///< kernels and copies without times
};

/// Used by one thread. The correlation of a call and the records of its work may come in any order
/// and in different buffers: a batch is read twice, and records whose call is not known yet wait
/// for the next batch.
class Decoder {
 public:
  /// Times are counted from `epoch_ns` on CUPTI's clock. rank_of_device[d] is the rank of records
  /// of device d that no call is known of; devices beyond belong to rank 0.
  Decoder(const CuptiApi& api, std::uint64_t epoch_ns, std::vector<std::int32_t> rank_of_device);

  /// Appends the records of the batch, in the order of the buffers, to `out`.
  void decode(std::span<const FilledBuffer> batch, std::vector<ActivityRecord>& out);
  /// Appends what waits for a call that will not come any more.
  void finish(std::vector<ActivityRecord>& out);

  /// The rank, stage and work of a graph's node, known since its capture: all kernels of a graph's
  /// launch share its correlation, which tells the iteration.
  void set_graph_node(std::uint64_t node, std::uint64_t external_id);

  [[nodiscard]] const DecodeCounts& counts() const { return counts_; }

 private:
  template <class Use>
  void visit(const FilledBuffer& buffer, bool counted, const Use& use);
  void learn(const void* record);
  [[nodiscard]] bool convert(const void* record, ActivityRecord& out);
  template <class From>
  void convert_copy(const From& from, ActivityRecord& out);
  void convert_kernel(const KernelRecord& from, ActivityRecord& out);
  template <class From>
  void convert_device_work(const From& from, ActivityRecord& out);
  void convert_call(const CallRecord& from, ActivityRecord& out);
  void set_times(std::uint64_t start, std::uint64_t end, ActivityRecord& out);
  [[nodiscard]] bool attribute(ActivityRecord& record) const;
  [[nodiscard]] const std::string& kernel_name(const char* mangled);
  [[nodiscard]] const std::string& call_name(RecordKind kind, std::uint32_t function);

  const CuptiApi& api_;
  std::uint64_t epoch_ns_;
  std::vector<std::int32_t> rank_of_device_;
  DecodeCounts counts_;
  std::int64_t latest_ns_ = 0;
  /// By correlation: external id. Those of the batch before are kept for late records.
  std::unordered_map<std::uint32_t, std::uint64_t> calls_, calls_before_;
  std::unordered_map<std::uint64_t, std::uint64_t> graph_nodes_;
  std::unordered_map<const char*, std::string> kernel_names_;
  std::unordered_map<std::uint64_t, std::string> call_names_;
  std::vector<ActivityRecord> waiting_;
};

}  // namespace shardscope::cupti
