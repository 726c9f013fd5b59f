#include "engine/comm/reduce.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/cpu/half.hpp"

namespace shardscope::engine {
namespace {

TEST(Reduce, ChunksCoverTheArrayAndTheFirstAreOneLonger) {
  for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 1000, 1003}) {
    for (const std::int32_t parts : {1, 2, 3, 8}) {
      std::int64_t end = 0;
      for (std::int32_t part = 0; part < parts; ++part) {
        const Chunk chunk = chunk_of(count, part, parts);
        EXPECT_EQ(chunk.begin, end);
        EXPECT_EQ(chunk.size(), count / parts + (part < count % parts ? 1 : 0));
        end = chunk.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

/// Sums of 16-bit parts equal those computed value by value, whatever the vector width; counts
/// around the block and lane sizes, results written over each of the parts in turn.
void expect_sums(DType dtype, float (*load)(std::uint16_t), std::uint16_t (*store)(float)) {
  std::mt19937 random(7);
  for (const std::int64_t count : {1, 7, 8, 9, 2047, 2048, 2049, 6151}) {
    std::vector<std::vector<std::uint16_t>> parts(5);
    for (auto& part : parts) {
      for (std::int64_t i = 0; i < count; ++i) {
        part.push_back(store(static_cast<float>(random() % 2001) / 7.0f - 143.0f));
      }
    }
    std::vector<std::uint16_t> expected;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      float sum = load(parts[0][i]);
      for (std::size_t part = 1; part < parts.size(); ++part) sum += load(parts[part][i]);
      expected.push_back(store(sum));
    }
    for (std::size_t into = 0; into < parts.size(); ++into) {
      auto copies = parts;
      std::vector<const std::byte*> pointers;
      for (const auto& part : copies) {
        pointers.push_back(reinterpret_cast<const std::byte*>(part.data()));
      }
      sum_parts(reinterpret_cast<std::byte*>(copies[into].data()), pointers.data(), 5, count,
                dtype);
      EXPECT_EQ(copies[into], expected) << count;
    }
  }
}

TEST(Reduce, SumsFp16InOrderWithOneRounding) {
  expect_sums(DType::fp16, fp16_to_float, float_to_fp16);
}

TEST(Reduce, SumsBf16InOrderWithOneRounding) {
  expect_sums(DType::bf16, bf16_to_float, float_to_bf16);
}

TEST(Reduce, SumsFp32InOrder) {
  // (1e8 + 1) - 1e8 is 0 in fp32 from the left, 1 in any order that adds the large ones first.
  const float parts[3] = {1e8f, 1.0f, -1e8f};
  const std::byte* pointers[3] = {};
  for (int i = 0; i < 3; ++i) pointers[i] = reinterpret_cast<const std::byte*>(&parts[i]);
  float sum = -1;
  sum_parts(reinterpret_cast<std::byte*>(&sum), pointers, 3, 1, DType::fp32);
  EXPECT_EQ(sum, 0.0f);
}

}  // namespace
}  // namespace shardscope::engine
