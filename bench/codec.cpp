// Codecs on real batches beside their peers on one core: ratios with everything counted, GB/s of
// fp32 in and out, and how much sooner a chunk arrives over links of 1 and 4 GB/s than
// uncompressed: 1 / (1 / ratio + B / encode + B / decode).
//
//   codec [FILE.f32 ROWS DIM BOUND]...      default: ../shared/data/embeddings at 1 % and 3 %

#include <blosc.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zfp.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/codec/measure.hpp"
#include "engine/codec/quantizer.hpp"
#include "profiler/median.hpp"

namespace shardscope::engine {
namespace {

struct Batch {
  std::string file;
  ChunkShape shape;
  double bound;
  std::vector<float> values;
};

struct Line {
  std::string name;
  double bytes = 0;
  double encode_gb_s = 0;
  double decode_gb_s = 0;
};

double median_seconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  std::vector<double> times;
  for (double spent = 0; times.size() < 5 || spent < 0.15; spent += times.back()) {
    const Clock::time_point start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median(std::move(times));
}

/// A peer: encode returns the bytes it wrote to `packed`.
struct Peer {
  std::string name;
  std::function<std::size_t()> encode;
  std::function<void()> decode;
};

/// Buffers and calls of all peers for one batch.
class Peers {
 public:
  explicit Peers(const Batch& batch)
      : batch_(batch),
        quantizer_(
            quantizer_of(absolute_bound({CodecKind::fixed, batch.bound, true},
                                        finite_range(batch.values.data(), batch.shape.values())))),
        codes_(batch.values.size() + 64),
        packed_(ZSTD_compressBound(4 * batch.values.size()) + 65536),
        out_(batch.values.size()),
        escapes_(1024) {}

  std::vector<Line> measure() {
    std::vector<Line> lines;
    for (const Peer& peer :
         {zstd("zstd-1", 1, false), zstd("quantized + zstd-1", 1, true),
          zstd("quantized + zstd-9", 9, true), lz4(), blosc("blosc shuffle lz4", false),
          blosc("quantized + blosc bitshuffle lz4", true), zfp()}) {
      std::size_t bytes = 0;
      const double encode_s = median_seconds([&] { bytes = peer.encode(); });
      packed_bytes_ = bytes;
      const double decode_s = median_seconds(peer.decode);
      const double gigabytes = 4.0 * static_cast<double>(batch_.values.size()) / 1e9;
      lines.push_back({peer.name, static_cast<double>(bytes) + kExchangedSizeBytes,
                       gigabytes / encode_s, gigabytes / decode_s});
    }
    return lines;
  }

 private:
  [[nodiscard]] std::size_t value_bytes() const { return 4 * batch_.values.size(); }

  /// What a peer compresses: the codes of the bound, or the values.
  std::pair<const void*, std::size_t> source(bool quantized) {
    if (!quantized) return {batch_.values.data(), value_bytes()};
    Escapes escapes{escapes_.data(), 1024, 0};
    if (!quantize(quantizer_, batch_.values.data(), batch_.shape.values(), codes_.data(),
                  escapes)) {
      std::abort();
    }
    return {codes_.data(), batch_.values.size()};
  }
  [[nodiscard]] std::pair<void*, std::size_t> target(bool quantized) {
    if (quantized) return {codes_.data(), batch_.values.size()};
    return {out_.data(), value_bytes()};
  }
  void expand(bool quantized) {
    if (!quantized) return;
    expand_8({codes_.data(), nullptr, batch_.shape.rows, batch_.shape.dim, quantizer_.step,
              out_.data()});
  }

  Peer zstd(const char* name, int level, bool quantized) {
    return {name,
            [=, this] {
              const auto [from, bytes] = source(quantized);
              return ZSTD_compressCCtx(zstd_in_, packed_.data(), packed_.size(), from, bytes,
                                       level);
            },
            [=, this] {
              const auto [to, bytes] = target(quantized);
              ZSTD_decompressDCtx(zstd_out_, to, bytes, packed_.data(), packed_bytes_);
              expand(quantized);
            }};
  }

  Peer lz4() {
    return {"lz4",
            [this] {
              return static_cast<std::size_t>(LZ4_compress_default(
                  reinterpret_cast<const char*>(batch_.values.data()), packed_.data(),
                  static_cast<int>(value_bytes()), static_cast<int>(packed_.size())));
            },
            [this] {
              LZ4_decompress_safe(packed_.data(), reinterpret_cast<char*>(out_.data()),
                                  static_cast<int>(packed_bytes_), static_cast<int>(value_bytes()));
            }};
  }

  Peer blosc(const char* name, bool quantized) {
    return {name,
            [=, this] {
              const auto [from, bytes] = source(quantized);
              return static_cast<std::size_t>(blosc_compress_ctx(
                  5, quantized ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE, quantized ? 1 : 4, bytes, from,
                  packed_.data(), packed_.size(), "lz4", 0, 1));
            },
            [=, this] {
              const auto [to, bytes] = target(quantized);
              blosc_decompress_ctx(packed_.data(), to, bytes, 1);
              expand(quantized);
            }};
  }

