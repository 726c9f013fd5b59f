#include "engine/cpu/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
constexpr std::int64_t kSmallPage = 4096;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::optional<std::int64_t> first_number(const char* file) {
  std::ifstream in(file);
  std::int64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::int64_t meminfo_available() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::int64_t kibibytes = 0;
  std::string unit;
  while (in >> name >> kibibytes >> unit) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

/// What the control group of a container leaves, cgroup version 2.
std::int64_t control_group_available() {
  const auto limit = first_number("/sys/fs/cgroup/memory.max");
  const auto used = first_number("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(*limit - *used, 0);
}

Error out_of_memory(std::int64_t bytes, std::int64_t available, std::string_view purpose,
                    std::string_view reason) {
  return {ErrorKind::runtime,
          fmt::format("{} bytes asked, {} bytes available{}", bytes, available, reason),
          std::string(purpose), "enough free memory",
          "Shrink the tables (--rows-cap), the batch or the ranks, or free memory"};
}

/// Cuts a mapping that is one huge page too long to one that starts on a huge page.
std::byte* align_mapping(void* mapped, std::int64_t bytes) {
  auto* begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto front = static_cast<std::int64_t>((kHugePage - address % kHugePage) % kHugePage);
  if (front > 0) munmap(begin, static_cast<std::size_t>(front));
  std::byte* data = begin + front;
  if (front < kHugePage) munmap(data + bytes, static_cast<std::size_t>(kHugePage - front));
  return data;
}

}  // namespace

std::int64_t available_memory_bytes() {
  return std::min(meminfo_available(), control_group_available());
}

Result<HugeMemory> HugeMemory::allocate(std::int64_t bytes, std::string_view purpose) {
  if (bytes <= 0) return HugeMemory();
  const std::int64_t available = available_memory_bytes();
  if (bytes > available) return fail(out_of_memory(bytes, available, purpose, ""));
  const bool huge = bytes >= kHugePage;
  const std::int64_t size = rounded_up(bytes, huge ? kHugePage : kSmallPage);
  const std::int64_t asked = huge ? size + kHugePage : size;
  void* mapped = mmap(nullptr, static_cast<std::size_t>(asked), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return fail(
        out_of_memory(bytes, available, purpose, fmt::format(" ({})", std::strerror(errno))));
  }
  if (!huge) return HugeMemory(static_cast<std::byte*>(mapped), size);
  std::byte* data = align_mapping(mapped, size);
  // Advice only: without huge pages the memory works as well, more slowly.
  madvise(data, static_cast<std::size_t>(size), MADV_HUGEPAGE);
  return HugeMemory(data, size);
}

HugeMemory::~HugeMemory() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

}  // namespace shardscope::engine
