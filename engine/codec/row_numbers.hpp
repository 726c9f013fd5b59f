#pragma once
// Equal rows found by content, in order of first appearance.

#include <cstddef>
#include <cstdint>

namespace shardscope::engine {

/// Rows of bytes, one after the other.
struct ByteRows {
  const std::byte* data = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t rows = 0;

  [[nodiscard]] const std::byte* row(std::int64_t r) const { return data + r * row_bytes; }
};

/// A 64-bit hash of every row. Values differ between instruction sets; equal rows have equal ones.
void hash_rows(const ByteRows& rows, std::uint64_t* hashes);

/// Memory of number_rows.
struct RowTable {
  std::uint64_t* slots = nullptr;   ///< slots_for(rows) of them
  std::uint64_t* hashes = nullptr;  ///< one a row

  [[nodiscard]] static std::int64_t slots_for(std::int64_t rows);
};

/// What number_rows finds.
struct RowNumbers {
  std::uint32_t* index = nullptr;  ///< the number of each row's content
  std::uint32_t* first = nullptr;  ///< by number: the first row with it
};

/// Numbers count up from 0 in order of first appearance. A row listed in `apart` (ascending row
/// numbers) equals no other row. Returns how many contents there are. At most 2^32 - 1 rows.
[[nodiscard]] std::int64_t number_rows(const ByteRows& rows, const std::uint32_t* apart,
                                       std::int64_t apart_count, const RowTable& table,
                                       const RowNumbers& numbers);

/// Copies rows first[0], first[1], ... to `to`, which may be where the rows are: ascending.
void gather_first(const ByteRows& rows, const std::uint32_t* first, std::int64_t count,
                  std::byte* to);

}  // namespace shardscope::engine
