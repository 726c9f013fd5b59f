// What the codecs promise about values: the bound, exactly; idempotence; equal bytes.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

#include "tests/engine/codec/chunk_cases.hpp"
#include "tests/engine/codec/exact.hpp"

namespace shardscope::engine::testing {
namespace {

constexpr CodecKind kQuantizing[] = {CodecKind::fixed, CodecKind::dedup_fixed,
                                     CodecKind::dedup_huffman, CodecKind::vector_lz,
                                     CodecKind::constant};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlowness = 5;
#else
constexpr int kSlowness = 1;
#endif

int codec_cases(int otherwise) {
  const char* text = std::getenv("SHARDSCOPE_CODEC_CASES");
  return text != nullptr ? std::atoi(text) : otherwise / kSlowness;
}

bool keeps(float x, float y, double bound) {
  if (std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y)) return true;
  return std::isfinite(x) && std::isfinite(y) && within(x, y, bound);
}

void expect_bound(const CodecSpec& spec, const ChunkCase& chunk) {
  SCOPED_TRACE(::testing::Message()
               << name_of(spec.kind) << " bound " << spec.bound
               << (spec.relative ? " relative, " : " absolute, ") << chunk.what);
  const Encoded result = through(spec, chunk);
  ASSERT_EQ(result.fault, nullptr) << result.fault;
  ASSERT_LE(static_cast<std::int64_t>(result.payload.size()),
            max_payload_bytes(chunk.shape.values()));
  const double bound = bound_of(spec, chunk);
  for (std::size_t i = 0; i < chunk.values.size(); ++i) {
    ASSERT_TRUE(keeps(chunk.values[i], result.decoded[i], bound))
        << "value " << i << ": " << std::hexfloat << chunk.values[i] << " came back as "
        << result.decoded[i] << ", bound " << bound;
  }
}

TEST(ExactBound, IsDecidedInWholeNumbers) {
  EXPECT_TRUE(within(1.0F, 1.5F, 0.5));
  EXPECT_FALSE(within(1.0F, std::nextafter(1.5F, 2.0F), 0.5));
  EXPECT_TRUE(within(-0x1p-149F, 0x1p-149F, 0x1p-148));
  EXPECT_FALSE(within(-0x1p-149F, 0x1p-149F, 0x1.fp-149));
  EXPECT_TRUE(within(0x1p127F, 0x1p127F, 0));
  EXPECT_FALSE(within(0x1p100F, 0x1p-149F, std::nextafter(0x1p100, 0) * 0.999));
  EXPECT_TRUE(within(0x1p100F, 0x1p-149F, 0x1p100));
}

TEST(CodecBound, HoldsExactlyForAnyChunk) {
  for_random_cases(codec_cases(250), [](std::uint64_t seed) {
    Random random(seed);
    const ChunkCase chunk = random_chunk(random);
    for (const CodecKind kind : kQuantizing) expect_bound(random_bound(random, kind), chunk);
  });
}

TEST(CodecBound, HoldsExactlyWhereRoundingDecides) {
  for_random_cases(codec_cases(200), [](std::uint64_t seed) {
    Random random(seed);
    CodecSpec spec = random_bound(random, CodecKind::fixed);
    spec.relative = false;
    if (spec.bound == 0) return;
    const ChunkCase chunk = near_ties(random, spec.bound);
    for (const CodecKind kind : kQuantizing) {
      spec.kind = kind;
      expect_bound(spec, chunk);
    }
  });
}

TEST(CodecBound, EncodingDecodedValuesAgainChangesNothing) {
  for_random_cases(codec_cases(200), [](std::uint64_t seed) {
    Random random(seed);
    ChunkCase chunk = random_chunk(random);
    for (const CodecKind kind : kQuantizing) {
      CodecSpec spec = random_bound(random, kind);
      spec.relative = false;
      const Encoded first = through(spec, chunk);
      ASSERT_EQ(first.fault, nullptr);
      const Encoded second = through(spec, {chunk.what, chunk.shape, first.decoded});
      ASSERT_EQ(second.fault, nullptr);
      ASSERT_TRUE(same_bits(first.decoded, second.decoded))
          << name_of(kind) << " bound " << spec.bound << ", " << chunk.what;
    }
  });
}

TEST(CodecBound, LosslessOnesGiveTheSameBits) {
  for_random_cases(codec_cases(60), [](std::uint64_t seed) {
    Random random(seed);
    const ChunkCase chunk = random_chunk(random);
    for (const CodecKind kind : kAllCodecs) {
      if (!holds_bound(kind)) continue;
      // A bound of 0 makes all of them lossless.
      const CodecSpec spec{kind, is_lossless(kind) ? 0.1 : 0.0, random.chance(0.5)};
      const Encoded result = through(spec, chunk);
      ASSERT_EQ(result.fault, nullptr) << result.fault;
      for (std::size_t i = 0; i < chunk.values.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(chunk.values[i]),
                  std::bit_cast<std::uint32_t>(result.decoded[i]))
            << name_of(kind) << ", value " << i << ", " << chunk.what;
      }
    }
  });
}

