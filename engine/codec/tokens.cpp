// Body of vector-lz: LZSS whose symbol is a whole row of codes (Feng et al., SC'24). Blocks of
// 2,048 rows, window 32. A token is a flag bit and either a length and an offset (a byte each) or a
// row of codes. Of the window the longest run of equal rows is taken, the oldest among equals; a
// run ends before the row in hand.

#include <algorithm>
#include <cstring>

#include "engine/codec/quantized_chunk.hpp"
#include "engine/codec/row_numbers.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kBlockRows = 2048;
constexpr std::int64_t kWindow = 32;

struct Match {
  std::int64_t length = 0;
  std::int64_t offset = 0;
};

/// The walk of the paper's kernel: a pointer goes through the window once; where rows differ the
/// run starts anew behind it.
Match longest_match(const std::uint32_t* index, std::int64_t begin, std::int64_t at,
                    std::int64_t end) {
  Match best;
  Match run;
  for (std::int64_t search = std::max(begin, at - kWindow); search < at; ++search) {
    if (at + run.length < end && index[search] == index[at + run.length]) {
      if (run.length == 0) run.offset = at - search;
      if (++run.length > best.length) best = run;
    } else {
      run.length = 0;
    }
  }
  return best;
}

/// Writes the tokens of rows [begin, end): their number, the flags, the data.
class BlockWriter {
 public:
  BlockWriter(const std::uint32_t* index, const std::byte* distinct, std::int64_t row_bytes)
      : index_(index), distinct_(distinct), row_bytes_(row_bytes) {}

  /// Null where the block would pass `limit`.
  std::byte* write(std::int64_t begin, std::int64_t end, std::byte* out, const std::byte* limit) {
    Match tokens[kBlockRows];
    std::int64_t count = 0;
    std::int64_t data_bytes = 0;
    for (std::int64_t r = begin; r < end;) {
      const Match match = longest_match(index_, begin, r, end);
      tokens[count++] = match;
      data_bytes += match.length > 0 ? 2 : row_bytes_;
      r += std::max<std::int64_t>(match.length, 1);
    }
    const std::int64_t flag_bytes = (count + 7) / 8;
    const std::int64_t head = varint_bytes(static_cast<std::uint32_t>(count));
    if (head + flag_bytes + data_bytes > limit - out) return nullptr;
    out = put_varint(out, static_cast<std::uint32_t>(count));
    std::memset(out, 0, static_cast<std::size_t>(flag_bytes));
    std::byte* data = out + flag_bytes;
    std::int64_t r = begin;
    for (std::int64_t t = 0; t < count; ++t) {
      const Match& match = tokens[t];
      if (match.length > 0) {
        out[t / 8] |= static_cast<std::byte>(1U << (t % 8));
        *data++ = static_cast<std::byte>(match.length);
        *data++ = static_cast<std::byte>(match.offset);
        r += match.length;
        continue;
      }
      std::memcpy(data, distinct_ + static_cast<std::int64_t>(index_[r]) * row_bytes_,
                  static_cast<std::size_t>(row_bytes_));
      data += row_bytes_;
      ++r;
    }
    return data;
  }

 private:
  const std::uint32_t* index_;
  const std::byte* distinct_;
  std::int64_t row_bytes_;
};

