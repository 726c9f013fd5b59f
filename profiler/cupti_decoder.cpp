#include "profiler/cupti_decoder.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "profiler/cupti_attribution.hpp"

namespace shardscope::cupti {
namespace {

/// Longer names are kept as they are: demangling them costs seconds.
constexpr std::size_t kLongestName = 8192;

std::string demangled(const char* mangled) {
  if (std::strlen(mangled) > kLongestName) return mangled;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 && name ? name.get() : mangled;
}

RecordKind kind_of(const void* record) {
  RecordKind kind = RecordKind::invalid;
  std::memcpy(&kind, record, sizeof(kind));
  return kind;
}

/// The record at that place.
template <class Record>
Record as(const void* record) {
  Record copy;
  std::memcpy(static_cast<void*>(&copy), record, sizeof(copy));
  return copy;
}

}  // namespace

Decoder::Decoder(const CuptiApi& api, std::uint64_t epoch_ns,
                 std::vector<std::int32_t> rank_of_device)
    : api_(api), epoch_ns_(epoch_ns), rank_of_device_(std::move(rank_of_device)) {}

void Decoder::set_graph_node(std::uint64_t node, std::uint64_t external_id) {
  graph_nodes_[node] = external_id;
}

template <class Use>
void Decoder::visit(const FilledBuffer& buffer, bool counted, const Use& use) {
  void* record = nullptr;
  int result = api_.next_record(buffer.data, buffer.bytes, &record);
  for (; result == kSuccess; result = api_.next_record(buffer.data, buffer.bytes, &record)) {
    if (kind_of(record) == RecordKind::invalid) break;
    use(record);
  }
  if (counted && result != kMaxLimitReached) ++counts_.incomplete;
}

void Decoder::decode(std::span<const FilledBuffer> batch, std::vector<ActivityRecord>& out) {
  for (const FilledBuffer& buffer : batch) {
    visit(buffer, false, [&](const void* record) { learn(record); });
  }
  std::vector<ActivityRecord> late = std::exchange(waiting_, {});
  for (ActivityRecord& record : late) {
    static_cast<void>(attribute(record));
    out.push_back(std::move(record));
  }
  for (const FilledBuffer& buffer : batch) {
    visit(buffer, true, [&](const void* record) {
      ++counts_.records;
      ActivityRecord converted;
      if (!convert(record, converted)) return;
      const bool known = attribute(converted) || converted.correlation == 0;
      (known ? out : waiting_).push_back(std::move(converted));
    });
  }
  calls_before_ = std::exchange(calls_, {});
}

void Decoder::finish(std::vector<ActivityRecord>& out) {
  decode({}, out);
}

void Decoder::learn(const void* record) {
  if (kind_of(record) != RecordKind::external_correlation) return;
  const auto correlation = as<CorrelationRecord>(record);
  if (correlation.external_kind == kCustomCorrelation) {
    calls_[correlation.correlation] = correlation.external_id;
  }
}

bool Decoder::attribute(ActivityRecord& record) const {
  const auto take = [&](const auto& ids, auto key, bool iteration) {
    const auto found = ids.find(key);
    if (found == ids.end()) return false;
    const Attribution at = from_external_id(found->second);
    record.rank = at.rank;
    if (iteration) record.iteration = at.iteration;
    record.stage = at.stage;
    record.work = at.work;
    record.attributed = true;
    return true;
  };
  const bool called =
      take(calls_, record.correlation, true) || take(calls_before_, record.correlation, true);
  if (record.graph_node != 0) static_cast<void>(take(graph_nodes_, record.graph_node, false));
  return called;
}

bool Decoder::convert(const void* record, ActivityRecord& out) {
  switch (kind_of(record)) {
    case RecordKind::concurrent_kernel:
      convert_kernel(as<KernelRecord>(record), out);
      return true;
    case RecordKind::memcpy:
      convert_copy(as<MemcpyRecord>(record), out);
      return true;
    case RecordKind::memcpy_peer:
      convert_copy(as<PeerCopyRecord>(record), out);
      return true;
    case RecordKind::memset: {
      const auto from = as<MemsetRecord>(record);
      out.kind = ActivityRecord::Kind::memset;
      out.detail = static_cast<std::int32_t>(from.value);
      out.destination = static_cast<MemoryKind>(from.memory);
      out.bytes = static_cast<std::int64_t>(from.bytes);
      convert_device_work(from, out);
      return true;
    }
    case RecordKind::runtime:
    case RecordKind::driver:
      convert_call(as<CallRecord>(record), out);
      return true;
    case RecordKind::synchronization: {
      const auto from = as<SynchronizationRecord>(record);
      out.kind = ActivityRecord::Kind::synchronization;
      out.detail = static_cast<std::int32_t>(from.type);
      out.context = static_cast<std::int32_t>(from.context);
      out.stream = static_cast<std::int32_t>(from.stream);
      out.event = from.event;
      out.correlation = from.correlation;
      set_times(from.start, from.end, out);
      return true;
    }
    case RecordKind::overhead: {
      const auto from = as<OverheadRecord>(record);
      out.kind = ActivityRecord::Kind::overhead;
      out.detail = static_cast<std::int32_t>(from.overhead_kind);
      out.thread = static_cast<std::int32_t>(from.object[1]);
      set_times(from.start, from.end, out);
      return true;
    }
    case RecordKind::external_correlation:
      return false;  // read in the first pass
    case RecordKind::invalid:
      break;
  }
  ++counts_.unknown;
  return false;
}

void Decoder::set_times(std::uint64_t start, std::uint64_t end, ActivityRecord& out) {
  if (start == 0 && end == 0) {
    // A lost timestamp: no duration, beside what was decoded last.
    ++counts_.lost_timestamps;
    out.start_ns = out.end_ns = latest_ns_;
    return;
  }
  out.start_ns = static_cast<std::int64_t>(start - epoch_ns_);
  // One nanosecond at least: no duration is the mark of a lost timestamp.
  out.end_ns = std::max(static_cast<std::int64_t>(end - epoch_ns_), out.start_ns + 1);
  latest_ns_ = std::max(latest_ns_, out.start_ns);
}

template <class From>
void Decoder::convert_device_work(const From& from, ActivityRecord& out) {
  out.device = static_cast<std::int32_t>(from.device);
  out.context = static_cast<std::int32_t>(from.context);
  out.stream = static_cast<std::int32_t>(from.stream);
  out.correlation = from.correlation;
  out.graph_node = from.graph_node;
  if (from.device < rank_of_device_.size()) out.rank = rank_of_device_[from.device];
  set_times(from.start, from.end, out);
}

/// A copy within a GPU or to and from the host, or one between two GPUs.
template <class From>
void Decoder::convert_copy(const From& from, ActivityRecord& out) {
  out.kind = ActivityRecord::Kind::memcpy;
  out.detail = from.direction;
  out.source = static_cast<MemoryKind>(from.source);
  out.destination = static_cast<MemoryKind>(from.destination);
  out.bytes = static_cast<std::int64_t>(from.bytes);
  convert_device_work(from, out);
}

void Decoder::convert_kernel(const KernelRecord& from, ActivityRecord& out) {
  out.kind = ActivityRecord::Kind::kernel;
  out.name = kernel_name(from.name);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.grid[axis] = from.grid[axis];
    out.block[axis] = from.block[axis];
  }
  out.registers_per_thread = from.registers_per_thread;
  out.static_shared_bytes = from.static_shared_bytes;
  out.dynamic_shared_bytes = from.dynamic_shared_bytes;
  out.local_bytes_per_thread = static_cast<std::int32_t>(from.local_bytes_per_thread);
  out.local_bytes = from.local_bytes;
  out.grid_id = from.grid_id;
  convert_device_work(from, out);
}

