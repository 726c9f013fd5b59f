#pragma once
// Which distinct row stands at each place, as bits. Numbers count up in order of first appearance.

#include <cstdint>
#include <span>

#include "engine/codec/bit_io.hpp"
#include "engine/codec/huffman.hpp"

namespace shardscope::engine {

enum class IndexForm : std::uint8_t {
  none,     ///< row r is distinct row r
  plain,    ///< every number in as many bits as the largest needs
  flagged,  ///< a bit a row: first appearance or not; then the numbers of the others, each in as
            ///< many bits as the rows seen so far need
  huffman,  ///< Huffman codes; at most 256 distinct rows
};

/// The shortest form of an index and what it takes.
struct IndexPlan {
  IndexForm form = IndexForm::none;
  std::int64_t bytes = 0;  ///< at most
  CodeLengths lengths{};   ///< huffman only
};

[[nodiscard]] IndexPlan plan_index(const std::uint32_t* index, std::int64_t rows,
                                   std::int64_t distinct, bool allow_huffman);

/// `narrow` has room for `rows` bytes. Returns the byte behind.
[[nodiscard]] std::byte* write_index(const IndexPlan& plan, const std::uint32_t* index,
                                     std::int64_t rows, std::int64_t distinct, std::uint8_t* narrow,
                                     std::byte* out);

/// Every number comes back below `distinct`, which is at least 1 and at most `rows`.
[[nodiscard]] PayloadFault read_index(IndexForm form, ByteReader& reader, std::int64_t rows,
                                      std::int64_t distinct, std::uint8_t* narrow,
                                      std::uint32_t* index);

}  // namespace shardscope::engine
