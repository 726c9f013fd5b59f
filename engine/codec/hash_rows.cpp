#include <bit>
#include <cstring>

#include "engine/codec/row_numbers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/hash_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;

HWY_INLINE std::uint64_t absorb(std::uint64_t sum, std::uint64_t word) {
  const std::uint64_t mixed = (sum ^ word) * kMultiplier;
  return mixed ^ (mixed >> 32);
}

#if HWY_TARGET == HWY_SCALAR

std::uint64_t hash_row(const std::byte* at, std::int64_t bytes) {
  std::uint64_t sum = 1;
  for (; bytes > 0; at += 8, bytes -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes < 8 ? static_cast<std::size_t>(bytes) : 8);
    sum = absorb(sum, word);
  }
  return sum;
}

#else

using WordTag = hn::CappedTag<std::uint32_t, 8>;
constexpr std::int64_t kVectorBytes = static_cast<std::int64_t>(4 * hn::MaxLanes(WordTag()));

/// Sums of products of neighbouring words, each plus a key of its position: two additions, one
/// multiplication and one sum for every vector (Black et al., UMAC's NH).
class WordSums {
 public:
  HWY_INLINE WordSums()
      : key_(hn::Iota(WordTag(), 0x9e3779b9U)),
        sum_(hn::Zero(hn::Repartition<std::uint64_t, WordTag>())) {}

  HWY_INLINE void add(hn::Vec<WordTag> words) {
    const auto keyed = hn::Add(words, key_);
    sum_ = hn::Add(sum_, hn::MulEven(keyed, hn::Shuffle2301(keyed)));
    key_ = hn::Add(key_, hn::Set(WordTag(), 0x61c88647U));
  }

  [[nodiscard]] HWY_INLINE std::uint64_t hash() const {
    const hn::Repartition<std::uint64_t, WordTag> d64;
    HWY_ALIGN std::uint64_t lanes[kVectorBytes / 8];
    hn::Store(sum_, d64, lanes);
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes) all = std::rotl(all, 27) * 5 + lane;
    return absorb(absorb(1, all), all >> 29);
  }

 private:
  hn::Vec<WordTag> key_;
  hn::Vec<hn::Repartition<std::uint64_t, WordTag> > sum_;
};

HWY_INLINE std::uint64_t hash_row(const std::byte* at, std::int64_t bytes) {
  WordSums sums;
  const auto* words = reinterpret_cast<const std::uint8_t*>(at);
  const hn::Repartition<std::uint8_t, WordTag> d8;
  if (bytes < kVectorBytes) {
    HWY_ALIGN std::uint8_t padded[kVectorBytes] = {};
    std::memcpy(padded, words, static_cast<std::size_t>(bytes));
    sums.add(hn::BitCast(WordTag(), hn::Load(d8, padded)));
    return sums.hash();
  }
  std::int64_t i = 0;
  for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
    sums.add(hn::BitCast(WordTag(), hn::LoadU(d8, words + i)));
  }
  // The last vector overlaps the one before: rows have equal lengths.
  if (i < bytes) sums.add(hn::BitCast(WordTag(), hn::LoadU(d8, words + bytes - kVectorBytes)));
  return sums.hash();
}

#endif

/// Up to 16 bytes by two loads that may overlap; rows have equal lengths.
template <class Word>
void hash_short(const ByteRows& rows, std::uint64_t* hashes) {
  const std::int64_t last = rows.row_bytes - static_cast<std::int64_t>(sizeof(Word));
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    Word first_word;
    Word last_word;
    std::memcpy(&first_word, rows.row(r), sizeof(Word));
    std::memcpy(&last_word, rows.row(r) + last, sizeof(Word));
    hashes[r] = absorb(absorb(1, first_word), last_word);
  }
}

void hash_all(const ByteRows& rows, std::uint64_t* hashes) {
  if (rows.row_bytes <= 1) return hash_short<std::uint8_t>(rows, hashes);
  if (rows.row_bytes <= 3) return hash_short<std::uint16_t>(rows, hashes);
  if (rows.row_bytes <= 8) return hash_short<std::uint32_t>(rows, hashes);
  if (rows.row_bytes <= 16) return hash_short<std::uint64_t>(rows, hashes);
  for (std::int64_t r = 0; r < rows.rows; ++r) hashes[r] = hash_row(rows.row(r), rows.row_bytes);
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(hash_all);

void hash_rows(const ByteRows& rows, std::uint64_t* hashes) {
  HWY_DYNAMIC_DISPATCH(hash_all)(rows, hashes);
}

}  // namespace shardscope::engine
#endif
