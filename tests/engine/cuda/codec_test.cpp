// The codec kernels against the CPU's codecs: a payload put together from what the device made is
// the CPU's payload byte by byte, and what the device decodes is what the CPU decodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/codec/chunk_codec.hpp"
#include "engine/codec/crc32c.hpp"
#include "engine/codec/payload_tag.hpp"
#include "engine/codec/planes.hpp"
#include "engine/codec/quantizer.hpp"
#include "engine/cuda/codec_ops.hpp"
#include "tests/engine/cuda/both_devices.hpp"
#include "tests/engine/cuda/device_under_test.hpp"

namespace shardscope::engine::testing {
namespace {

float awkward_value(Random& random) {
  switch (random.between(0, 7)) {
    case 0:
      return std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, 0xffffffffLL)));
    case 1:
      return std::numeric_limits<float>::quiet_NaN();
    case 2:
      return -std::numeric_limits<float>::infinity();
    case 3:
      return std::numeric_limits<float>::denorm_min() * static_cast<float>(random.between(-9, 9));
    case 4:
      return -0.0F;
    default:
      return 3e38F * random.real();
  }
}

/// Rows drawn from fewer different ones, a few values of them awkward, some near a tie.
struct CodecCase {
  explicit CodecCase(Random& random)
      : shape{random.between(1, 90), random.between(8, 70)},
        spec{random.chance(0.7) ? CodecKind::dedup_fixed : CodecKind::fixed,
             random.chance(0.2) ? 1e-6 : 0.002 * static_cast<double>(random.between(1, 25)),
             random.chance(0.6)} {
    const std::int64_t distinct = random.between(1, shape.rows);
    const double awkward = random.chance(0.3) ? 0.003 : 0;
    std::vector<float> rows(static_cast<std::size_t>(distinct * shape.dim));
    for (float& value : rows) {
      value = random.real();
      if (random.chance(0.2)) {
        const auto step = static_cast<float>(2 * spec.bound);
        value = step * (static_cast<float>(random.between(-20, 20)) + 0.5F);
      }
      if (random.chance(awkward)) value = awkward_value(random);
    }
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      const auto* row = rows.data() + random.between(0, distinct - 1) * shape.dim;
      values.insert(values.end(), row, row + shape.dim);
    }
  }

  ChunkShape shape;
  CodecSpec spec;
  std::vector<float> values;
};

/// What the device makes of a chunk.
struct CodecBuffers {
  explicit CodecBuffers(const CodecCase& chunk)
      : groups(static_cast<std::size_t>(groups_of(chunk.shape.values()))),
        codes(groups * kGroup),
        escapes(groups),
        index(static_cast<std::size_t>(chunk.shape.rows)),
        first(index.size()),
        widths(groups),
        planes(groups * kMostWidth),
        decoded_codes(codes.size()),
        decoded(chunk.values.size()) {}

  [[nodiscard]] bool escapes_at(std::int64_t n) const {
    return ((escapes[static_cast<std::size_t>(n / 32)] >> (n % 32)) & 1U) != 0;
  }

  std::size_t groups;
  std::vector<std::uint32_t> range = {0, 0};
  std::vector<std::int32_t> codes;
  std::vector<std::uint32_t> escapes, index, first;
  std::vector<std::int64_t> distinct = {0}, plane_words = {0};
  std::vector<std::uint8_t> widths;
  std::vector<std::uint32_t> planes;
  std::vector<std::int32_t> decoded_codes;
  std::vector<float> decoded;
};

float float_of_ordered(std::uint32_t word) {
  return std::bit_cast<float>((word >> 31) != 0 ? word & 0x7fffffffU : ~word);
}

FiniteRange range_of_words(const std::vector<std::uint32_t>& words) {
  if (words[0] == ~0U) return {1, 0};
  return {float_of_ordered(words[0]), float_of_ordered(~words[1])};
}

/// The device's codes of chunks that can be quantized, all chunks in one list a step.
class DeviceCoding {
 public:
  explicit DeviceCoding(const std::vector<CodecCase>& chunks) : chunks_(chunks) {
    auto stream = device_under_test()->stream(0, StreamMode::inline_, "codec test");
    EXPECT_TRUE(stream);
    stream_ = std::move(*stream);
    for (const CodecCase& chunk : chunks) buffers_.emplace_back(chunk);
    find_ranges();
    encode();
  }

