#include "tests/engine/codec/chunk_cases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "engine/codec/crc32c.hpp"

namespace shardscope::engine::testing {
namespace {

enum class Fill {
  gaussian,
  repeats,
  zeros,
  any_bits,
  denormals,
  huge,
  heavy_tail,
  specials,
  steps
};
constexpr std::int64_t kFills = 9;

float any_bits(Random& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, UINT32_MAX)));
}

float special(Random& random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {0.0F,
                          -0.0F,
                          kInfinity,
                          -kInfinity,
                          std::numeric_limits<float>::quiet_NaN(),
                          std::bit_cast<float>(0xffc12345U),
                          std::bit_cast<float>(0x7f800001U),
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::lowest(),
                          std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min()};
  return values[random.between(0, static_cast<std::int64_t>(std::size(values)) - 1)];
}

float value_of(Fill fill, Random& random) {
  switch (fill) {
    case Fill::zeros:
      return 0;
    case Fill::any_bits:
      return any_bits(random);
    case Fill::denormals:
      return std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, 0x7fffff)) |
                                  (random.chance(0.5) ? 0x80000000U : 0U));
    case Fill::huge:
      return random.real(3.0e38F);
    case Fill::heavy_tail:
      return random.real() * std::exp2(static_cast<float>(random.between(-30, 30)));
    case Fill::specials:
      return random.chance(0.1) ? special(random) : random.real();
    case Fill::steps:
      return static_cast<float>(random.between(-3, 3));
    default:
      return random.real() + random.real() + random.real();
  }
}

void repeat_rows(ChunkCase& chunk, Random& random) {
  const std::int64_t distinct = random.between(1, std::max<std::int64_t>(1, chunk.shape.rows / 3));
  for (std::int64_t r = distinct; r < chunk.shape.rows; ++r) {
    std::copy_n(chunk.values.begin() + random.between(0, distinct - 1) * chunk.shape.dim,
                chunk.shape.dim, chunk.values.begin() + r * chunk.shape.dim);
  }
}

/// Making memory takes longer than the small chunks of the tests: they share it.
const CodecScratch& shared_scratch(const ChunkShape& shape) {
  static CodecScratch scratch = CodecScratch::create(40'000, 400).value();
  if (shape.values() > scratch.max_values() || shape.rows > scratch.max_rows()) {
    scratch = CodecScratch::create(std::max(shape.values(), scratch.max_values()),
                                   std::max(shape.rows, scratch.max_rows()))
                  .value();
  }
  return scratch;
}

}  // namespace

ChunkCase random_chunk(Random& random) {
  ChunkCase chunk;
  chunk.shape = {random.between(1, 300),
                 random.chance(0.5) ? 8 * random.between(1, 16) : random.between(1, 130)};
  const auto fill = static_cast<Fill>(random.between(0, kFills - 1));
  chunk.what =
      fmt::format("{} x {}, fill {}", chunk.shape.rows, chunk.shape.dim, static_cast<int>(fill));
  chunk.values.resize(static_cast<std::size_t>(chunk.shape.values()));
  for (float& value : chunk.values) value = value_of(fill, random);
  if (fill == Fill::repeats || random.chance(0.5)) repeat_rows(chunk, random);
  if (random.chance(0.1)) {
    chunk.values[static_cast<std::size_t>(random.between(0, chunk.shape.values() - 1))] =
        special(random);
  }
  return chunk;
}

ChunkCase near_ties(Random& random, double bound) {
  ChunkCase chunk;
  chunk.what = fmt::format("near ties of {}", bound);
  chunk.shape = {random.between(1, 64), random.between(1, 64)};
  chunk.values.resize(static_cast<std::size_t>(chunk.shape.values()));
  const double largest = random.chance(0.5) ? 120 : 1 << 20;
  for (float& value : chunk.values) {
    const auto code = static_cast<double>(random.between(0, static_cast<std::int64_t>(largest)));
    value = static_cast<float>((2 * code + 1) * bound * (random.chance(0.5) ? 1 : 1 - 0x1p-14));
    const std::int64_t ulps = random.between(-3, 3);
    for (std::int64_t i = 0; i < std::abs(ulps); ++i) {
      value = std::nextafter(value, ulps > 0 ? 1e38F : 0.0F);
    }
    if (random.chance(0.5)) value = -value;
  }
  return chunk;
}

CodecSpec random_bound(Random& random, CodecKind kind) {
  CodecSpec spec{kind, 0, random.chance(0.5)};
  if (random.chance(0.05)) return spec;
  if (spec.relative) {
    const double bounds[] = {0.5, 0.05, 0.03, 0.01, 0.001, 1e-5, 1e-7};
    spec.bound = bounds[random.between(0, 6)];
  } else {
    spec.bound = std::ldexp(
        1 + std::fabs(random.real()),
        static_cast<int>(random.chance(0.8) ? random.between(-20, 4) : random.between(-160, 119)));
  }
  return spec;
}

std::vector<std::byte> encoded(const CodecSpec& spec, const ChunkCase& chunk) {
  const CodecScratch& scratch = shared_scratch(chunk.shape);
  std::vector<std::byte> room(static_cast<std::size_t>(encode_room_bytes(chunk.shape.values())));
  const std::int64_t bytes = encode_chunk(spec, chunk.values.data(), chunk.shape, scratch, room);
  room.resize(static_cast<std::size_t>(bytes));
  room.shrink_to_fit();  // a read beyond the payload is a read beyond the allocation
  return room;
}

PayloadFault decoded(const CodecSpec& spec, std::span<const std::byte> payload,
                     const ChunkShape& shape, std::vector<float>& out) {
  const CodecScratch& scratch = shared_scratch(shape);
  out.assign(static_cast<std::size_t>(shape.values()), -1.0F);
  return decode_chunk(spec, payload, shape, scratch, out.data());
}

Encoded through(const CodecSpec& spec, const ChunkCase& chunk) {
  Encoded result;
  result.payload = encoded(spec, chunk);
  result.fault = decoded(spec, result.payload, chunk.shape, result.decoded);
  return result;
}

double bound_of(const CodecSpec& spec, const ChunkCase& chunk) {
  if (!spec.relative) return spec.bound;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const float value : chunk.values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  return low <= high ? spec.bound * (high - low) : 0;
}

void mend_checksum(std::vector<std::byte>& payload) {
  if (payload.size() < 5) return;
  store_le(payload.data(), crc32c(std::span<const std::byte>(payload).subspan(4)));
}

}  // namespace shardscope::engine::testing
