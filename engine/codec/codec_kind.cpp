#include "engine/codec/codec_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace shardscope::engine {
namespace {

/// In the order of CodecKind.
constexpr std::array<std::string_view, kAllCodecs.size()> kCodecNames = {
    "raw",         "fp16",          "bf16",      "row-int8", "row-int4", "fixed",
    "dedup-fixed", "dedup-huffman", "vector-lz", "const",    "zstd",     "lz4"};

/// row-int8 with error feedback: a way to send, not a payload of its own.
constexpr std::string_view kRowInt8Feedback = "row-int8-ef";

std::string known_codecs() {
  std::string names;
  for (const std::string_view name : kCodecNames) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names + ", " + std::string(kRowInt8Feedback);
}

}  // namespace

std::string_view name_of(CodecKind kind) {
  return kCodecNames[static_cast<std::size_t>(kind)];
}

bool holds_bound(CodecKind kind) {
  switch (kind) {
    case CodecKind::fp16:
    case CodecKind::bf16:
    case CodecKind::row_int8:
    case CodecKind::row_int4:
      return false;
    default:
      return true;
  }
}

bool is_lossless(CodecKind kind) {
  return kind == CodecKind::raw || kind == CodecKind::zstd || kind == CodecKind::lz4;
}

Result<CodecSpec> codec_spec(const CodecSlot& slot) {
  const bool feedback = slot.name == kRowInt8Feedback;
  const auto found = std::find(kCodecNames.begin(), kCodecNames.end(),
                               feedback ? name_of(CodecKind::row_int8) : slot.name);
  if (found == kCodecNames.end()) {
    return fail({ErrorKind::usage, fmt::format("there is no codec '{}'", slot.name), "",
                 known_codecs(), ""});
  }
  if (!std::isfinite(slot.bound) || slot.bound < 0) {
    return fail({ErrorKind::usage, fmt::format("codec {} has the bound {}", slot.name, slot.bound),
                 "", "a finite bound of 0 or more", ""});
  }
  return CodecSpec{static_cast<CodecKind>(found - kCodecNames.begin()), slot.bound, slot.relative,
                   feedback};
}

}  // namespace shardscope::engine
