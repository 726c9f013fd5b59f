#include "engine/codec/planes.hpp"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/planes.cpp"
#include <hwy/foreach_target.h>
#include "engine/codec/code_group-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

void widths_8(const std::int8_t* codes, std::int64_t count, std::uint8_t* widths) {
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    widths[g] = static_cast<std::uint8_t>(CodeGroup::load(codes).zigzag().width());
  }
}

void pack_8(const std::int8_t* codes, std::int64_t count, const std::uint8_t* widths,
            std::byte* to) {
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    CodeGroup::load(codes).zigzag().pack(widths[g], out);
    out += 4 * widths[g];
  }
}

void unpack_8(const std::byte* from, const std::uint8_t* widths, std::int64_t count,
              std::int8_t* codes) {
  const auto* planes = reinterpret_cast<const std::uint8_t*>(from);
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    CodeGroup::unpack(planes, widths[g]).unzigzag().store(codes);
    planes += 4 * widths[g];
  }
}

HWY_INLINE std::uint32_t zigzag_of(std::int32_t code) {
  return (static_cast<std::uint32_t>(code) << 1) ^ static_cast<std::uint32_t>(code >> 31);
}

void widths_32(const std::int32_t* codes, std::int64_t count, std::uint8_t* widths) {
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    std::uint32_t any = 0;
    for (std::int64_t i = 0; i < kGroup; ++i) any |= zigzag_of(codes[i]);
    widths[g] = static_cast<std::uint8_t>(std::bit_width(any));
  }
}

/// Wide codes go through their bytes: byte k of all 32 codes carries planes 8 k to 8 k + 7.
void pack_32(const std::int32_t* codes, std::int64_t count, const std::uint8_t* widths,
             std::byte* to) {
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    for (int first = 0; first < widths[g]; first += 8) {
      std::uint8_t byte[kGroup];
      for (std::int64_t i = 0; i < kGroup; ++i) {
        byte[i] = static_cast<std::uint8_t>(zigzag_of(codes[i]) >> first);
      }
      const int planes = HWY_MIN(8, widths[g] - first);
      CodeGroup::load(byte).pack(planes, out);
      out += 4 * planes;
    }
  }
}

void unpack_32(const std::byte* from, const std::uint8_t* widths, std::int64_t count,
               std::int32_t* codes) {
  const auto* planes = reinterpret_cast<const std::uint8_t*>(from);
  for (std::int64_t g = 0; g < groups_of(count); ++g, codes += kGroup) {
    std::uint32_t sums[kGroup] = {};
    for (int first = 0; first < widths[g]; first += 8) {
      const int here = HWY_MIN(8, widths[g] - first);
      std::uint8_t byte[kGroup];
      CodeGroup::unpack(planes, here).store(byte);
      planes += 4 * here;
      for (std::int64_t i = 0; i < kGroup; ++i) sums[i] |= std::uint32_t{byte[i]} << first;
    }
    for (std::int64_t i = 0; i < kGroup; ++i) {
      codes[i] = static_cast<std::int32_t>((sums[i] >> 1) ^ (0U - (sums[i] & 1U)));
    }
  }
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(widths_8);
HWY_EXPORT(widths_32);
HWY_EXPORT(pack_8);
HWY_EXPORT(pack_32);
HWY_EXPORT(unpack_8);
HWY_EXPORT(unpack_32);

void code_widths(const std::int8_t* codes, std::int64_t count, std::uint8_t* widths) {
  HWY_DYNAMIC_DISPATCH(widths_8)(codes, count, widths);
}

void code_widths(const std::int32_t* codes, std::int64_t count, std::uint8_t* widths) {
  HWY_DYNAMIC_DISPATCH(widths_32)(codes, count, widths);
}

void pack_planes(const std::int8_t* codes, std::int64_t count, const std::uint8_t* widths,
                 std::byte* out) {
  HWY_DYNAMIC_DISPATCH(pack_8)(codes, count, widths, out);
}

void pack_planes(const std::int32_t* codes, std::int64_t count, const std::uint8_t* widths,
                 std::byte* out) {
  HWY_DYNAMIC_DISPATCH(pack_32)(codes, count, widths, out);
}

void unpack_planes(const std::byte* planes, const std::uint8_t* widths, std::int64_t count,
                   std::int8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_8)(planes, widths, count, codes);
}

void unpack_planes(const std::byte* planes, const std::uint8_t* widths, std::int64_t count,
                   std::int32_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_32)(planes, widths, count, codes);
}

}  // namespace shardscope::engine
#endif
