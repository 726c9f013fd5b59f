#include "app/gpu_codec_rates.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "layout/models.hpp"

namespace shardscope::app {
namespace {

/// Bytes of fp32 values a second. Sources, read 2026-11:
/// SC'24: the constants of the artifact's selection script (dlrm_comp, cr_log.py), A100, batches of
/// 16 to 64 MB; its Huffman stage has no deduplication before it.
/// cuSZp: fixed-length blocks, averages on A100; deduplication before them is not in the figures.
/// nvCOMP: the artifact's logs, A100, harmonic means.
struct PublishedRate {
  std::string_view codec;
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};

constexpr std::array kPublishedRates = {
    PublishedRate{"vector-lz", 45e9, 290e9},     // SC'24
    PublishedRate{"dedup-huffman", 60e9, 40e9},  // SC'24, Huffman
    PublishedRate{"fixed", 332e9, 513e9},        // cuSZp
    PublishedRate{"dedup-fixed", 332e9, 513e9},  // cuSZp
    PublishedRate{"lz4", 5.4e9, 16.8e9},         // nvCOMP
};

/// Bytes read and written for 4 bytes of values; row codecs read twice, for the range first.
struct MovedBytes {
  std::string_view codec;
  double bytes = 0;
};

constexpr std::array kMovedBytes = {MovedBytes{"raw", 8},          MovedBytes{"fp16", 6},
                                    MovedBytes{"bf16", 6},         MovedBytes{"row-int8", 9},
                                    MovedBytes{"row-int8-ef", 17}, MovedBytes{"row-int4", 8.5}};

}  // namespace

bool has_gpus(const Topology& topology) {
  return topology.gpu.name != topology_by_name("host-cpu")->gpu.name;
}

double conversion_bytes_per_s(const std::string& codec, const Gpu& gpu) {
  const auto found = std::find_if(kMovedBytes.begin(), kMovedBytes.end(),
                                  [&](const MovedBytes& one) { return one.codec == codec; });
  if (found == kMovedBytes.end()) return 0;
  return gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value * 4 / found->bytes;
}

void take_gpu_rates(const Gpu& gpu, std::vector<CodecProfile>& profiles) {
  for (CodecProfile& profile : profiles) {
    if (const double rate = conversion_bytes_per_s(profile.codec, gpu); rate > 0) {
      profile.by_size = {{1, rate, rate}};
      profile.origin = Origin::prior;
      continue;
    }
    const auto found =
        std::find_if(kPublishedRates.begin(), kPublishedRates.end(),
                     [&](const PublishedRate& one) { return one.codec == profile.codec; });
    if (found == kPublishedRates.end()) continue;
    profile.by_size = {{1, found->encode_bytes_per_s, found->decode_bytes_per_s}};
    profile.origin = Origin::published;
  }
}

}  // namespace shardscope::app
