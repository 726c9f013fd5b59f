#include "storage/import/nsys_devices.hpp"

#include <algorithm>
#include <iterator>

namespace shardscope::storage {
namespace {

constexpr int kProcessShift = 24;             ///< of a globalTid: process above, thread below
constexpr std::size_t kMostProcessGpus = 64;  ///< of a process: every range is kept for each
constexpr std::size_t kLeastGpuShare = 10;    ///< a tenth of the busiest device's pieces of work

void append_work(RankTrace& from, RankTrace& to) {
  for (GpuWork& work : from.work) {
    work.name = to.names.id(from.names.text(work.name));
    to.work.push_back(work);
  }
  to.events += from.events;
}

void add_range_to(RankTrace& trace, std::vector<CpuRange>& list, CpuRange range,
                  const std::string& name) {
  range.name = trace.names.id(name);
  ++trace.events;
  list.push_back(range);
}

}  // namespace

RankTrace& NsysDevices::device(std::int64_t global_pid, std::int32_t device) {
  Process& process = processes_[global_pid >> kProcessShift];
  const auto [entry, fresh] = process.devices.try_emplace(device);
  if (fresh) entry->second.file = file_;
  return entry->second;
}

void NsysDevices::settle() {
  for (auto& [pid, process] : processes_) {
    auto& devices = process.devices;
    const auto busiest = std::max_element(
        devices.begin(), devices.end(),
        [](const auto& a, const auto& b) { return a.second.work.size() < b.second.work.size(); });
    std::size_t kept = 0;
    for (auto it = devices.begin(); it != devices.end();) {
      const bool little =
          it != busiest && (++kept >= kMostProcessGpus ||
                            it->second.work.size() * kLeastGpuShare < busiest->second.work.size());
      if (little) append_work(it->second, busiest->second);
      it = little ? devices.erase(it) : std::next(it);
    }
    if (devices.size() < 2) continue;
    for (const auto& [device, trace] : devices) {
      for (const GpuWork& work : trace.work) {
        if (work.correlation != 0) process.by_correlation.emplace(work.correlation, device);
      }
    }
  }
}

void NsysDevices::set_rank(std::int64_t global_pid, std::int32_t rank) {
  const auto found = processes_.find(global_pid >> kProcessShift);
  if (found == processes_.end() || found->second.devices.size() != 1) return;
  found->second.devices.begin()->second.rank = rank;
}

NsysDevices::Process* NsysDevices::process_of(std::int64_t global_tid) {
  const auto found = processes_.find(global_tid >> kProcessShift);
  if (found != processes_.end()) return &found->second;
  return processes_.size() == 1 ? &processes_.begin()->second : nullptr;
}

void NsysDevices::add_call(std::int64_t global_tid, const CpuRange& call, const std::string& name) {
  Process* process = process_of(global_tid);
  if (process == nullptr || process->devices.empty()) return;
  RankTrace* trace = &process->devices.begin()->second;
  if (const auto found = process->by_correlation.find(call.correlation);
      found != process->by_correlation.end()) {
    trace = &process->devices.at(found->second);
    process->by_thread[call.thread].insert(found->second);
  }
  add_range_to(*trace, trace->calls, call, name);
}

void NsysDevices::add_range(std::int64_t global_tid, const CpuRange& range,
                            const std::string& name) {
  Process* process = process_of(global_tid);
  if (process == nullptr) return;
  const auto own = process->by_thread.find(range.thread);
  for (auto& [device, trace] : process->devices) {
    if (own != process->by_thread.end() && !own->second.contains(device)) continue;
    add_range_to(trace, trace.ranges, range, name);
  }
}

std::vector<RankTrace> NsysDevices::take() {
  std::vector<std::pair<std::int32_t, RankTrace>> found;
  for (auto& [pid, process] : processes_) {
    for (auto& [device, trace] : process.devices) {
      if (!trace.work.empty()) found.emplace_back(device, std::move(trace));
    }
  }
  processes_.clear();
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RankTrace> ranks;
  for (auto& [device, trace] : found) ranks.push_back(std::move(trace));
  return ranks;
}

}  // namespace shardscope::storage
