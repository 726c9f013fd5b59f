#pragma once
// Tables of text: columns as wide as their longest cell, numbers to the right, units in headers.

#include <string>
#include <vector>

#include "layout/byte_text.hpp"

namespace shardscope::app {

enum class Align : unsigned char { left, right };

class TextTable {
 public:
  struct Column {
    std::string header;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column; missing ones are empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A line between the rows before and after.
  void rule() { rows_.push_back({}); }

  /// Lines end with '\n' and have no trailing blanks. `indent` blanks before each.
  [[nodiscard]] std::string text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< an empty one is a rule
};

/// A bar of `width` columns for `share` (0..1) in eighths of a block: "█████▍    ".
[[nodiscard]] std::string bar(double share, int width);

/// "1,234,567".
[[nodiscard]] std::string grouped(long long value);
/// "1 rank", "1,234 ranks".
[[nodiscard]] std::string counted(long long count, const char* one);
/// "40.0 M", "1.20 k", "950": counts in powers of 1,000.
[[nodiscard]] std::string count_text(double value);
/// Milliseconds with four significant digits: "0.0123", "1.234", "123.4", "1234".
[[nodiscard]] std::string ms_text(double ms);
/// "1 min 23 s", "4.2 s", "0 s".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace shardscope::app