  [[nodiscard]] const CodecBuffers& operator[](std::size_t i) const { return buffers_[i]; }
  [[nodiscard]] const Quantizer& quantizer(std::size_t i) const { return quantizers_[i]; }

 private:
  void find_ranges() {
    std::vector<cuda::FiniteRangeCall> calls;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      calls.push_back(
          {chunks_[i].values.data(), chunks_[i].shape.values(), buffers_[i].range.data()});
    }
    ops_->finite_range(*stream_, calls);
    finish(*stream_);
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const FiniteRange device = range_of_words(buffers_[i].range);
      const FiniteRange cpu = finite_range(chunks_[i].values.data(), chunks_[i].shape.values());
      EXPECT_EQ(device.any(), cpu.any());
      if (cpu.any()) {
        EXPECT_EQ(device.low, cpu.low);
        EXPECT_EQ(device.high, cpu.high);
      }
      quantizers_.push_back(quantizer_of(absolute_bound(chunks_[i].spec, cpu)));
      limits_.push_back(fits_8_bits(quantizers_[i], cpu) ? kLargestCode8 : kLargestCode32);
    }
  }

  void encode() {
    std::vector<cuda::QuantizeCall> quantizing;
    std::vector<cuda::NumberRowsCall> numbering;
    std::vector<cuda::PackPlanesCall> packing;
    std::vector<cuda::UnpackPlanesCall> unpacking;
    std::vector<cuda::ExpandCodesCall> expanding;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      if (!quantizers_[i].usable()) continue;
      const auto& [shape, spec, values] = chunks_[i];
      const Quantizer& q = quantizers_[i];
      CodecBuffers& to = buffers_[i];
      const bool dedups = spec.kind == CodecKind::dedup_fixed;
      quantizing.push_back({values.data(), shape.values(), q.inverse, q.step, q.bound,
                            static_cast<float>(limits_[i]), to.codes.data(), to.escapes.data()});
      numbering.push_back({values.data(), to.codes.data(), to.escapes.data(), shape.rows, shape.dim,
                           to.index.data(), to.first.data(), to.distinct.data()});
      packing.push_back({to.codes.data(), shape.rows, shape.dim, dedups ? to.first.data() : nullptr,
                         dedups ? to.distinct.data() : nullptr, to.widths.data(), to.planes.data(),
                         to.plane_words.data()});
      unpacking.push_back(
          {to.planes.data(), to.widths.data(), shape.values(), to.decoded_codes.data()});
      expanding.push_back({to.decoded_codes.data(), dedups ? to.index.data() : nullptr, shape.rows,
                           shape.dim, q.step, to.decoded.data()});
    }
    ops_->quantize(*stream_, quantizing);
    ops_->number_rows(*stream_, numbering);
    ops_->pack_planes(*stream_, packing);
    ops_->unpack_planes(*stream_, unpacking);
    ops_->expand(*stream_, expanding);
    finish(*stream_);
  }

  const std::vector<CodecCase>& chunks_;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<cuda::CodecOps> ops_ = codec_ops_under_test();
  std::vector<CodecBuffers> buffers_;
  std::vector<Quantizer> quantizers_;
  std::vector<std::int32_t> limits_;
};

