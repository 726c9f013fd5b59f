#include "engine/codec/row_numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/codec/bit_io.hpp"

namespace shardscope::engine {
namespace {

constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;

std::uint64_t absorb(std::uint64_t sum, std::uint64_t word) {
  const std::uint64_t mixed = (sum ^ word) * kMultiplier;
  return mixed ^ (mixed >> 32);
}

/// Last bytes of a row, or a whole short one.
std::uint64_t partial_word(const std::byte* at, std::int64_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, static_cast<std::size_t>(bytes));
  return word;
}

/// Four sums side by side, as one would wait for its own product.
std::uint64_t hash_row(const std::byte* at, std::int64_t bytes) {
  std::uint64_t sums[4] = {1, 2, 3, 4};
  for (; bytes >= 32; at += 32, bytes -= 32) {
    for (int k = 0; k < 4; ++k) sums[k] = absorb(sums[k], load_le<std::uint64_t>(at + 8 * k));
  }
  for (; bytes >= 8; at += 8, bytes -= 8) sums[0] = absorb(sums[0], load_le<std::uint64_t>(at));
  if (bytes > 0) sums[1] = absorb(sums[1], partial_word(at, bytes));
  return absorb(absorb(sums[0], sums[1]) + std::rotl(sums[2], 17), sums[3]);
}

/// Rows whose hashes are known before the first of them is looked up, so that its slot is fetched.
constexpr std::int64_t kAhead = 16;

class Numbering {
 public:
  Numbering(std::byte* data, std::int64_t row_bytes, std::int64_t rows, const RowTable& table)
      : data_(data),
        row_bytes_(row_bytes),
        slots_(table.slots),
        mask_(static_cast<std::uint64_t>(RowTable::slots_for(rows)) - 1) {
    std::memset(slots_, 0, (mask_ + 1) * sizeof(std::uint64_t));
  }

  [[nodiscard]] std::uint64_t hash_of(std::int64_t row) const {
    const std::uint64_t hash = hash_row(data_ + row * row_bytes_, row_bytes_);
    __builtin_prefetch(slots_ + (hash & mask_), 1);
    return hash;
  }

  std::uint32_t number(std::int64_t row, std::uint64_t hash) {
    const std::byte* content = data_ + row * row_bytes_;
    const std::uint64_t tag = hash >> 32;
    std::uint64_t at = hash & mask_;
    for (; slots_[at] != 0; at = (at + 1) & mask_) {
      if (slots_[at] >> 32 != tag) continue;
      const auto known = static_cast<std::uint32_t>(slots_[at]) - 1;
      if (equal(content, data_ + static_cast<std::int64_t>(known) * row_bytes_)) return known;
    }
    slots_[at] = (tag << 32) | (distinct_ + 1);
    return append(content);
  }

  std::uint32_t append_apart(std::int64_t row) { return append(data_ + row * row_bytes_); }

  [[nodiscard]] std::int64_t distinct() const { return static_cast<std::int64_t>(distinct_); }

 private:
  [[nodiscard]] bool equal(const std::byte* a, const std::byte* b) const {
    return std::memcmp(a, b, static_cast<std::size_t>(row_bytes_)) == 0;
  }

  std::uint32_t append(const std::byte* content) {
    std::byte* to = data_ + static_cast<std::int64_t>(distinct_) * row_bytes_;
    if (to != content) std::memmove(to, content, static_cast<std::size_t>(row_bytes_));
    return static_cast<std::uint32_t>(distinct_++);
  }

  std::byte* data_;
  std::int64_t row_bytes_;
  std::uint64_t* slots_;
  std::uint64_t mask_;
  std::uint64_t distinct_ = 0;
};

}  // namespace

std::int64_t RowTable::slots_for(std::int64_t rows) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * rows, 16))));
}

std::int64_t number_rows(std::byte* data, std::int64_t row_bytes, std::int64_t rows,
                         const std::uint32_t* apart, std::int64_t apart_count,
                         const RowTable& table, std::uint32_t* index) {
  Numbering numbering(data, row_bytes, rows, table);
  std::array<std::uint64_t, kAhead> hashes;
  for (std::int64_t begin = 0; begin < rows; begin += kAhead) {
    // Rows move to the front at most as far as the row in hand: those ahead are still in place.
    const std::int64_t end = std::min(rows, begin + kAhead);
    for (std::int64_t r = begin; r < end; ++r) {
      hashes[static_cast<std::size_t>(r - begin)] = numbering.hash_of(r);
    }
    for (std::int64_t r = begin; r < end; ++r) {
      if (apart_count > 0 && *apart == static_cast<std::uint32_t>(r)) {
        index[r] = numbering.append_apart(r);
        ++apart;
        --apart_count;
        continue;
      }
      index[r] = numbering.number(r, hashes[static_cast<std::size_t>(r - begin)]);
    }
  }
  return numbering.distinct();
}

}  // namespace shardscope::engine
