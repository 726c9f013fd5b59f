#include "engine/batches/row_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardscope::engine {
namespace {

/// Tables up to so many rows are held without hashing: 512 KiB of bits, 16 MiB of counts.
constexpr std::int64_t kDenseRows = std::int64_t{1} << 22;
constexpr std::int64_t kDenseKeys = 256;
constexpr int kFirstBits = 10;
constexpr int kWordBits = 64;

[[nodiscard]] bool too_full(std::int64_t size, std::size_t slots) {
  return static_cast<std::size_t>(size) * 8 > slots * 5;
}

}  // namespace

RowSet::RowSet(std::int64_t rows, std::int64_t expected_keys) {
  // Clearing a bitmap must not cost more than filling it: at most 64 bits a key.
  if (rows <= std::min(kDenseRows, std::max(expected_keys, kDenseKeys) * 64)) {
    bits_.resize(static_cast<std::size_t>(rows) / 64 + 1);
  } else {
    slots_.assign(std::size_t{1} << kFirstBits, kEmpty);
    shift_ = kWordBits - kFirstBits;
  }
}

bool RowSet::insert_hashed(std::int64_t row) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot_of(row);
  while (slots_[at] != kEmpty) {
    if (slots_[at] == row) return false;
    at = (at + 1) & mask;
  }
  slots_[at] = row;
  if (too_full(++size_, slots_.size())) grow();
  return true;
}

void RowSet::grow() {
  std::vector<std::int64_t> old(slots_.size() * 2, kEmpty);
  std::swap(old, slots_);
  --shift_;
  const std::size_t mask = slots_.size() - 1;
  for (const std::int64_t row : old) {
    if (row == kEmpty) continue;
    std::size_t at = slot_of(row);
    while (slots_[at] != kEmpty) at = (at + 1) & mask;
    slots_[at] = row;
  }
}

void RowSet::clear() {
  std::fill(bits_.begin(), bits_.end(), 0);
  std::fill(slots_.begin(), slots_.end(), kEmpty);
  size_ = 0;
}

RowCounts::RowCounts(std::int64_t rows) {
  if (rows <= kDenseRows) {
    dense_.resize(static_cast<std::size_t>(rows));
  } else {
    slots_.resize(std::size_t{1} << kFirstBits);
    shift_ = kWordBits - kFirstBits;
  }
}

void RowCounts::add(std::int64_t row) {
  if (!dense_.empty()) {
    std::uint32_t& count = dense_[static_cast<std::size_t>(row)];
    size_ += count == 0 ? 1 : 0;
    if (count < std::numeric_limits<std::uint32_t>::max()) ++count;
    return;
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot_of(row);
  while (slots_[at].count > 0 && slots_[at].row != row) at = (at + 1) & mask;
  Slot& slot = slots_[at];
  slot.row = row;
  if (++slot.count > 1) return;
  if (too_full(++size_, slots_.size())) grow();
}

void RowCounts::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  --shift_;
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.count == 0) continue;
    std::size_t at = slot_of(slot.row);
    while (slots_[at].count > 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace shardscope::engine
