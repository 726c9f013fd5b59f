#pragma once
// The byte that tells a payload's forms. From the lowest bit up: body 2, index 2, codes 2, whether
// escapes follow, whether a step precedes the body.

#include <cstdint>

#include "engine/codec/code_section.hpp"
#include "engine/codec/row_index.hpp"

namespace shardscope::engine {

enum class BodyForm : std::uint8_t {
  values,    ///< fp32 as they were
  sections,  ///< fixed, dedup-fixed, dedup-huffman: index, codes, escapes
  tokens,    ///< vector-lz
  own,       ///< whatever the codec's name says
};

struct PayloadTag {
  BodyForm body = BodyForm::values;
  IndexForm index = IndexForm::none;
  CodeForm codes = CodeForm::planes;
  bool escapes = false;
  bool step = false;

  [[nodiscard]] std::uint8_t packed() const {
    return static_cast<std::uint8_t>(
        static_cast<unsigned>(body) | (static_cast<unsigned>(index) << 2) |
        (static_cast<unsigned>(codes) << 4) | (escapes ? 64U : 0U) | (step ? 128U : 0U));
  }
  [[nodiscard]] static PayloadTag unpacked(std::uint8_t bits) {
    return {static_cast<BodyForm>(bits & 3U), static_cast<IndexForm>((bits >> 2) & 3U),
            static_cast<CodeForm>((bits >> 4) & 3U), (bits & 64U) != 0, (bits & 128U) != 0};
  }
};

}  // namespace shardscope::engine
