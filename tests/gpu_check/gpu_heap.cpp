#include "tests/gpu_check/gpu_heap.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace shardscope::engine::testing {
namespace {

/// Blocks of powers of two, each at a multiple of its size up to a page; what is freed is kept by
/// size. A page's size class stands beside the block.
class GpuHeap {
 public:
  void open(std::byte* block, std::size_t bytes) {
    const std::size_t shift = (kPage - reinterpret_cast<std::uintptr_t>(block) % kPage) % kPage;
    first_ = block + shift;
    pages_ = std::min((bytes - shift) / kPage, classes_.size());
  }

  void* take(std::size_t bytes) {
    const auto size_class =
        static_cast<std::size_t>(std::bit_width(std::max(bytes, kSmallest) - 1));
    const std::lock_guard lock(mutex_);
    if (free_[size_class] == nullptr) refill(size_class);
    FreeBlock* block = free_[size_class];
    if (block != nullptr) free_[size_class] = block->next;
    return block;
  }

  [[nodiscard]] bool owns(const void* memory) const {
    const auto* at = static_cast<const std::byte*>(memory);
    return first_ != nullptr && at >= first_ && at < first_ + pages_ * kPage;
  }

  void give(void* memory) {
    const std::lock_guard lock(mutex_);
    const std::size_t page =
        static_cast<std::size_t>(static_cast<std::byte*>(memory) - first_) / kPage;
    auto* block = static_cast<FreeBlock*>(memory);
    block->next = free_[classes_[page]];
    free_[classes_[page]] = block;
  }

  [[nodiscard]] bool is_open() const { return first_ != nullptr; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };

  static constexpr std::size_t kPage = std::size_t{64} << 10;
  static constexpr std::size_t kSmallest = 16;
  static constexpr std::size_t kMostPages = std::size_t{1} << 15;

  void refill(std::size_t size_class) {
    const std::size_t bytes = std::size_t{1} << size_class;
    const std::size_t pages = std::max<std::size_t>(bytes / kPage, 1);
    if (used_ + pages > pages_) return;
    std::byte* from = first_ + used_ * kPage;
    for (std::size_t n = 0; n < pages; ++n) {
      classes_[used_ + n] = static_cast<std::uint8_t>(size_class);
    }
    used_ += pages;
    for (std::size_t at = 0; at + bytes <= pages * kPage; at += bytes) {
      auto* block = reinterpret_cast<FreeBlock*>(from + at);
      block->next = free_[size_class];
      free_[size_class] = block;
    }
  }

  std::mutex mutex_;
  std::byte* first_ = nullptr;
  std::size_t pages_ = 0;
  std::size_t used_ = 0;
  std::array<std::uint8_t, kMostPages> classes_{};
  std::array<FreeBlock*, 48> free_{};
};

GpuHeap& gpu_heap() {
  // Never destroyed: the last `delete` comes after every destructor.
  alignas(GpuHeap) static std::byte memory[sizeof(GpuHeap)];
  static auto* heap = ::new (static_cast<void*>(memory)) GpuHeap;
  return *heap;
}

void* take_memory(std::size_t bytes, std::size_t alignment) {
  GpuHeap& heap = gpu_heap();
  void* memory = heap.is_open() ? heap.take(std::max(bytes, alignment)) : nullptr;
  if (memory == nullptr && !heap.is_open()) {
    memory = std::aligned_alloc(
        alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_memory(void* memory) {
  if (memory == nullptr) return;
  if (gpu_heap().owns(memory)) {
    gpu_heap().give(memory);
  } else {
    std::free(memory);
  }
}

constexpr std::size_t kDefaultAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void set_heap(std::byte* block, std::size_t bytes) {
  gpu_heap().open(block, bytes);
}

std::byte* take_stack(std::size_t bytes) {
  if (!gpu_heap().is_open()) return nullptr;
  return static_cast<std::byte*>(gpu_heap().take(bytes));
}

}  // namespace shardscope::engine::testing

namespace heap = shardscope::engine::testing;

void* operator new(std::size_t bytes) {
  return heap::take_memory(bytes, heap::kDefaultAlignment);
}
void* operator new[](std::size_t bytes) {
  return heap::take_memory(bytes, heap::kDefaultAlignment);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return heap::take_memory(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return heap::take_memory(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  heap::give_memory(memory);
}
void operator delete[](void* memory) noexcept {
  heap::give_memory(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  heap::give_memory(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  heap::give_memory(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  heap::give_memory(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  heap::give_memory(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  heap::give_memory(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  heap::give_memory(memory);
}
