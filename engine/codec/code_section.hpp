#pragma once
// The codes of distinct rows as a section of a payload: bit planes, Huffman codes, or the values
// themselves where no step holds the bound.

#include <cstdint>

#include "engine/codec/bit_io.hpp"
#include "engine/codec/huffman.hpp"
#include "engine/codec/scratch.hpp"

namespace shardscope::engine {

enum class CodeForm : std::uint8_t {
  planes,   ///< a byte (smallest width | bits of a width field << 5), the fields, the planes
  huffman,  ///< smallest code (zigzag), range of codes, code lengths, segments
  words,    ///< fp32 values
};

/// Codes of one chunk: `bytes` or `words` is set.
struct CodeArray {
  std::int8_t* bytes = nullptr;
  std::int32_t* words = nullptr;
  std::int64_t count = 0;
};

/// The shorter form, and what it takes.
struct CodePlan {
  CodeForm form = CodeForm::planes;
  std::int64_t bytes = 0;  ///< at most
  int smallest_width = 0;  ///< planes
  int field_bits = 0;
  std::int32_t low = 0;  ///< huffman
  std::uint32_t range = 0;
  int spare_bits = 0;
  CodeLengths lengths{};
};

/// Fills the last group with zeros and scratch.widths().
[[nodiscard]] CodePlan plan_codes(const CodeArray& codes, const CodecScratch& scratch,
                                  bool allow_huffman);

[[nodiscard]] std::byte* write_codes(const CodePlan& plan, const CodeArray& codes,
                                     const CodecScratch& scratch, std::byte* out);

/// Reads `count` codes into the scratch's words or, where all fit, its bytes; `codes` tells which.
[[nodiscard]] PayloadFault read_codes(CodeForm form, ByteReader& reader, std::int64_t count,
                                      const CodecScratch& scratch, CodeArray& codes);

}  // namespace shardscope::engine
