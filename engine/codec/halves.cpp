// Bodies of fp16 and bf16.

#include <algorithm>
#include <cstring>

#include "engine/codec/codec_body.hpp"
#include "engine/cpu/kernels.hpp"

namespace shardscope::engine {
namespace {

DType type_of(CodecKind kind) {
  return kind == CodecKind::fp16 ? DType::fp16 : DType::bf16;
}

/// A chunk as one long row.
CopyColumns conversion(const void* from, DType from_type, void* to, DType to_type,
                       std::int64_t values) {
  CopyColumns call;
  call.from = from;
  call.from_type = from_type;
  call.to = to;
  call.to_type = to_type;
  call.rows = 1;
  call.width = static_cast<std::int32_t>(values);
  call.from_stride = values;
  call.to_stride = values;
  return call;
}

/// Values of a block: its halves stay in cache on their way between payload and scratch. Payloads
/// are not aligned, the conversion's halves are.
constexpr std::int64_t kBlockValues = 4096;

}  // namespace

std::byte* encode_halves(const BodyInput& input, BodyOutput& output) {
  const std::int64_t values = input.shape.values();
  if (2 * values > output.room) return nullptr;
  output.tag.body = BodyForm::own;
  std::byte* out = output.at;
  for (std::int64_t done = 0; done < values; done += kBlockValues) {
    const std::int64_t count = std::min(kBlockValues, values - done);
    copy_columns(conversion(input.values + done, DType::fp32, input.scratch.words(),
                            type_of(input.spec.kind), count));
    std::memcpy(out, input.scratch.words(), static_cast<std::size_t>(2 * count));
    out += 2 * count;
  }
  return out;
}

PayloadFault decode_halves(const BodyReader& reader) {
  const std::int64_t values = reader.shape.values();
  const auto halves = reader.bytes.take_bytes(2 * static_cast<std::uint64_t>(values));
  if (reader.bytes.failed()) return "ends inside its values";
  for (std::int64_t done = 0; done < values; done += kBlockValues) {
    const std::int64_t count = std::min(kBlockValues, values - done);
    std::memcpy(reader.scratch.words(), halves.data() + 2 * done,
                static_cast<std::size_t>(2 * count));
    copy_columns(conversion(reader.scratch.words(), type_of(reader.spec.kind), reader.out + done,
                            DType::fp32, count));
  }
  return nullptr;
}

}  // namespace shardscope::engine
