#pragma once
// Lines of a text stream, read in blocks, with their numbers.

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "layout/result.hpp"

namespace shardscope::engine {

class LineReader {
 public:
  /// Longer lines are an error: no stream needs them, binary files have them.
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20;

  LineReader(std::istream& in, std::string place) : in_(in), place_(std::move(place)) {}

  /// The next line without its end ("\n" or "\r\n") and without a leading byte order mark, valid
  /// until the next call; empty optional at the end. Blank lines at the end of the file are
  /// skipped, elsewhere they are an error, so that samples are consecutive lines.
  [[nodiscard]] Result<std::optional<std::string_view>> next();
  /// Number of the line last returned, from 1.
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] std::string place() const;

 private:
  [[nodiscard]] bool refill();
  /// Any line, blank ones too.
  [[nodiscard]] Result<std::optional<std::string_view>> raw();

  std::istream& in_;
  std::string place_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace shardscope::engine
