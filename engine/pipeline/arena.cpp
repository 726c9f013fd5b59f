#include "engine/pipeline/arena.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "engine/device.hpp"
#include "layout/invariant.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace shardscope::engine {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t kGuardBytes = 64;
void poison(std::byte* from, std::int64_t bytes) {
  ASAN_POISON_MEMORY_REGION(from, static_cast<std::size_t>(bytes));
}
void unpoison(std::byte* from, std::int64_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(from, static_cast<std::size_t>(bytes));
}
#else
constexpr std::int64_t kGuardBytes = 0;
void poison(std::byte* /*from*/, std::int64_t /*bytes*/) {}
void unpoison(std::byte* /*from*/, std::int64_t /*bytes*/) {}
#endif

/// "weights 2.50 GiB, communication 0.31 GiB": the layout's accounting, largest first.
std::string accounting(const std::vector<BufferSpec>& list) {
  static constexpr std::array<const char*, 8> kNames = {
      "weights", "optimizer state", "transients", "communication", "indices",
      "sort",    "gradients",       "dense part"};
  std::array<std::pair<std::int64_t, const char*>, kNames.size()> sums{};
  for (std::size_t i = 0; i < kNames.size(); ++i) sums[i].second = kNames[i];
  for (const BufferSpec& spec : list) {
    sums[static_cast<std::size_t>(spec.purpose)].first += aligned_bytes(spec.bytes);
  }
  std::sort(sums.begin(), sums.end(), std::greater<>());
  std::string text;
  for (const auto& [bytes, name] : sums) {
    if (bytes == 0) continue;
    text += fmt::format("{}{} {:.3f} GiB", text.empty() ? "" : ", ", name,
                        static_cast<double>(bytes) / (1 << 30));
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::create(std::int32_t rank, const std::vector<BufferSpec>& list,
                                             Device* device) {
  const auto guards = kGuardBytes * static_cast<std::int64_t>(list.size());
  const std::int64_t bytes = arena_bytes(list) + guards;
  const std::string purpose = fmt::format("arena of rank {}: {}", rank, accounting(list));
  std::unique_ptr<Arena> arena(new Arena);
  if (device != nullptr) {
    auto memory = device->allocate(rank, bytes, purpose);
    if (!memory) return fail(memory.error());
    arena->device_memory_ = std::move(*memory);
  } else {
    auto memory = HugeMemory::allocate(bytes, purpose);
    if (!memory) return fail(memory.error());
    arena->memory_ = std::move(*memory);
    poison(arena->memory_.data(), arena->memory_.bytes());
  }
  std::byte* next =
      arena->device_memory_ != nullptr ? arena->device_memory_.get() : arena->memory_.data();
  for (const BufferSpec& spec : list) {
    unpoison(next, spec.bytes);
    const bool added =
        arena->buffers_.emplace(std::pair(spec.table, spec.name), Buffer{next, spec.bytes, false})
            .second;
    SHARDSCOPE_CHECK(added, "two buffers of one name");
    next += aligned_bytes(spec.bytes) + kGuardBytes;
  }
  return arena;
}

Arena::~Arena() {
  unpoison(memory_.data(), memory_.bytes());
}

Arena::Buffer& Arena::find(std::string_view name, std::int32_t table) {
  const auto found = buffers_.find(std::pair(table, std::string(name)));
  SHARDSCOPE_CHECK(found != buffers_.end(), std::string(name).c_str());
  if (!found->second.handed_out) {
    found->second.handed_out = true;
    used_bytes_ += aligned_bytes(found->second.bytes);
  }
  return found->second;
}

bool Arena::has(std::string_view name, std::int32_t table) const {
  return buffers_.contains(std::pair(table, std::string(name)));
}

std::int64_t Arena::bytes(std::string_view name, std::int32_t table) const {
  const auto found = buffers_.find(std::pair(table, std::string(name)));
  SHARDSCOPE_CHECK(found != buffers_.end(), std::string(name).c_str());
  return found->second.bytes;
}

}  // namespace shardscope::engine
