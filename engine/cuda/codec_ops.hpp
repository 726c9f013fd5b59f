#pragma once
// The parts of the quantizing codecs (engine/codec) on a GPU, lists of chunks a launch. They make
// the numbers and bytes that the CPU makes: codes and escapes, distinct rows and their numbers, bit
// planes. Headers, the shorter of two index forms, Huffman codes and checksums are the CPU's yet.
//
// All pointers are device memory; calls enqueue and return. Chunks have fewer than 2^31 values.

#include <cstdint>
#include <span>

#include "engine/stream.hpp"

namespace shardscope::engine::cuda {

/// Smallest and largest finite value.
struct FiniteRangeCall {
  const float* values = nullptr;
  std::int64_t count = 0;
  std::uint32_t* words = nullptr;  ///< 2; finite_range_words() reads them
};

struct QuantizeCall {
  const float* values = nullptr;
  std::int64_t count = 0;
  float inverse = 0, step = 0, bound = 0;  ///< of the Quantizer
  float limit = 0;                         ///< largest code: 127 or 2^20
  std::int32_t* codes = nullptr;           ///< count, rounded up to 32; 0 for escapes
  std::uint32_t* escapes = nullptr;        ///< bit i of word g: value 32 g + i escapes
};

struct NumberRowsCall {
  const float* values = nullptr;
  const std::int32_t* codes = nullptr;
  const std::uint32_t* escapes = nullptr;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::uint32_t* index = nullptr;    ///< by row: number of its class, by first appearance
  std::uint32_t* first = nullptr;    ///< by number: its first row; room for `rows`
  std::int64_t* distinct = nullptr;  ///< 1
};

struct PackPlanesCall {
  const std::int32_t* codes = nullptr;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  const std::uint32_t* first = nullptr;    ///< rows that are packed; null: all
  const std::int64_t* distinct = nullptr;  ///< how many; null: `rows`
  std::uint8_t* widths = nullptr;          ///< by group; 0 behind the packed rows
  std::uint32_t* planes = nullptr;         ///< room for 22 words a group
  std::int64_t* plane_words = nullptr;     ///< 1: words written
};

struct UnpackPlanesCall {
  const std::uint32_t* planes = nullptr;
  const std::uint8_t* widths = nullptr;  ///< at most 22 each
  std::int64_t count = 0;
  std::int32_t* codes = nullptr;  ///< count, rounded up to 32
};

struct ExpandCodesCall {
  const std::int32_t* codes = nullptr;
  const std::uint32_t* index = nullptr;  ///< null: row r from row r
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  float step = 0;
  float* out = nullptr;
};

class CodecOps {
 public:
  virtual ~CodecOps() = default;

  virtual void finite_range(Stream& stream, std::span<const FiniteRangeCall> calls) = 0;
  virtual void quantize(Stream& stream, std::span<const QuantizeCall> calls) = 0;
  virtual void number_rows(Stream& stream, std::span<const NumberRowsCall> calls) = 0;
  virtual void pack_planes(Stream& stream, std::span<const PackPlanesCall> calls) = 0;
  virtual void unpack_planes(Stream& stream, std::span<const UnpackPlanesCall> calls) = 0;
  virtual void expand(Stream& stream, std::span<const ExpandCodesCall> calls) = 0;
};

/// The caller owns it.
[[nodiscard]] CodecOps* make_codec_ops();

}  // namespace shardscope::engine::cuda
