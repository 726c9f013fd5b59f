#include "app/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/console.hpp"

namespace shardscope::app {
namespace {

std::string repeated(const char* text, int times) {
  std::string all;
  for (int index = 0; index < times; ++index) all += text;
  return all;
}

void append_cell(std::string& line, const std::string& cell, Align align, int width) {
  const std::string padding(static_cast<std::size_t>(std::max(0, width - columns_of(cell))), ' ');
  line += align == Align::right ? padding + cell : cell + padding;
}

void finish_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

}  // namespace

std::string TextTable::text(int indent) const {
  std::vector<int> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    int width = columns_of(columns_[column].header);
    for (const auto& cells : rows_) {
      if (column < cells.size()) width = std::max(width, columns_of(cells[column]));
    }
    widths.push_back(width);
  }
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string all;
  std::string header = margin;
  int total = 0;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    if (column > 0) header += "  ";
    append_cell(header, columns_[column].header, columns_[column].align, widths[column]);
    total += widths[column] + (column > 0 ? 2 : 0);
  }
  finish_line(all, header);
  for (const auto& cells : rows_) {
    if (cells.empty()) {
      finish_line(all, margin + repeated("─", total));
      continue;
    }
    std::string line = margin;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (column > 0) line += "  ";
      append_cell(line, column < cells.size() ? cells[column] : "", columns_[column].align,
                  widths[column]);
    }
    finish_line(all, line);
  }
  return all;
}

std::string bar(double share, int width) {
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(share, 0.0, 1.0);
  const int eighths = static_cast<int>(std::lround(clamped * width * 8));
  std::string text = repeated("█", eighths / 8) + kEighths[eighths % 8];
  return text + std::string(static_cast<std::size_t>(width - columns_of(text)), ' ');
}

std::string grouped(long long value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return value < 0 ? fmt::format("-{}", digits) : digits;
}

std::string counted(long long count, const char* one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string count_text(double value) {
  static const char* const kUnits[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  const int decimals = value >= 99.95 || (unit == 0 && value == std::floor(value)) ? 0
                       : value >= 9.995                                            ? 1
                                                                                   : 2;
  return fmt::format("{:.{}f}{}", value, decimals, kUnits[unit]);
}

std::string ms_text(double ms) {
  if (ms == 0) return "0";
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(ms)))) + 1;
  return fmt::format("{:.{}f}", ms, std::clamp(4 - std::max(before_point, 1), 0, 4));
}

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace shardscope::app
