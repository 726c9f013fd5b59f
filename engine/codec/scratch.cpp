#include "engine/codec/scratch.hpp"

#include <fmt/format.h>

#include "engine/codec/lossless.hpp"
#include "engine/codec/planes.hpp"
#include "engine/codec/row_numbers.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kMostValues = INT32_MAX;

/// Hands out pieces of a block, or only adds them up.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class T>
  T* take(std::int64_t count) {
    constexpr std::int64_t kLine = 64;
    auto* piece = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + kLine - 1) / kLine * kLine;
    return piece;
  }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

}  // namespace

template <class Take>
void CodecScratch::carve(std::int64_t max_values, std::int64_t max_rows, Take& pieces) {
  words_ = pieces.template take<std::int32_t>((groups_of(max_values) + 1) * kGroup);
  widths_ = pieces.template take<std::uint8_t>(groups_of(max_values));
  slots_ = pieces.template take<std::uint64_t>(RowTable::slots_for(max_rows));
  index_ = pieces.template take<std::uint32_t>(max_rows);
  narrow_ = pieces.template take<std::uint8_t>(max_rows);
  escapes_ = pieces.template take<std::uint32_t>(max_escapes(max_values));
  escaped_rows_ = pieces.template take<std::uint32_t>(max_escapes(max_values));
  compressor_ = pieces.template take<std::byte>(lossless_state_bytes());
}

std::int64_t CodecScratch::bytes_for(std::int64_t max_values, std::int64_t max_rows) {
  Carver sizes(nullptr);
  CodecScratch().carve(max_values, max_rows, sizes);
  return sizes.used();
}

Result<CodecScratch> CodecScratch::create(std::int64_t max_values, std::int64_t max_rows) {
  if (max_values > kMostValues) {
    return fail({ErrorKind::usage, fmt::format("a chunk of {} values is too large", max_values), "",
                 fmt::format("at most {} values", kMostValues), "Encode it in several chunks"});
  }
  auto memory = HugeMemory::allocate(bytes_for(max_values, max_rows), "memory of a codec");
  if (!memory) return tl::unexpected(memory.error());
  CodecScratch made;
  made.memory_ = std::move(*memory);
  made.max_values_ = max_values;
  made.max_rows_ = max_rows;
  Carver carver(made.memory_.data());
  made.carve(max_values, max_rows, carver);
  return made;
}

}  // namespace shardscope::engine
