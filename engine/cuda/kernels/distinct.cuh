#pragma once
// First position of every id: an open-addressing table filled by atomic operations. Which entry an
// id gets depends on the order of the threads; its first position does not.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

struct DistinctCall {
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  std::int64_t count = 0;
  void* entries = nullptr;    ///< capacity pairs (id + 1 or 0, first position), of the key's size
  std::int64_t capacity = 0;  ///< a power of two, at least twice the count
  std::uint32_t* first = nullptr;
  std::uint32_t* slot = nullptr;
};

template <class Word>
struct DistinctEntry {
  Word id;        ///< id + 1; 0: empty
  Word position;  ///< smallest so far
};

template <class Word>
SHARDSCOPE_DEVICE DistinctEntry<Word>* home_entry(const DistinctCall& call, Word id) {
  // Multiplication spreads consecutive and strided ids over the high bits.
  const std::uint64_t hash = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U;
  const std::uint64_t at = high_product(hash, static_cast<std::uint64_t>(call.capacity));
  return static_cast<DistinctEntry<Word>*>(call.entries) + at;
}

template <class Word>
SHARDSCOPE_DEVICE DistinctEntry<Word>* next_entry(const DistinctCall& call,
                                                  DistinctEntry<Word>* entry) {
  auto* first = static_cast<DistinctEntry<Word>*>(call.entries);
  ++entry;
  return entry == first + call.capacity ? first : entry;
}

template <class Word>
SHARDSCOPE_DEVICE void clear_entries(const DistinctCall& call) {
  auto* entries = static_cast<DistinctEntry<Word>*>(call.entries);
  for (std::int64_t n = thread_index(); n < call.capacity; n += thread_count()) {
    entries[n].id = 0;
    entries[n].position = ~Word{0};
  }
}

template <class Word>
SHARDSCOPE_DEVICE void insert_ids(const DistinctCall& call) {
  for (std::int64_t n = thread_index(); n < call.count; n += thread_count()) {
    const Word id = static_cast<Word>(id_at(call.ids, call.key, n)) + 1;
    const auto position = static_cast<Word>(n);
    DistinctEntry<Word>* entry = home_entry(call, id);
    for (;; entry = next_entry(call, entry)) {
      Word there = atomic_load(&entry->id);
      if (there == 0) there = atomic_cas(&entry->id, Word{0}, id);
      if (there == 0 || there == id) break;
    }
    // A hot id's later occurrences only look.
    if (atomic_load(&entry->position) > position) atomic_min(&entry->position, position);
  }
}

template <class Word>
SHARDSCOPE_DEVICE void find_ids(const DistinctCall& call) {
  for (std::int64_t n = thread_index(); n < call.count; n += thread_count()) {
    const Word id = static_cast<Word>(id_at(call.ids, call.key, n)) + 1;
    const DistinctEntry<Word>* entry = home_entry(call, id);
    while (entry->id != id) entry = next_entry(call, const_cast<DistinctEntry<Word>*>(entry));
    call.first[n] = static_cast<std::uint32_t>(entry->position);
  }
}

SHARDSCOPE_KERNEL void distinct_clear_kernel(const DistinctCall* calls) {
  const DistinctCall& call = calls[block_y()];
  if (call.key == KeyType::i64) {
    clear_entries<std::uint64_t>(call);
  } else {
    clear_entries<std::uint32_t>(call);
  }
}

SHARDSCOPE_KERNEL void distinct_insert_kernel(const DistinctCall* calls) {
  const DistinctCall& call = calls[block_y()];
  if (call.key == KeyType::i64) {
    insert_ids<std::uint64_t>(call);
  } else {
    insert_ids<std::uint32_t>(call);
  }
}

SHARDSCOPE_KERNEL void distinct_first_kernel(const DistinctCall* calls) {
  const DistinctCall& call = calls[block_y()];
  if (call.key == KeyType::i64) {
    find_ids<std::uint64_t>(call);
  } else {
    find_ids<std::uint32_t>(call);
  }
}

/// Repeated ids take the slot of their first occurrence.
SHARDSCOPE_KERNEL void distinct_slot_kernel(const DistinctCall* calls) {
  const DistinctCall& call = calls[block_y()];
  for (std::int64_t n = thread_index(); n < call.count; n += thread_count()) {
    const std::uint32_t first = call.first[n];
    if (first != static_cast<std::uint32_t>(n)) call.slot[n] = call.slot[first];
  }
}

}  // namespace shardscope::engine::cuda
