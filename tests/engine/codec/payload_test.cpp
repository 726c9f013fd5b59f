// Payloads as an enemy would write them: nothing but the chunk is written, nothing but the payload
// read (the sanitizers watch), and no damage goes unnoticed.

#include <gtest/gtest.h>

#include "engine/codec/crc32c.hpp"
#include "tests/engine/allocation_count.hpp"
#include "tests/engine/codec/chunk_cases.hpp"

namespace shardscope::engine::testing {
namespace {

ChunkCase small_chunk() {
  Random random(test_seed());
  ChunkCase chunk{"", {20, 9}, std::vector<float>(180)};
  for (float& value : chunk.values) value = random.real();
  std::copy_n(chunk.values.begin(), 90, chunk.values.begin() + 90);
  chunk.values[77] = std::numeric_limits<float>::infinity();
  return chunk;
}

std::vector<CodecSpec> every_spec() {
  std::vector<CodecSpec> specs;
  for (const CodecKind kind : kAllCodecs) {
    specs.push_back({kind, 0.03, true});
    specs.push_back({kind, 0.0001, false});
    specs.push_back({kind, 0, false});
  }
  return specs;
}

TEST(CodecPayload, CutAnywhereIsAFault) {
  const ChunkCase chunk = small_chunk();
  std::vector<float> out;
  for (const CodecSpec& spec : every_spec()) {
    const std::vector<std::byte> whole = encoded(spec, chunk);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_NE(decoded(spec, cut, chunk.shape, out), nullptr) << name_of(spec.kind) << size;
      mend_checksum(cut);
      ASSERT_NE(decoded(spec, cut, chunk.shape, out), nullptr) << name_of(spec.kind) << size;
    }
    std::vector<std::byte> longer = whole;
    longer.push_back(std::byte{0});
    mend_checksum(longer);
    EXPECT_NE(decoded(spec, longer, chunk.shape, out), nullptr) << name_of(spec.kind);
  }
}

TEST(CodecPayload, EveryFlippedBitIsNoticed) {
  const ChunkCase chunk = small_chunk();
  std::vector<float> out;
  for (const CodecSpec& spec : every_spec()) {
    std::vector<std::byte> payload = encoded(spec, chunk);
    for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
      payload[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      ASSERT_STREQ(decoded(spec, payload, chunk.shape, out), "has a wrong checksum");
      payload[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
  }
}

TEST(CodecPayload, DamageBehindAFittingChecksumDoesNoHarm) {
  const ChunkCase chunk = small_chunk();
  std::vector<float> out;
  std::int64_t faults = 0;
  for (const CodecSpec& spec : every_spec()) {
    const std::vector<std::byte> whole = encoded(spec, chunk);
    for (std::size_t bit = 32; bit < 8 * whole.size(); ++bit) {
      std::vector<std::byte> payload = whole;
      payload[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      mend_checksum(payload);
      faults += decoded(spec, payload, chunk.shape, out) != nullptr ? 1 : 0;
    }
  }
  EXPECT_GT(faults, 0);
}

TEST(CodecPayload, RandomBytesDoNoHarm) {
  for_random_cases(2000, [](std::uint64_t seed) {
    Random random(seed);
    const ChunkShape shape{random.between(1, 70), random.between(1, 40)};
    std::vector<std::byte> payload(static_cast<std::size_t>(random.between(0, 400)));
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random.between(0, 255));
    mend_checksum(payload);
    std::vector<float> out;
    for (const CodecKind kind : kAllCodecs) {
      const PayloadFault fault = decoded({kind, 0.01, random.chance(0.5)}, payload, shape, out);
      EXPECT_TRUE(fault == nullptr || *fault != '\0');
    }
  });
}

TEST(CodecPayload, OfAnotherShapeOrCodecIsAFaultOrStaysInside) {
  const ChunkCase chunk = small_chunk();
  std::vector<float> out;
  for (const CodecSpec& spec : every_spec()) {
    const std::vector<std::byte> payload = encoded(spec, chunk);
    EXPECT_NE(decoded(spec, payload, {1, 1}, out), nullptr) << name_of(spec.kind);
    // A few values more or less need not show in the length of a fixed payload.
    for (const ChunkShape shape : {ChunkShape{19, 9}, ChunkShape{20, 8}, ChunkShape{300, 90}}) {
      static_cast<void>(decoded(spec, payload, shape, out));
    }
    for (const CodecKind other : kAllCodecs) {
      static_cast<void>(decoded({other, spec.bound, spec.relative}, payload, chunk.shape, out));
    }
  }
}

TEST(CodecPayload, OfNothingIsEmpty) {
  for (const CodecSpec& spec : every_spec()) {
    const ChunkCase empty{"", {0, 16}, {}};
    EXPECT_TRUE(encoded(spec, empty).empty());
    std::vector<float> out;
    EXPECT_EQ(decoded(spec, {}, empty.shape, out), nullptr);
    const std::vector<std::byte> something(9);
    EXPECT_NE(decoded(spec, something, empty.shape, out), nullptr);
  }
}

TEST(CodecPayload, HeaderAndExchangedSizeTakeAtMostSixteenBytes) {
  EXPECT_LE(kChunkHeaderBytes + kExchangedSizeBytes, 16);
  // A chunk of equal rows of zeros: nothing but header, step and the sections' own sizes.
  const ChunkCase zeros{"", {1000, 64}, std::vector<float>(64000, 0.0F)};
  EXPECT_LE(encoded({CodecKind::dedup_fixed, 0.01, false}, zeros).size() + 4, 16U);
}

TEST(CodecPayload, EncodingAndDecodingAllocateNothing) {
  const ChunkCase chunk = small_chunk();
  const CodecScratch scratch = CodecScratch::create(chunk.shape.values(), chunk.shape.rows).value();
  std::vector<std::byte> room(static_cast<std::size_t>(encode_room_bytes(chunk.shape.values())));
  std::vector<float> out(chunk.values.size());
  const std::vector<CodecSpec> specs = every_spec();
  const AllocationCount count;
  for (const CodecSpec& spec : specs) {
    const std::int64_t bytes = encode_chunk(spec, chunk.values.data(), chunk.shape, scratch, room);
    const std::span<const std::byte> payload(room.data(), static_cast<std::size_t>(bytes));
    ASSERT_EQ(decode_chunk(spec, payload, chunk.shape, scratch, out.data()), nullptr);
  }
  EXPECT_EQ(count.allocations(), 0);
}

TEST(Crc32c, GivesTheValuesOfRfc3720) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  for (std::byte& byte : bytes) byte = std::byte{0xff};
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eU);
}

TEST(Crc32c, IsTheSameWithAndWithoutTheInstruction) {
  for_random_cases(200, [](std::uint64_t seed) {
    Random random(seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(random.between(0, 9000)));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.between(0, 255));
    EXPECT_EQ(crc32c(bytes), crc32c_portable(bytes));
  });
}

TEST(CodecNames, AreThoseOfLayouts) {
  for (const CodecKind kind : kAllCodecs) {
    CodecSlot slot;
    slot.name = std::string(name_of(kind));
    slot.bound = 0.5;
    slot.relative = false;
    EXPECT_EQ(codec_spec(slot).value(), (CodecSpec{kind, 0.5, false}));
  }
  CodecSlot unknown;
  unknown.name = "gzip";
  EXPECT_EQ(codec_spec(unknown).error().kind, ErrorKind::usage);
  CodecSlot negative;
  negative.bound = -1;
  EXPECT_EQ(codec_spec(negative).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::engine::testing
