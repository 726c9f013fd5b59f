// Bodies of row-int8 and row-int4: the scale of each row, then the codes of all rows.

#include "engine/codec/row_scaled.hpp"

#include "engine/codec/codec_body.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kScaleBytes = 8;

int levels_of(CodecKind kind) {
  return kind == CodecKind::row_int8 ? 255 : 15;
}

/// Codes of one row; rows start at a byte.
std::int64_t row_code_bytes(CodecKind kind, std::int64_t dim) {
  return kind == CodecKind::row_int8 ? dim : (dim + 1) / 2;
}

void pack_nibbles(const std::uint8_t* codes, std::int64_t count, std::byte* out) {
  std::int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    out[i / 2] = static_cast<std::byte>(codes[i] | (codes[i + 1] << 4));
  }
  if (i < count) out[i / 2] = static_cast<std::byte>(codes[i]);
}

void unpack_nibbles(const std::byte* from, std::int64_t count, std::uint8_t* codes) {
  std::int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const auto both = static_cast<std::uint8_t>(from[i / 2]);
    codes[i] = both & 15U;
    codes[i + 1] = both >> 4;
  }
  if (i < count) codes[i] = static_cast<std::uint8_t>(from[i / 2]) & 15U;
}

}  // namespace

std::byte* encode_row_scaled(const BodyInput& input, BodyOutput& output) {
  const auto [rows, dim] = input.shape;
  const CodecKind kind = input.spec.kind;
  const std::int64_t code_bytes = row_code_bytes(kind, dim);
  if (rows * (kScaleBytes + code_bytes) > output.room) return nullptr;
  output.tag.body = BodyForm::own;
  auto* codes = reinterpret_cast<std::uint8_t*>(input.scratch.bytes());
  std::byte* scales = output.at;
  std::byte* out = output.at + rows * kScaleBytes;
  for (std::int64_t r = 0; r < rows; ++r, out += code_bytes, scales += kScaleBytes) {
    const bool whole = kind == CodecKind::row_int8;
    auto* to = whole ? reinterpret_cast<std::uint8_t*>(out) : codes;
    store_le(scales, scale_row(input.values + r * dim, dim, levels_of(kind), to));
    if (!whole) pack_nibbles(codes, dim, out);
  }
  return out;
}

PayloadFault decode_row_scaled(const BodyReader& reader) {
  const auto [rows, dim] = reader.shape;
  const CodecKind kind = reader.spec.kind;
  const std::int64_t code_bytes = row_code_bytes(kind, dim);
  const auto scales = reader.bytes.take_bytes(static_cast<std::uint64_t>(rows * kScaleBytes));
  const auto packed = reader.bytes.take_bytes(static_cast<std::uint64_t>(rows * code_bytes));
  if (reader.bytes.failed()) return "ends inside its rows";
  auto* nibbles = reinterpret_cast<std::uint8_t*>(reader.scratch.bytes());
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::byte* from = packed.data() + r * code_bytes;
    const auto* codes = reinterpret_cast<const std::uint8_t*>(from);
    if (kind == CodecKind::row_int4) {
      unpack_nibbles(from, dim, nibbles);
      codes = nibbles;
    }
    unscale_row(codes, dim, load_le<RowScale>(scales.data() + r * kScaleBytes),
                reader.out + r * dim);
  }
  return nullptr;
}

}  // namespace shardscope::engine
