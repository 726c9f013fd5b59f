// A payload of any bytes, with a fitting checksum so that they reach the decoders. Bytes 0 to 3:
// codec, whether and which bound, rows, columns; the rest is the payload behind the checksum.

#include <vector>

#include "engine/codec/chunk_codec.hpp"
#include "engine/codec/crc32c.hpp"
#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace shardscope::engine {
namespace {

void check_payload(std::span<const std::uint8_t> input) {
  if (input.size() < 5) return;
  const CodecKind kind = kAllCodecs[input[0] % kAllCodecs.size()];
  const double bounds[] = {0.03, 0.001, 1e-6, 0};
  const CodecSpec spec{kind, bounds[(input[1] >> 1) & 3U], (input[1] & 1U) != 0};
  const ChunkShape shape{input[2], input[3]};
  const CodecScratch scratch = CodecScratch::create(shape.values(), shape.rows).value();
  std::vector<std::byte> payload(input.size());
  for (std::size_t i = 4; i < input.size(); ++i) payload[i] = static_cast<std::byte>(input[i]);
  store_le(payload.data(), crc32c(std::span<const std::byte>(payload).subspan(4)));
  std::vector<float> out(static_cast<std::size_t>(shape.values()));
  const PayloadFault fault = decode_chunk(spec, payload, shape, scratch, out.data());
  if (fault != nullptr) {
    SHARDSCOPE_CHECK(*fault != '\0', "a mute fault");
    return;
  }
  // What could be decoded can be encoded.
  std::vector<std::byte> room(static_cast<std::size_t>(encode_room_bytes(shape.values())));
  const std::int64_t bytes = encode_chunk(spec, out.data(), shape, scratch, room);
  std::vector<float> again(out.size());
  SHARDSCOPE_CHECK(decode_chunk(spec, {room.data(), static_cast<std::size_t>(bytes)}, shape,
                                scratch, again.data()) == nullptr,
                   "a payload that its own decoder refuses");
}

}  // namespace
}  // namespace shardscope::engine

SHARDSCOPE_FUZZ_TARGET(codec_payload) {
  shardscope::engine::check_payload(input);
}
