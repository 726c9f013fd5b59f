#include "tests/engine/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations_made{0};

void* counted(std::size_t size) {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* counted(std::size_t size, std::align_val_t alignment) {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  const auto align = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Never inlined: a compiler that sees free() beside a call of new would warn of a mismatch.
#define SHARDSCOPE_COUNTED [[gnu::noinline]]

SHARDSCOPE_COUNTED void* operator new(std::size_t size) {
  return counted(size);
}
SHARDSCOPE_COUNTED void* operator new[](std::size_t size) {
  return counted(size);
}
SHARDSCOPE_COUNTED void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, alignment);
}
SHARDSCOPE_COUNTED void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, alignment);
}
// std::stable_sort asks this way; without it a sanitizer's own new would meet our delete.
SHARDSCOPE_COUNTED void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
SHARDSCOPE_COUNTED void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete(void* memory) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete[](void* memory) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
SHARDSCOPE_COUNTED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace shardscope::engine {

AllocationCount::AllocationCount() : before_(allocations_made.load()) {}

std::int64_t AllocationCount::allocations() const {
  return allocations_made.load() - before_;
}

}  // namespace shardscope::engine
