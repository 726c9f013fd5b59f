#pragma once
// Text as a stream that gives it piece by piece.

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "storage/import/unpack.hpp"

namespace shardscope::test {

class TextStream : public storage::ByteStream {
 public:
  explicit TextStream(std::string text, std::size_t piece = 7)
      : text_(std::move(text)), piece_(piece) {}

  Result<std::size_t> read(char* out, std::size_t bytes) override {
    const std::size_t count = std::min({bytes, piece_, text_.size() - at_});
    std::memcpy(out, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

}  // namespace shardscope::test
