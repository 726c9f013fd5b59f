#include "engine/pipeline/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "layout/invariant.hpp"

namespace shardscope::engine {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSeparateBlocks = true;
#else
constexpr bool kSeparateBlocks = false;
#endif

std::int64_t free_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::create(std::int32_t rank,
                                             const std::vector<BufferSpec>& list) {
  std::unique_ptr<Arena> arena(new Arena);
  const auto allocate = [&](std::int64_t bytes) -> std::byte* {
    const auto size = static_cast<std::size_t>(bytes);
    void* block = nullptr;
    if (kSeparateBlocks) {
      block = std::aligned_alloc(kBufferAlignment, size);
      if (block != nullptr) std::memset(block, 0, size);
    } else {
      block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED) block = nullptr;
      if (block != nullptr) madvise(block, size, MADV_HUGEPAGE);
    }
    if (block != nullptr) arena->blocks_.emplace_back(block, size);
    return static_cast<std::byte*>(block);
  };
  const std::int64_t total = arena_bytes(list);
  const auto shortfall = [&] {
    return fail({ErrorKind::infeasible,
                 fmt::format("no memory for the buffers: {} bytes asked, {} bytes free", total,
                             free_memory_bytes()),
                 fmt::format("rank {}", rank), "",
                 "Cap the rows, lower the batch or run fewer ranks"});
  };
  std::byte* next = nullptr;
  if (!kSeparateBlocks && total > 0) {
    next = allocate(total);
    if (next == nullptr) return shortfall();
  }
  for (const BufferSpec& spec : list) {
    const std::int64_t size = aligned_bytes(spec.bytes);
    Buffer buffer{next, spec.bytes, false};
    if (kSeparateBlocks) {
      buffer.data = size > 0 ? allocate(size) : nullptr;
      if (size > 0 && buffer.data == nullptr) return shortfall();
    } else if (next != nullptr) {
      next += size;
    }
    const bool added = arena->buffers_.emplace(std::pair(spec.table, spec.name), buffer).second;
    SHARDSCOPE_CHECK(added, "two buffers of one name");
  }
  return arena;
}

Arena::~Arena() {
  for (const auto& [block, size] : blocks_) {
    if (kSeparateBlocks) {
      std::free(block);
    } else {
      munmap(block, size);
    }
  }
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
