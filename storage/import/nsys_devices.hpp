#pragma once
// The ranks in a file of Nsight Systems: each GPU that a process drives.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// Filled in this order: GPU work by device(), settle(), ranks, calls and ranges, take(). A
/// launcher starts one process a GPU, HugeCTR one process for all GPUs of a host.
class NsysDevices {
 public:
  explicit NsysDevices(std::string file) : file_(std::move(file)) {}

  /// Where work of that process on that device goes; old files name no process (0).
  [[nodiscard]] RankTrace& device(std::int64_t global_pid, std::int32_t device);

  /// All GPU work is there. A device with little work beside its process's busiest one (a context
  /// that every process opens on GPU 0) is no rank: its work joins the busiest one's.
  void settle();

  /// The rank that a process calls itself; of one with several devices none is it.
  void set_rank(std::int64_t global_pid, std::int32_t rank);

  /// A call belongs to the device whose work it launched.
  void add_call(std::int64_t global_tid, const CpuRange& call, const std::string& name);

  /// A range belongs to the devices that its thread launched work on, to all of its process where
  /// the thread launched none.
  void add_range(std::int64_t global_tid, const CpuRange& range, const std::string& name);

  /// Those with work; by device where every process has its own, else by process.
  [[nodiscard]] std::vector<RankTrace> take();

 private:
  struct Process {
    std::map<std::int32_t, RankTrace> devices;
    /// Of several devices alone: which one a correlation or thread belongs to.
    std::unordered_map<std::uint32_t, std::int32_t> by_correlation;
    std::map<std::int32_t, std::set<std::int32_t>> by_thread;
  };

  [[nodiscard]] Process* process_of(std::int64_t global_tid);

  std::string file_;
  std::map<std::int64_t, Process> processes_;
};

}  // namespace shardscope::storage
