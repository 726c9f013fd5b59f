// Bodies of fp16 and bf16.

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

}  // namespace

std::byte* encode_halves(const BodyInput& input, BodyOutput& output) {
  const std::int64_t values = input.shape.values();
  if (2 * values > output.room) return nullptr;
  output.tag.body = BodyForm::own;
  copy_columns(conversion(input.values, DType::fp32, output.at, type_of(input.spec.kind), values));
  return output.at + 2 * values;
}

PayloadFault decode_halves(const BodyReader& reader) {
  const std::int64_t values = reader.shape.values();
  const auto halves = reader.bytes.take_bytes(2 * static_cast<std::uint64_t>(values));
  if (reader.bytes.failed()) return "ends inside its values";
  copy_columns(
      conversion(halves.data(), type_of(reader.spec.kind), reader.out, DType::fp32, values));
  return nullptr;
}

}  // namespace shardscope::engine