/// The payload of what the device made: what is left to the CPU is added.
std::vector<std::byte> payload_of(const CodecCase& chunk, const CodecBuffers& made,
                                  const Quantizer& quantizer) {
  const auto [rows, dim] = chunk.shape;
  const bool dedups = chunk.spec.kind == CodecKind::dedup_fixed;
  const std::int64_t distinct = dedups ? made.distinct[0] : rows;
  std::vector<std::byte> out(
      static_cast<std::size_t>(2 * encode_room_bytes(chunk.shape.values()) + 4096));
  std::byte* at = out.data() + 5;
  if (chunk.spec.relative) {
    store_le(at, quantizer.step);
    at += 4;
  }
  std::vector<std::uint8_t> narrow(static_cast<std::size_t>(rows));
  const IndexPlan index = plan_index(made.index.data(), rows, distinct, false);
  if (index.form != IndexForm::none) {
    at = put_varint(at, static_cast<std::uint32_t>(distinct));
    at = write_index(index, made.index.data(), rows, distinct, narrow.data(), at);
  }
  const std::int64_t groups = groups_of(distinct * dim);
  const auto [low, high] = std::minmax_element(made.widths.begin(), made.widths.begin() + groups);
  const int field_bits = bits_for(static_cast<std::uint64_t>(*high - *low + 1));
  *at++ = static_cast<std::byte>(*low | (field_bits << 5));
  BitWriter fields(at);
  for (std::int64_t g = 0; g < groups; ++g) {
    fields.put(static_cast<std::uint64_t>(made.widths[static_cast<std::size_t>(g)] - *low),
               field_bits);
  }
  at = fields.end();
  for (std::int64_t w = 0; w < made.plane_words[0]; ++w, at += 4) {
    store_le(at, made.planes[static_cast<std::size_t>(w)]);
  }
  std::vector<std::uint32_t> places;
  std::vector<float> kept;
  for (std::int64_t u = 0; u < distinct; ++u) {
    const std::int64_t row = dedups ? made.first[static_cast<std::size_t>(u)] : u;
    for (std::int64_t c = 0; c < dim; ++c) {
      if (!made.escapes_at(row * dim + c)) continue;
      places.push_back(static_cast<std::uint32_t>(u * dim + c));
      kept.push_back(chunk.values[static_cast<std::size_t>(row * dim + c)]);
    }
  }
  if (!places.empty()) at = put_varint(at, static_cast<std::uint32_t>(places.size()));
  for (const std::uint32_t place : places) store_le(at, place), at += 4;
  for (const float value : kept) store_le(at, value), at += 4;
  const PayloadTag tag{BodyForm::sections, index.form, CodeForm::planes, !places.empty(),
                       chunk.spec.relative};
  out[4] = static_cast<std::byte>(tag.packed());
  out.resize(static_cast<std::size_t>(at - out.data()));
  store_le(out.data(), crc32c(std::span(out).subspan(4)));
  return out;
}

TEST(CudaCodec, PayloadsAndDecodedValuesAreThoseOfTheCpu) {
  int compared = 0;
  int with_escapes = 0;
  for (int seed = 1; seed <= scaled_cases(60); ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    vary_order(static_cast<std::uint64_t>(seed));
    std::vector<CodecCase> chunks;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) chunks.emplace_back(random);
    const DeviceCoding coding(chunks);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const CodecCase& chunk = chunks[i];
      const auto scratch = CodecScratch::create(chunk.shape.values(), chunk.shape.rows);
      ASSERT_TRUE(scratch);
      std::vector<std::byte> payload(
          static_cast<std::size_t>(encode_room_bytes(chunk.shape.values())));
      payload.resize(static_cast<std::size_t>(
          encode_chunk(chunk.spec, chunk.values.data(), chunk.shape, *scratch, payload)));
      const PayloadTag tag = PayloadTag::unpacked(static_cast<std::uint8_t>(payload[4]));
      // Left to the CPU: chunks that no step fits, or whose codes would be longer than the values.
      if (tag.body != BodyForm::sections || tag.codes != CodeForm::planes) continue;
      ASSERT_EQ(payload_of(chunk, coding[i], coding.quantizer(i)), payload)
          << "seed " << seed << " chunk " << i << ": " << chunk.shape.rows << " x "
          << chunk.shape.dim;
      ++compared;
      std::vector<float> decoded(chunk.values.size());
      ASSERT_EQ(decode_chunk(chunk.spec, payload, chunk.shape, *scratch, decoded.data()), nullptr);
      for (std::int64_t n = 0; n < chunk.shape.values(); ++n) {
        if (coding[i].escapes_at(n)) {
          ++with_escapes;
          continue;
        }
        const auto at = static_cast<std::size_t>(n);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(coding[i].decoded[at]),
                  std::bit_cast<std::uint32_t>(decoded[at]))
            << "seed " << seed << " value " << n;
      }
    }
  }
  EXPECT_GT(compared, scaled_cases(60) / 3);
  EXPECT_GT(with_escapes, 0);
}

}  // namespace
}  // namespace shardscope::engine::testing