  /// Fixed accuracy: zfp's own bound on the error.
  Peer zfp() {
    const auto run = [this](float* values, bool encode) {
      zfp_field* field =
          zfp_field_2d(values, zfp_type_float, static_cast<std::size_t>(batch_.shape.dim),
                       static_cast<std::size_t>(batch_.shape.rows));
      zfp_stream* stream = zfp_stream_open(nullptr);
      zfp_stream_set_accuracy(stream, static_cast<double>(quantizer_.bound));
      bitstream* bits = stream_open(packed_.data(), packed_.size());
      zfp_stream_set_bit_stream(stream, bits);
      zfp_stream_rewind(stream);
      const std::size_t bytes =
          encode ? zfp_compress(stream, field) : zfp_decompress(stream, field);
      zfp_field_free(field);
      zfp_stream_close(stream);
      stream_close(bits);
      return bytes;
    };
    return {"zfp accuracy",
            [=, this] { return run(const_cast<float*>(batch_.values.data()), true); },
            [=, this] { run(out_.data(), false); }};
  }

  const Batch& batch_;
  Quantizer quantizer_;
  std::vector<std::int8_t> codes_;
  std::vector<char> packed_;
  std::size_t packed_bytes_ = 0;
  std::vector<float> out_;
  std::vector<std::uint32_t> escapes_;
  ZSTD_CCtx* zstd_in_ = ZSTD_createCCtx();
  ZSTD_DCtx* zstd_out_ = ZSTD_createDCtx();
};

void print(const Batch& batch, std::vector<Line> lines) {
  const double bytes = 4.0 * static_cast<double>(batch.values.size());
  const auto speedup = [&](const Line& line, double link) {
    return 1 / (line.bytes / bytes + link / line.encode_gb_s + link / line.decode_gb_s);
  };
  fmt::print("\n{} {} x {}, bound {:g} of the range\n", batch.file, batch.shape.rows,
             batch.shape.dim, batch.bound);
  fmt::print("{:<34} {:>8} {:>10} {:>10} {:>9} {:>9}\n", "", "ratio", "encode", "decode",
             "at 1 GB/s", "at 4 GB/s");
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const Line& a, const Line& b) { return speedup(a, 1) > speedup(b, 1); });
  for (const Line& line : lines) {
    fmt::print("{:<34} {:>8.2f} {:>10.2f} {:>10.2f} {:>9.2f} {:>9.2f}\n", line.name,
               bytes / line.bytes, line.encode_gb_s, line.decode_gb_s, speedup(line, 1),
               speedup(line, 4));
  }
}

int bench(const Batch& batch) {
  const auto scratch = CodecScratch::create(batch.shape.values(), batch.shape.rows);
  if (!scratch) return 1;
  std::vector<Line> lines = Peers(batch).measure();
  for (const CodecKind kind : kAllCodecs) {
    if (kind == CodecKind::zstd || kind == CodecKind::lz4) continue;
    const CodecMeasurement one =
        measure_codec({kind, batch.bound, true}, batch.values.data(), batch.shape, *scratch, 0.15);
    lines.push_back({"* " + std::string(name_of(kind)), static_cast<double>(one.wire_bytes()),
                     one.encode_gb_s(), one.decode_gb_s()});
  }
  print(batch, std::move(lines));
  return 0;
}

int bench_file(const std::string& path, std::int64_t rows, std::int64_t dim, double bound) {
  Batch batch{path.substr(path.find_last_of('/') + 1), {rows, dim}, bound, {}};
  batch.values.resize(static_cast<std::size_t>(rows * dim));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(batch.values.data()),
            static_cast<std::streamsize>(4 * batch.values.size()));
  if (!file) {
    fmt::print(stderr, "codec: {} cannot be read as {} x {} fp32 values\n", path, rows, dim);
    return 1;
  }
  return bench(batch);
}

}  // namespace
}  // namespace shardscope::engine

int main(int argc, char** argv) {
  using shardscope::engine::bench_file;
  fmt::print(
      "One core; GB/s of fp32. * marks ours. Ratios count headers, indices, code tables and "
      "the exchanged size.\n");
  int failures = 0;
  if (argc > 1) {
    for (int i = 1; i + 3 < argc; i += 4) {
      failures += bench_file(argv[i], std::atoll(argv[i + 1]), std::atoll(argv[i + 2]),
                             std::atof(argv[i + 3]));
    }
    return failures;
  }
  const std::string folder = "../shared/data/embeddings/";
  for (const double bound : {0.01, 0.03}) {
    failures += bench_file(folder + "terabyte_table1_2048x64.f32", 2048, 64, bound);
    failures += bench_file(folder + "terabyte_table8_2048x64.f32", 2048, 64, bound);
    failures += bench_file(folder + "kaggle_table5_128x32.f32", 128, 32, bound);
  }
  return failures;
}
