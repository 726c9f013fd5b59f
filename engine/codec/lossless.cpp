#include "engine/codec/lossless.hpp"

#include <lz4.h>
// Contexts in memory of the caller belong to this part of the library.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <algorithm>
#include <climits>

#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

constexpr int kZstdLevel = 1;

std::size_t state_bytes() {
  return std::max({ZSTD_estimateCCtxSize(kZstdLevel), ZSTD_estimateDCtxSize(),
                   static_cast<std::size_t>(LZ4_sizeofState())});
}

std::byte* encode_zstd(const BodyInput& input, const BodyOutput& output) {
  ZSTD_CCtx* context = ZSTD_initStaticCCtx(input.scratch.compressor(), state_bytes());
  SHARDSCOPE_CHECK(context != nullptr, "zstd's context does not fit its memory");
  const std::size_t bytes =
      ZSTD_compressCCtx(context, output.at, static_cast<std::size_t>(output.room), input.values,
                        static_cast<std::size_t>(4 * input.shape.values()), kZstdLevel);
  return ZSTD_isError(bytes) != 0U ? nullptr : output.at + bytes;
}

std::byte* encode_lz4(const BodyInput& input, const BodyOutput& output) {
  const std::int64_t bytes = 4 * input.shape.values();
  if (bytes > LZ4_MAX_INPUT_SIZE) return nullptr;
  const int written = LZ4_compress_fast_extState(
      input.scratch.compressor(), reinterpret_cast<const char*>(input.values),
      reinterpret_cast<char*>(output.at), static_cast<int>(bytes),
      static_cast<int>(std::min<std::int64_t>(output.room, INT_MAX)), 1);
  return written <= 0 ? nullptr : output.at + written;
}

PayloadFault decode_zstd(const BodyReader& reader, std::span<const std::byte> from,
                         std::size_t bytes) {
  ZSTD_DCtx* context = ZSTD_initStaticDCtx(reader.scratch.compressor(), state_bytes());
  SHARDSCOPE_CHECK(context != nullptr, "zstd's context does not fit its memory");
  const std::size_t got = ZSTD_decompressDCtx(context, reader.out, bytes, from.data(), from.size());
  if (ZSTD_isError(got) != 0U) return "is no zstd frame of the chunk's size";
  return got == bytes ? nullptr : "holds fewer values than the chunk";
}

PayloadFault decode_lz4(const BodyReader& reader, std::span<const std::byte> from,
                        std::size_t bytes) {
  if (from.size() > INT_MAX || bytes > INT_MAX) return "is too large for LZ4";
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()),
                                      reinterpret_cast<char*>(reader.out),
                                      static_cast<int>(from.size()), static_cast<int>(bytes));
  if (got < 0) return "is no LZ4 block of the chunk's size";
  return static_cast<std::size_t>(got) == bytes ? nullptr : "holds fewer values than the chunk";
}

}  // namespace

std::int64_t lossless_state_bytes() {
  return static_cast<std::int64_t>(state_bytes());
}

std::byte* encode_lossless(const BodyInput& input, BodyOutput& output) {
  output.tag.body = BodyForm::own;
  return input.spec.kind == CodecKind::zstd ? encode_zstd(input, output)
                                            : encode_lz4(input, output);
}

PayloadFault decode_lossless(const BodyReader& reader) {
  const auto bytes = static_cast<std::size_t>(4 * reader.shape.values());
  const auto from = reader.bytes.take_bytes(reader.bytes.rest().size());
  return reader.spec.kind == CodecKind::zstd ? decode_zstd(reader, from, bytes)
                                             : decode_lz4(reader, from, bytes);
}

}  // namespace shardscope::engine