/// Fills rows [begin, end) of `codes`.
PayloadFault read_block(ByteReader& reader, std::int64_t begin, std::int64_t end,
                        std::int64_t row_bytes, std::byte* codes) {
  const std::int64_t count = reader.take_varint();
  if (count > end - begin) return "has more tokens than rows";
  const auto flags = reader.take_bytes(static_cast<std::uint64_t>((count + 7) / 8));
  if (reader.failed()) return "ends inside its flags";
  std::int64_t r = begin;
  for (std::int64_t t = 0; t < count; ++t) {
    const auto byte = static_cast<unsigned>(flags[static_cast<std::size_t>(t / 8)]);
    if (((byte >> (t % 8)) & 1U) == 0) {
      const auto row = reader.take_bytes(static_cast<std::uint64_t>(row_bytes));
      if (reader.failed()) return "ends inside a row";
      if (r == end) return "has more rows than it should";
      std::memcpy(codes + r * row_bytes, row.data(), row.size());
      ++r;
      continue;
    }
    const std::int64_t length = reader.take<std::uint8_t>();
    const std::int64_t offset = reader.take<std::uint8_t>();
    if (reader.failed()) return "ends inside a match";
    if (length < 1 || length > offset) return "has a match of an impossible length";
    if (offset > r - begin) return "has a match before its block";
    if (length > end - r) return "has a match beyond its block";
    std::memcpy(codes + r * row_bytes, codes + (r - offset) * row_bytes,
                static_cast<std::size_t>(length * row_bytes));
    r += length;
  }
  return r == end ? nullptr : "has fewer rows than it should";
}

}  // namespace

std::byte* encode_tokens(const BodyInput& input, BodyOutput& output) {
  QuantizedChunk chunk;
  chunk.values = input.values;
  chunk.shape = input.shape;
  const CodecScratch& scratch = input.scratch;
  if (!quantize_chunk(input.spec, scratch, chunk)) return nullptr;
  const bool narrow = chunk.codes.bytes != nullptr;
  const auto* codes = reinterpret_cast<const std::byte*>(scratch.words());
  const std::int64_t row_bytes = narrow ? input.shape.dim : 4 * input.shape.dim;
  const std::int64_t rows = input.shape.rows;
  static_cast<void>(number_codes(scratch, chunk));
  const std::byte* limit = output.at + output.room - escape_bytes(chunk.escapes);
  if (limit - output.at < 4) return nullptr;
  output.tag = {BodyForm::tokens, IndexForm::none, narrow ? CodeForm::planes : CodeForm::words,
                chunk.escapes.count > 0, false};
  std::byte* at = write_step(input, chunk.quantizer, output);
  BlockWriter writer(scratch.code_index(), codes, row_bytes);
  for (std::int64_t begin = 0; begin < rows; begin += kBlockRows) {
    at = writer.write(begin, std::min(rows, begin + kBlockRows), at, limit);
    if (at == nullptr) return nullptr;
  }
  return write_escapes(chunk.escapes, chunk.escapes.positions, input.values, at);
}

PayloadFault decode_tokens(const BodyReader& reader) {
  const bool narrow = reader.tag.codes == CodeForm::planes;
  if (reader.tag.index != IndexForm::none || (!narrow && reader.tag.codes != CodeForm::words)) {
    return "has a form that its codec does not make";
  }
  float step = 0;
  if (const PayloadFault fault = read_step(reader, step)) return fault;
  const ChunkShape& shape = reader.shape;
  auto* codes = reinterpret_cast<std::byte*>(reader.scratch.words());
  const std::int64_t row_bytes = narrow ? shape.dim : 4 * shape.dim;
  for (std::int64_t begin = 0; begin < shape.rows; begin += kBlockRows) {
    if (const PayloadFault fault = read_block(
            reader.bytes, begin, std::min(shape.rows, begin + kBlockRows), row_bytes, codes)) {
      return fault;
    }
  }
  const Expand expand{codes, nullptr, shape.rows, shape.dim, step, reader.out};
  if (narrow) {
    expand_8(expand);
  } else {
    expand_32(expand);
  }
  if (!reader.tag.escapes) return nullptr;
  ReadEscapes escapes;
  if (const PayloadFault fault = read_escapes(reader.bytes, shape.values(), escapes)) return fault;
  for (std::int64_t i = 0; i < escapes.count; ++i) {
    reader.out[escapes.position(i)] = escapes.value(i);
  }
  return nullptr;
}

}  // namespace shardscope::engine
