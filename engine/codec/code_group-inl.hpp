// The bytes of 32 codes: zigzag form, width and bit planes, the same on every instruction set.
// Included once per instruction set (Google Highway's foreach_target).

#if defined(SHARDSCOPE_ENGINE_CODEC_CODE_GROUP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CODEC_CODE_GROUP_INL
#undef SHARDSCOPE_ENGINE_CODEC_CODE_GROUP_INL
#else
#define SHARDSCOPE_ENGINE_CODEC_CODE_GROUP_INL
#endif

#include <bit>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "engine/codec/planes.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

struct CodeGroup {
  std::uint8_t byte[kGroup];

  static CodeGroup load(const void* from) {
    CodeGroup group;
    std::memcpy(group.byte, from, sizeof(group.byte));
    return group;
  }
  void store(void* to) const { std::memcpy(to, byte, sizeof(byte)); }

  [[nodiscard]] CodeGroup zigzag() const {
    CodeGroup group;
    for (std::int64_t i = 0; i < kGroup; ++i) {
      group.byte[i] = static_cast<std::uint8_t>((byte[i] << 1) ^ ((byte[i] & 128) != 0 ? 255 : 0));
    }
    return group;
  }
  [[nodiscard]] CodeGroup unzigzag() const {
    CodeGroup group;
    for (std::int64_t i = 0; i < kGroup; ++i) {
      group.byte[i] = static_cast<std::uint8_t>((byte[i] >> 1) ^ ((byte[i] & 1) != 0 ? 255 : 0));
    }
    return group;
  }
  [[nodiscard]] int width() const {
    unsigned all = 0;
    for (const std::uint8_t one : byte) all |= one;
    return std::bit_width(all);
  }
  void pack(int width, std::uint8_t* out) const {
    for (int bit = 0; bit < width; ++bit) {
      std::uint32_t plane = 0;
      for (std::int64_t i = 0; i < kGroup; ++i) {
        plane |= static_cast<std::uint32_t>((byte[i] >> bit) & 1) << i;
      }
      std::memcpy(out + 4 * bit, &plane, sizeof(plane));
    }
  }
  static CodeGroup unpack(const std::uint8_t* planes, int width) {
    CodeGroup group{};
    for (int bit = 0; bit < width; ++bit) {
      std::uint32_t plane = 0;
      std::memcpy(&plane, planes + 4 * bit, sizeof(plane));
      for (std::int64_t i = 0; i < kGroup; ++i) {
        group.byte[i] = static_cast<std::uint8_t>(group.byte[i] | (((plane >> i) & 1U) << bit));
      }
    }
    return group;
  }
};

#else

class CodeGroup {
 public:
  static HWY_INLINE CodeGroup load(const void* from) {
    CodeGroup group;
    for (int p = 0; p < kParts; ++p) {
      group.part_[p] = hn::LoadU(kTag, static_cast<const std::uint8_t*>(from) + p * kLanes);
    }
    return group;
  }
  HWY_INLINE void store(void* to) const {
    for (int p = 0; p < kParts; ++p) {
      hn::StoreU(part_[p], kTag, static_cast<std::uint8_t*>(to) + p * kLanes);
    }
  }

  [[nodiscard]] HWY_INLINE CodeGroup zigzag() const {
    CodeGroup group;
    for (int p = 0; p < kParts; ++p) {
      const auto negative = hn::BitCast(kTag, hn::VecFromMask(kSigned, sign_bits(part_[p])));
      group.part_[p] = hn::Xor(hn::Add(part_[p], part_[p]), negative);
    }
    return group;
  }
  [[nodiscard]] HWY_INLINE CodeGroup unzigzag() const {
    // Bytes have no shift of their own: pairs are shifted and the neighbour's bit removed.
    constexpr hn::Repartition<std::uint16_t, Tag> kPairs;
    CodeGroup group;
    for (int p = 0; p < kParts; ++p) {
      const auto half = hn::And(hn::BitCast(kTag, hn::ShiftRight<1>(hn::BitCast(kPairs, part_[p]))),
                                hn::Set(kTag, std::uint8_t{127}));
      const auto odd = hn::And(part_[p], hn::Set(kTag, std::uint8_t{1}));
      group.part_[p] = hn::Xor(half, hn::Sub(hn::Zero(kTag), odd));
    }
    return group;
  }
  [[nodiscard]] HWY_INLINE int width() const {
    constexpr hn::Repartition<std::uint64_t, Tag> kWords;
    auto any = part_[0];
    for (int p = 1; p < kParts; ++p) any = hn::Or(any, part_[p]);
    HWY_ALIGN std::uint64_t words[kLanes / 8];
    hn::Store(hn::BitCast(kWords, any), kWords, words);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    all |= all >> 32;
    all |= all >> 16;
    all |= all >> 8;
    return std::bit_width(static_cast<std::uint8_t>(all));
  }
  HWY_INLINE void pack(int width, std::uint8_t* out) const {
    for (int p = 0; p < kParts; ++p) {
      auto shifted = part_[p];
      for (int bit = 7; bit >= 0; --bit) {
        if (bit < width) {
          hn::StoreMaskBits(kSigned, sign_bits(shifted), out + 4 * bit + p * (kLanes / 8));
        }
        shifted = hn::Add(shifted, shifted);
      }
    }
  }
  static HWY_INLINE CodeGroup unpack(const std::uint8_t* planes, int width) {
    CodeGroup group;
    for (int p = 0; p < kParts; ++p) {
      auto sum = hn::Zero(kTag);
      for (int bit = 0; bit < width; ++bit) {
        const auto set = hn::LoadMaskBits(kTag, planes + 4 * bit + p * (kLanes / 8));
        const auto value = hn::Set(kTag, static_cast<std::uint8_t>(1U << bit));
        sum = hn::Or(sum, hn::IfThenElseZero(set, value));
      }
      group.part_[p] = sum;
    }
    return group;
  }

 private:
  using Tag = hn::CappedTag<std::uint8_t, kGroup>;
  using Signed = hn::RebindToSigned<Tag>;
  static constexpr Tag kTag{};
  static constexpr Signed kSigned{};
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
  static constexpr int kParts = static_cast<int>(kGroup) / kLanes;

  static HWY_INLINE hn::Mask<Signed> sign_bits(hn::Vec<Tag> bytes) {
    return hn::Lt(hn::BitCast(kSigned, bytes), hn::Zero(kSigned));
  }

  hn::Vec<Tag> part_[kParts];
};

#endif

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
