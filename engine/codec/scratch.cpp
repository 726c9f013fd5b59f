#include "engine/codec/scratch.hpp"

#include <fmt/format.h>

#include "engine/codec/lossless.hpp"
#include "engine/codec/planes.hpp"
#include "engine/codec/row_numbers.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kMostValues = INT32_MAX;

/// Hands out pieces of a block, each on a line of its own.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class T>
  T* take(std::int64_t count) {
    constexpr std::int64_t kLine = 64;
    auto* piece = reinterpret_cast<T*>(base_ + used_);
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + kLine - 1) / kLine * kLine;
    return piece;
  }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

}  // namespace

CodecScratch CodecScratch::in(std::byte* memory, std::int64_t max_values, std::int64_t max_rows) {
  CodecScratch made;
  made.max_values_ = max_values;
  made.max_rows_ = max_rows;
  Carver pieces(memory);
  made.words_ = pieces.take<std::int32_t>((groups_of(max_values) + 1) * kGroup);
  made.widths_ = pieces.take<std::uint8_t>(groups_of(max_values));
  made.values_ = pieces.take<float>(max_values);
  made.hashes_ = pieces.take<std::uint64_t>(max_rows);
  made.first_ = pieces.take<std::uint32_t>(max_rows);
  made.code_index_ = pieces.take<std::uint32_t>(max_rows);
  made.slots_ = pieces.take<std::uint64_t>(RowTable::slots_for(max_rows));
  made.index_ = pieces.take<std::uint32_t>(max_rows);
  made.narrow_ = pieces.take<std::uint8_t>(max_rows);
  made.escapes_ = pieces.take<std::uint32_t>(max_escapes(max_values));
  made.escaped_rows_ = pieces.take<std::uint32_t>(max_escapes(max_values));
  made.compressor_ = pieces.take<std::byte>(kCompressorStateBytes);
  SHARDSCOPE_CHECK(pieces.used() == codec_scratch_bytes(max_values, max_rows),
                   "the scratch's pieces are not what its formula says");
  SHARDSCOPE_CHECK(lossless_state_bytes() <= kCompressorStateBytes,
                   "a compressor's state is larger than its memory");
  return made;
}

Result<CodecScratch> CodecScratch::create(std::int64_t max_values, std::int64_t max_rows) {
  if (max_values > kMostValues) {
    return fail({ErrorKind::usage, fmt::format("a chunk of {} values is too large", max_values), "",
                 fmt::format("at most {} values", kMostValues), "Encode it in several chunks"});
  }
  auto memory =
      HugeMemory::allocate(codec_scratch_bytes(max_values, max_rows), "memory of a codec");
  if (!memory) return tl::unexpected(memory.error());
  CodecScratch made = in(memory->data(), max_values, max_rows);
  made.memory_ = std::move(*memory);
  return made;
}

}  // namespace shardscope::engine
