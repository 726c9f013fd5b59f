#pragma once
// Compact sets and counts of table rows.

#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"

namespace shardscope::engine {

/// Distinct rows of one table. A bitmap where the table is small or densely read, else linear
/// probing over 8-byte keys at most 5/8 full. clear() keeps the memory.
class RowSet {
 public:
  /// Rows are in [0, rows); about `expected_keys` are inserted between two clears.
  RowSet(std::int64_t rows, std::int64_t expected_keys);

  /// True when the row was not in the set.
  bool insert(std::int64_t row) {
    if (!bits_.empty()) {
      std::uint64_t& word = bits_[static_cast<std::size_t>(row) >> 6];
      const std::uint64_t bit = std::uint64_t{1} << (row & 63);
      const bool fresh = (word & bit) == 0;
      word |= bit;
      size_ += fresh ? 1 : 0;
      return fresh;
    }
    return insert_hashed(row);
  }
  /// Asks for the memory that insert(row) will touch.
  void prefetch(std::int64_t row) const {
    if (bits_.empty()) __builtin_prefetch(&slots_[slot_of(row)], 1);
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  void clear();

 private:
  static constexpr std::int64_t kEmpty = -1;

  [[nodiscard]] std::size_t slot_of(std::int64_t row) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15ULL) >>
                                    shift_);
  }
  bool insert_hashed(std::int64_t row);
  void grow();

  std::vector<std::uint64_t> bits_;
  std::vector<std::int64_t> slots_;
  int shift_ = 0;
  std::int64_t size_ = 0;
};

/// How often each row of one table was read. An array for small tables, else linear probing.
class RowCounts {
 public:
  explicit RowCounts(std::int64_t rows);

  void add(std::int64_t row);
  void prefetch(std::int64_t row) const {
    if (dense_.empty()) __builtin_prefetch(&slots_[slot_of(row)], 1);
  }
  /// Distinct rows added.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Calls visit(row, count) for every row added, in no particular order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t row = 0; row < dense_.size(); ++row) {
      if (dense_[row] > 0) visit(static_cast<std::int64_t>(row), std::int64_t{dense_[row]});
    }
    for (const Slot& slot : slots_) {
      if (slot.count > 0) visit(slot.row, static_cast<std::int64_t>(slot.count));
    }
  }

 private:
  struct Slot {
    std::int64_t row = 0;
    std::uint64_t count = 0;
  };
  [[nodiscard]] std::size_t slot_of(std::int64_t row) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15ULL) >>
                                    shift_);
  }
  void grow();

  std::vector<std::uint32_t> dense_;
  std::vector<Slot> slots_;
  int shift_ = 0;
  std::int64_t size_ = 0;
};

/// Calls visit(row) for ids [first, last) in order and prefetch(row) some ids ahead.
template <class Prefetch, class Visit>
void for_each_id(const Ids& ids, std::int64_t first, std::int64_t last, const Prefetch& prefetch,
                 const Visit& visit) {
  constexpr std::int64_t kAhead = 16;
  const auto walk = [&](const auto* keys) {
    for (std::int64_t i = first; i < last; ++i) {
      if (i + kAhead < last) prefetch(static_cast<std::int64_t>(keys[i + kAhead]));
      visit(static_cast<std::int64_t>(keys[i]));
    }
  };
  if (ids.type == KeyType::i32) {
    walk(ids.i32.data());
  } else {
    walk(ids.i64.data());
  }
}

}  // namespace shardscope::engine
