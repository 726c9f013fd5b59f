#include <memory>
#include <random>

#include "tests/gpu_check/benchmarks/figures.hpp"

namespace shardscope::engine::testing {

std::array<double, 2> codec_speed(DeviceBench& bench) {
  constexpr std::int64_t kValues = std::int64_t{16} << 20;
  constexpr std::int64_t kGroups = kValues / 32;
  auto* values = reinterpret_cast<float*>(bench.allocate(4 * kValues));
  auto* codes = reinterpret_cast<std::int32_t*>(bench.allocate(4 * kValues));
  auto* escapes = reinterpret_cast<std::uint32_t*>(bench.allocate(4 * kGroups));
  auto* widths = reinterpret_cast<std::uint8_t*>(bench.allocate(kGroups));
  auto* planes = reinterpret_cast<std::uint32_t*>(bench.allocate(22 * 4 * kGroups));
  auto* words = reinterpret_cast<std::int64_t*>(bench.allocate(8));
  if (words == nullptr || planes == nullptr || codes == nullptr) return {0, 0};
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (std::int64_t n = 0; n < kValues; ++n) values[n] = normal(random);
  const std::unique_ptr<cuda::CodecOps> codecs(bench.plugin().make_codec_ops());
  constexpr float kStep = 0.5F;
  const cuda::QuantizeCall quantize{values, kValues, 1 / kStep, kStep, kStep, 127, codes, escapes};
  const cuda::PackPlanesCall pack{
      codes, kValues / kBenchDim, kBenchDim, nullptr, nullptr, widths, planes, words};
  const cuda::UnpackPlanesCall unpack{planes, widths, kValues, codes};
  const cuda::ExpandCodesCall expand{codes, nullptr, kValues / kBenchDim, kBenchDim, kStep, values};
  const double encode = bench.speed(4.0 * kValues, [&](int) {
    codecs->quantize(bench.stream(), {&quantize, 1});
    codecs->pack_planes(bench.stream(), {&pack, 1});
  });
  const double decode = bench.speed(4.0 * kValues, [&](int) {
    codecs->unpack_planes(bench.stream(), {&unpack, 1});
    codecs->expand(bench.stream(), {&expand, 1});
  });
  return {encode, decode};
}

}  // namespace shardscope::engine::testing
