#include "storage/import/kineto/kineto_records.hpp"

#include <algorithm>
#include <utility>

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostOperatorTables = 1 << 20;

std::int64_t bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"long", 8},          {"long int", 8},      {"Long", 8},        {"int64", 8}, {"double", 8},
      {"Double", 8},        {"float", 4},         {"Float", 4},       {"int", 4},   {"Int", 4},
      {"int32", 4},         {"half", 2},          {"c10::Half", 2},   {"Half", 2},  {"BFloat16", 2},
      {"c10::BFloat16", 2}, {"unsigned char", 1}, {"signed char", 1}, {"Byte", 1},  {"Char", 1},
      {"bool", 1},          {"Bool", 1},          {"uint8", 1},       {"int8", 1}};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) return bytes;
  }
  return 0;
}

bool is_whole_type(std::string_view type) {
  return type.starts_with("long") || type.starts_with("Long") || type.starts_with("int") ||
         type.starts_with("Int");
}

bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// CUPTI's direction of "Memcpy HtoD (Pinned -> Device)".
std::int32_t copy_direction(std::string_view name) {
  if (contains(name, "HtoD")) return 1;
  if (contains(name, "DtoH")) return 2;
  if (contains(name, "DtoD")) return 8;
  if (contains(name, "HtoH")) return 9;
  if (contains(name, "PtoP")) return 10;
  return 0;
}

MemoryKind memory_named(std::string_view text) {
  if (contains(text, "Pageable")) return MemoryKind::pageable;
  if (contains(text, "Pinned")) return MemoryKind::pinned;
  if (contains(text, "Managed")) return MemoryKind::managed;
  if (contains(text, "Device")) return MemoryKind::device;
  return MemoryKind::unknown;
}

/// The only dim of a one-dimensional input, where it is a possible size.
std::optional<std::int64_t> length_of(const KinetoArgs& args, std::size_t index) {
  if (index >= args.dims.size() || args.dims[index].size() != 1) return std::nullopt;
  return bounded(args.dims[index].front(), kMostTraceBytes);
}

/// Bytes of so many elements; nothing for impossible sizes.
std::optional<std::int64_t> bytes_of(std::int64_t elements, std::int64_t element_bytes) {
  const auto count = bounded(elements, kMostTraceBytes);
  if (!count) return std::nullopt;
  return bounded(*count * element_bytes, kMostTraceBytes);
}

void set_group(const KinetoArgs& args, CollectiveCall& call) {
  call.group_size = narrowed(args.group_size);
  for (const std::int64_t elements : args.in_splits) {
    const auto bytes = bytes_of(elements, call.element_bytes);
    if (!bytes) return call.sent_splits.clear();
    call.sent_splits.push_back(*bytes);
  }
  // Long lists are printed with their middle left out: such a list names no peers.
  if (static_cast<std::int64_t>(args.group_ranks.size()) != args.group_size) return;
  for (const std::int64_t rank : args.group_ranks) call.group_ranks.push_back(narrowed(rank));
}

}  // namespace

KinetoCategory kineto_category(std::string_view category) {
  using enum KinetoCategory;
  if (category == "kernel" || category == "Kernel") return kernel;
  if (category == "gpu_memcpy" || category == "Memcpy") return memcpy;
  if (category == "gpu_memset" || category == "Memset") return memset;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime") return call;
  if (category == "user_annotation") return range;
  if (category == "cpu_op" || category == "Operator") return op;
  return other;
}

GpuWork kineto_work(KinetoCategory category, const KinetoEvent& event) {
  const KinetoArgs& args = event.args;
  GpuWork work;
  work.correlation = static_cast<std::uint32_t>(args.correlation);
  work.stream = narrowed(args.stream);
  work.device = narrowed(args.device);
  work.context = narrowed(args.context);
  work.bytes = bounded(args.bytes, kMostTraceBytes).value_or(0);
  if (category == KinetoCategory::kernel) {
    work.grid = args.grid;
    work.block = args.block;
    work.registers = narrowed(args.registers);
    work.shared_bytes = narrowed(args.shared);
  } else if (category == KinetoCategory::memcpy) {
    const std::string_view name = event.name;
    work.kind = ActivityRecord::Kind::memcpy;
    work.detail = copy_direction(name);
    const std::size_t arrow = name.find("->");
    work.source = memory_named(name.substr(0, arrow));
    if (arrow != std::string_view::npos) work.destination = memory_named(name.substr(arrow));
  } else {
    work.kind = ActivityRecord::Kind::memset;
    work.destination = memory_named(event.name);
  }
  return work;
}

std::optional<CollectiveCall> kineto_collective(const KinetoEvent& event) {
  const KinetoArgs& args = event.args;
  CollectiveCall call;
  call.correlation = static_cast<std::uint32_t>(args.correlation);
  std::optional<std::int64_t> received;
  std::optional<std::int64_t> sent;
  if (args.in_elements >= 0) {
    call.element_bytes = std::max<std::int64_t>(bytes_of_type(args.dtype), 1);
    call.whole_ids = is_whole_type(args.dtype);
    sent = bytes_of(args.in_elements, call.element_bytes);
    received = bytes_of(args.out_elements, call.element_bytes);
    set_group(args, call);
  } else if (!args.types.empty()) {
    call.element_bytes = bytes_of_type(args.types.front());
    if (call.element_bytes == 0) return std::nullopt;
    call.whole_ids = is_whole_type(args.types.front());
    // c10d's operator lists output, then input; the annotation the input alone.
    const bool both = contains(event.name, "alltoall_base") ||
                      contains(event.name, "allgather_base") ||
                      contains(event.name, "reduce_scatter_base");
    sent = bytes_of(length_of(args, both ? 1 : 0).value_or(-1), call.element_bytes);
    if (both) received = bytes_of(length_of(args, 0).value_or(-1), call.element_bytes);
  }
  if (!sent) return std::nullopt;
  call.sent_bytes = *sent;
  call.received_bytes = received.value_or(-1);
  return call;
}

std::optional<LookupCall> kineto_lookup(const KinetoEvent& event) {
  const KinetoArgs& args = event.args;
  LookupCall call;
  call.replicated = contains(event.name, "dense_embedding");
  call.elements = length_of(args, call.replicated ? 0 : 1).value_or(0);
  call.tables = length_of(args, call.replicated ? 1 : 4).value_or(0);
  if (call.tables < 1 || call.tables > kMostOperatorTables) return std::nullopt;
  for (std::size_t i = 5; i + 1 < args.dims.size(); ++i) {
    const auto ids = length_of(args, i);
    const auto offsets = length_of(args, i + 1);
    if (!ids || !offsets || *offsets < 2 || (*offsets - 1) % call.tables != 0) continue;
    if (*offsets - 1 <= call.tables && *ids <= call.tables) continue;
    call.ids = *ids;
    call.batch = (*offsets - 1) / call.tables;
    return call;
  }
  return std::nullopt;
}

}  // namespace shardscope::storage