TEST(CodecBound, EveryInstructionSetMakesTheSameBytesAndValues) {
  for_random_cases(codec_cases(40), [](std::uint64_t seed) {
    Random random(seed);
    const ChunkCase chunk = random_chunk(random);
    for (const CodecKind kind : kAllCodecs) {
      const CodecSpec spec = random_bound(random, kind);
      const Encoded here = through(spec, chunk);
      on_every_target([&] {
        const Encoded there = through(spec, chunk);
        EXPECT_EQ(here.payload, there.payload) << name_of(kind) << ", " << chunk.what;
        EXPECT_TRUE(same_bits(here.decoded, there.decoded)) << name_of(kind) << chunk.what;
      });
    }
  });
}

TEST(CodecBound, ValuesThatAreNotFiniteComeBackBitForBit) {
  ChunkCase chunk{"", {3, 4}, std::vector<float>(12, 0.25F)};
  const std::uint32_t patterns[] = {0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc12345U,
                                    0x7f800001U};
  for (std::size_t i = 0; i < std::size(patterns); ++i) {
    chunk.values[2 * i] = std::bit_cast<float>(patterns[i]);
  }
  chunk.values[1] = 1;
  for (const CodecKind kind :
       {CodecKind::fixed, CodecKind::dedup_fixed, CodecKind::dedup_huffman, CodecKind::vector_lz}) {
    const Encoded result = through({kind, 0.1, false}, chunk);
    ASSERT_EQ(result.fault, nullptr);
    for (std::size_t i = 0; i < std::size(patterns); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result.decoded[2 * i]), patterns[i]);
    }
  }
}

TEST(CodecBound, RowsThatDifferOnlyInAnEscapeStayApart) {
  // Codes of both rows are equal; the NaNs are not.
  ChunkCase chunk{"", {200, 64}, std::vector<float>(200 * 64, 1.0F)};
  chunk.values[0] = 0;
  for (std::int64_t r = 100; r < 104; ++r) {
    chunk.values[static_cast<std::size_t>(r * 64 + 3)] =
        std::bit_cast<float>(0x7fc00000U + static_cast<std::uint32_t>(r));
  }
  for (const CodecKind kind :
       {CodecKind::dedup_fixed, CodecKind::dedup_huffman, CodecKind::vector_lz}) {
    const Encoded result = through({kind, 0.01, true}, chunk);
    ASSERT_EQ(result.fault, nullptr);
    for (std::int64_t r = 99; r < 105; ++r) {
      const auto at = static_cast<std::size_t>(r * 64 + 3);
      if (std::isnan(chunk.values[at])) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result.decoded[at]),
                  std::bit_cast<std::uint32_t>(chunk.values[at]));
      } else {
        EXPECT_NEAR(result.decoded[at], 1.0F, 0.01F);
      }
    }
  }
}

TEST(CodecBound, PartialSumsOfSeveralShardsKeepTheSumsBound) {
  // Row shards of a table each hold 1 / shards of the bound.
  Random random(test_seed());
  for (const int shards : {2, 3, 8}) {
    const double bound = 0.01;
    const ChunkShape shape{50, 24};
    std::vector<double> exact(static_cast<std::size_t>(shape.values()));
    std::vector<double> received(exact.size());
    for (int s = 0; s < shards; ++s) {
      ChunkCase part{"", shape, std::vector<float>(exact.size())};
      for (float& value : part.values) value = random.real();
      const Encoded result = through({CodecKind::dedup_huffman, bound / shards, false}, part);
      ASSERT_EQ(result.fault, nullptr);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        exact[i] += static_cast<double>(part.values[i]);
        received[i] += static_cast<double>(result.decoded[i]);
      }
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LE(std::fabs(exact[i] - received[i]), bound * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace shardscope::engine::testing