void Decoder::convert_call(const CallRecord& from, ActivityRecord& out) {
  out.kind = ActivityRecord::Kind::runtime;
  out.name = call_name(from.kind, from.function);
  out.detail = static_cast<std::int32_t>(from.result);
  out.thread = static_cast<std::int32_t>(from.thread);
  out.correlation = from.correlation;
  set_times(from.start, from.end, out);
}

// CUPTI gives the same address for the same kernel as long as its module is loaded.
const std::string& Decoder::kernel_name(const char* mangled) {
  const auto known = kernel_names_.find(mangled);
  if (known != kernel_names_.end()) return known->second;
  return kernel_names_.emplace(mangled, mangled == nullptr ? "" : demangled(mangled)).first->second;
}

const std::string& Decoder::call_name(RecordKind kind, std::uint32_t function) {
  const std::uint32_t domain = kind == RecordKind::runtime ? kRuntimeDomain : kDriverDomain;
  const std::uint64_t key = static_cast<std::uint64_t>(domain) << 32 | function;
  const auto known = call_names_.find(key);
  if (known != call_names_.end()) return known->second;
  const char* name = nullptr;
  const bool found = api_.callback_name(domain, function, &name) == kSuccess && name != nullptr;
  return call_names_.emplace(key, found ? name : "unknown call").first->second;
}

}  // namespace shardscope::cupti
