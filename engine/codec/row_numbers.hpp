#pragma once
// Equal rows found by content, in order of first appearance.

#include <cstddef>
#include <cstdint>

namespace shardscope::engine {

/// Memory of number_rows.
struct RowTable {
  std::uint64_t* slots = nullptr;  ///< row_table_slots(rows) of them

  [[nodiscard]] static std::int64_t slots_for(std::int64_t rows);
};

/// index[r] becomes the number of row r's content; numbers count up from 0 in order of first
/// appearance. The distinct rows are moved together to the front of `data`, in order of their
/// numbers. A row whose entry in `apart` (sorted row numbers, may be empty) is listed equals no
/// other row. Returns how many there are. At most 2^32 - 1 rows.
[[nodiscard]] std::int64_t number_rows(std::byte* data, std::int64_t row_bytes, std::int64_t rows,
                                       const std::uint32_t* apart, std::int64_t apart_count,
                                       const RowTable& table, std::uint32_t* index);

}  // namespace shardscope::engine
