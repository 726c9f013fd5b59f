#include "engine/codec/row_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shardscope::engine {
namespace {

/// Rows ahead of the one in hand whose slots are fetched.
constexpr std::int64_t kFetchAhead = 12;

class Numbering {
 public:
  Numbering(const ByteRows& rows, const RowTable& table, const RowNumbers& numbers)
      : rows_(rows),
        slots_(table.slots),
        hashes_(table.hashes),
        numbers_(numbers),
        mask_(static_cast<std::uint64_t>(RowTable::slots_for(rows.rows)) - 1) {
    std::memset(slots_, 0, (mask_ + 1) * sizeof(std::uint64_t));
    hash_rows(rows, hashes_);
  }

  void fetch(std::int64_t row) const {
    if (row < rows_.rows) __builtin_prefetch(slots_ + (hashes_[row] & mask_), 1);
  }

  void number(std::int64_t row) {
    const std::uint64_t tag = hashes_[row] >> 32;
    std::uint64_t at = hashes_[row] & mask_;
    for (; slots_[at] != 0; at = (at + 1) & mask_) {
      if (slots_[at] >> 32 != tag) continue;
      const auto known = static_cast<std::uint32_t>(slots_[at]) - 1;
      if (!equal(row, numbers_.first[known])) continue;
      numbers_.index[row] = known;
      return;
    }
    slots_[at] = (tag << 32) | (distinct_ + 1);
    append(row);
  }

  void append(std::int64_t row) {
    numbers_.first[distinct_] = static_cast<std::uint32_t>(row);
    numbers_.index[row] = static_cast<std::uint32_t>(distinct_++);
  }

  [[nodiscard]] std::int64_t distinct() const { return static_cast<std::int64_t>(distinct_); }

 private:
  [[nodiscard]] bool equal(std::int64_t a, std::int64_t b) const {
    return std::memcmp(rows_.row(a), rows_.row(b), static_cast<std::size_t>(rows_.row_bytes)) == 0;
  }

  ByteRows rows_;
  std::uint64_t* slots_;
  std::uint64_t* hashes_;
  RowNumbers numbers_;
  std::uint64_t mask_;
  std::uint64_t distinct_ = 0;
};

}  // namespace

std::int64_t RowTable::slots_for(std::int64_t rows) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * rows, 16))));
}

std::int64_t number_rows(const ByteRows& rows, const std::uint32_t* apart, std::int64_t apart_count,
                         const RowTable& table, const RowNumbers& numbers) {
  Numbering numbering(rows, table, numbers);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    numbering.fetch(r + kFetchAhead);
    if (apart_count > 0 && *apart == static_cast<std::uint32_t>(r)) {
      numbering.append(r);
      ++apart;
      --apart_count;
      continue;
    }
    numbering.number(r);
  }
  return numbering.distinct();
}

void gather_first(const ByteRows& rows, const std::uint32_t* first, std::int64_t count,
                  std::byte* to) {
  const auto bytes = static_cast<std::size_t>(rows.row_bytes);
  for (std::int64_t u = 0; u < count; ++u, to += bytes) {
    if (const std::byte* from = rows.row(first[u]); from != to) std::memmove(to, from, bytes);
  }
}

}  // namespace shardscope::engine
