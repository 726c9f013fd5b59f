#pragma once
// The codecs by name, and what each promises.

#include <array>
#include <cstdint>
#include <string_view>

#include "layout/layout.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

enum class CodecKind : std::uint8_t {
  raw,            ///< the bytes as they are
  fp16,           ///< rounded to nearest even; larger than 65,504 becomes infinity
  bf16,           ///< rounded to nearest even
  row_int8,       ///< 8 bits a value between the smallest and the largest of its row
  row_int4,       ///< 4 bits, likewise
  fixed,          ///< quantized; groups of 32 codes with as many bits as their largest needs
  dedup_fixed,    ///< each distinct row of codes once, as fixed; an index per row
  dedup_huffman,  ///< likewise, codes and index as Huffman codes where that is shorter
  vector_lz,      ///< the SC'24 paper's LZ over whole rows of codes, window of 32 rows
  constant,       ///< "const": one row where all rows are equal within the bound
  zstd,           ///< lossless, level 1
  lz4,            ///< lossless
};

inline constexpr std::array kAllCodecs = {
    CodecKind::raw,       CodecKind::fp16,     CodecKind::bf16,        CodecKind::row_int8,
    CodecKind::row_int4,  CodecKind::fixed,    CodecKind::dedup_fixed, CodecKind::dedup_huffman,
    CodecKind::vector_lz, CodecKind::constant, CodecKind::zstd,        CodecKind::lz4};

/// As in layouts and on the command line: "dedup-huffman".
[[nodiscard]] std::string_view name_of(CodecKind kind);

/// Whether |x - x'| <= bound holds for every finite x, and every other x comes back bit for bit.
/// The lossless ones hold any bound.
[[nodiscard]] bool holds_bound(CodecKind kind);

/// Whether x' is x, whatever the bound.
[[nodiscard]] bool is_lossless(CodecKind kind);

/// What both ends of an exchange know beforehand.
struct CodecSpec {
  CodecKind kind = CodecKind::raw;
  double bound = 0;      ///< largest error of a value; 0 asks for the values unchanged
  bool relative = true;  ///< bound x (largest - smallest finite value of the chunk), else absolute
  /// What coding loses of a row is added to the row when it travels next. Whoever sends keeps it;
  /// the payload is that of the kind.
  bool feedback = false;

  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

/// The spec of a layout's slot. An unknown name, or a bound that is negative or not finite, is an
/// error that names what there is.
[[nodiscard]] Result<CodecSpec> codec_spec(const CodecSlot& slot);

}  // namespace shardscope::engine
