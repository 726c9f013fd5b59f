#include "layout/byte_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace shardscope {

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kUnits[unit]);
}

std::string bytes_per_s_text(double bytes_per_s) {
  constexpr std::array kUnits = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
  std::size_t unit = 0;
  while (std::abs(bytes_per_s) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes_per_s /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || bytes_per_s >= 99.95 ? 0 : bytes_per_s >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes_per_s, decimals, kUnits[unit]);
}

}  // namespace shardscope
