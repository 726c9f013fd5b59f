#include "tests/fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace shardscope::fuzz {

namespace {

/// Texts that parsers of numbers, JSON and CSV treat specially.
constexpr std::array<std::string_view, 24> kTokens = {"-1",
                                                      "0",
                                                      "9223372036854775807",
                                                      "9223372036854775808",
                                                      "-9223372036854775809",
                                                      "1e308",
                                                      "1e999",
                                                      "NaN",
                                                      "null",
                                                      "true",
                                                      "[]",
                                                      "{}",
                                                      "\"\"",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "\xff\xfe",
                                                      ",",
                                                      ":",
                                                      "\n",
                                                      "\t",
                                                      "\"",
                                                      "[[[[[[[[",
                                                      "{\"a\":",
                                                      "2147483648"};

class Mutator {
 public:
  Mutator(const std::vector<Bytes>& corpus, std::mt19937_64& random)
      : corpus_(corpus), random_(random), bytes_(corpus[below(corpus.size())]) {}

  void change() {
    switch (below(8)) {
      case 0:
        return flip_bit();
      case 1:
        return replace_byte();
      case 2:
        return insert_token();
      case 3:
        return remove_piece();
      case 4:
        return copy_piece(bytes_);
      case 5:
        return copy_piece(corpus_[below(corpus_.size())]);
      case 6:
        return replace_digits();
      default:
        return bytes_.resize(below(bytes_.size() + 1));
    }
  }

  [[nodiscard]] Bytes take() {
    if (bytes_.size() > kLargestInput) bytes_.resize(kLargestInput);
    return std::move(bytes_);
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  [[nodiscard]] auto at(std::size_t index) {
    return bytes_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  void flip_bit() {
    if (bytes_.empty()) return;
    bytes_[below(bytes_.size())] ^= static_cast<std::uint8_t>(1U << below(8));
  }

  void replace_byte() {
    if (bytes_.empty()) return;
    bytes_[below(bytes_.size())] = static_cast<std::uint8_t>(below(256));
  }

  void insert_token() {
    const std::string_view token = kTokens[below(kTokens.size())];
    bytes_.insert(at(below(bytes_.size() + 1)), token.begin(), token.end());
  }

  void remove_piece() {
    const std::size_t begin = below(bytes_.size());
    const std::size_t end = std::min(bytes_.size(), begin + 1 + below(32));
    bytes_.erase(at(begin), at(end));
  }

  void copy_piece(Bytes from) {
    const std::size_t begin = below(from.size());
    const std::size_t count = std::min(from.size() - begin, 1 + below(64));
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
    bytes_.insert(at(below(bytes_.size() + 1)), first, first + static_cast<std::ptrdiff_t>(count));
  }

  /// Numbers decide sizes and loops; a run of digits becomes a number of another magnitude.
  void replace_digits() {
    const auto is_digit = [](std::uint8_t byte) { return byte >= '0' && byte <= '9'; };
    const auto begin = std::find_if(at(below(bytes_.size())), bytes_.end(), is_digit);
    const auto end = std::find_if_not(begin, bytes_.end(), is_digit);
    if (begin == end) return;
    const std::string_view token = kTokens[below(5)];
    const auto hole = bytes_.erase(begin, end);
    bytes_.insert(hole, token.begin(), token.end());
  }

  const std::vector<Bytes>& corpus_;
  std::mt19937_64& random_;
  Bytes bytes_;
};

}  // namespace

Bytes mutate(const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  Mutator mutator(corpus, random);
  const std::size_t changes = 1 + random() % 8;
  for (std::size_t i = 0; i < changes; ++i) mutator.change();
  return mutator.take();
}

}  // namespace shardscope::fuzz
