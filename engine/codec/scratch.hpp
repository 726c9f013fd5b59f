#pragma once
// Working memory of encoding and decoding, sized once for the largest chunk, so that neither
// allocates. One thread at a time uses it.

#include <cstdint>

#include "engine/cpu/memory.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

class CodecScratch {
 public:
  /// For chunks of at most so many values and rows; fewer than 2^31 values.
  [[nodiscard]] static Result<CodecScratch> create(std::int64_t max_values, std::int64_t max_rows);
  /// The same in memory of the caller: codec_scratch_bytes (layout/codec_bytes.hpp) of it, aligned
  /// to 64 bytes, which must outlive the scratch.
  [[nodiscard]] static CodecScratch in(std::byte* memory, std::int64_t max_values,
                                       std::int64_t max_rows);

  [[nodiscard]] std::int64_t max_values() const { return max_values_; }
  [[nodiscard]] std::int64_t max_rows() const { return max_rows_; }

  /// Room for max_values words and a group more.
  [[nodiscard]] std::int32_t* words() const { return words_; }
  [[nodiscard]] std::int8_t* bytes() const { return reinterpret_cast<std::int8_t*>(words_); }
  [[nodiscard]] std::uint8_t* widths() const { return widths_; }  ///< one a group
  /// Room for max_values values.
  [[nodiscard]] float* values() const { return values_; }
  [[nodiscard]] std::uint64_t* row_hashes() const { return hashes_; }      ///< one a row
  [[nodiscard]] std::uint32_t* first_rows() const { return first_; }       ///< one a row
  [[nodiscard]] std::uint32_t* code_index() const { return code_index_; }  ///< one a row
  [[nodiscard]] std::uint64_t* row_slots() const { return slots_; }        ///< RowTable
  [[nodiscard]] std::uint32_t* row_index() const { return index_; }        ///< one a row
  [[nodiscard]] std::uint8_t* narrow_index() const { return narrow_; }     ///< one a row
  [[nodiscard]] std::uint32_t* escapes() const { return escapes_; }  ///< max_escapes(max_values)
  [[nodiscard]] std::uint32_t* escaped_rows() const { return escaped_rows_; }
  /// State of the LZ4 and zstd compressors.
  [[nodiscard]] std::byte* compressor() const { return compressor_; }

  /// More escapes than this are not worth their bytes.
  [[nodiscard]] static constexpr std::int64_t max_escapes(std::int64_t values) {
    return values / 16 + 16;
  }

 private:
  HugeMemory memory_;
  std::int64_t max_values_ = 0;
  std::int64_t max_rows_ = 0;
  std::int32_t* words_ = nullptr;
  std::uint8_t* widths_ = nullptr;
  float* values_ = nullptr;
  std::uint64_t* slots_ = nullptr;
  std::uint64_t* hashes_ = nullptr;
  std::uint32_t* first_ = nullptr;
  std::uint32_t* code_index_ = nullptr;
  std::uint32_t* index_ = nullptr;
  std::uint8_t* narrow_ = nullptr;
  std::uint32_t* escapes_ = nullptr;
  std::uint32_t* escaped_rows_ = nullptr;
  std::byte* compressor_ = nullptr;
};

}  // namespace shardscope::engine
