#include "ui/model/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace shardscope::ui {
namespace {

/// "+", "−" or "±" for what rounds to zero.
std::string signed_text(double value, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return (zero ? "±" : value < 0 ? "−" : "+") + digits;
}

}  // namespace

std::string ms_text(double seconds) {
  return fmt::format("{:.3f}", seconds * 1e3);
}

std::string short_ms_text(double seconds) {
  const double ms = seconds * 1e3;
  if (ms < 1) return fmt::format("{:.3f}", ms);
  if (ms < 10) return fmt::format("{:.2f}", ms);
  if (ms < 1000) return fmt::format("{:.1f}", ms);
  return grouped_text(std::llround(ms));
}

std::string signed_ms_text(double seconds) {
  return signed_text(seconds * 1e3, 3);
}

std::string signed_percent_text(double share) {
  return signed_text(share * 100, 1) + " %";
}

std::string percent_text(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string gib_text(double bytes) {
  const double gib = bytes / kGiB;
  if (gib > 0 && gib < 0.005) return "<.01";
  if (gib < 0.095) return fmt::format("{:.2f}", gib);
  if (gib < 10000) return fmt::format("{:.1f}", gib);
  return grouped_text(std::llround(gib));
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (std::abs(bytes) >= 999.5 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  if (unit == 0 || bytes >= 99.5) return fmt::format("{:.0f} {}", bytes, units[unit]);
  return fmt::format("{:.{}f} {}", bytes, bytes >= 9.95 ? 1 : 2, units[unit]);
}

std::string count_text(double count) {
  if (count < 1e4) return grouped_text(std::llround(count));
  if (count < 1e6) return fmt::format("{:.1f}K", count / 1e3);
  if (count < 1e7) return fmt::format("{:.2f}M", count / 1e6);
  if (count < 1e9) return fmt::format("{:.1f}M", count / 1e6);
  return fmt::format("{:.2f}B", count / 1e9);
}

std::string grouped_text(std::int64_t value) {
  std::string digits = fmt::format(
      "{}", value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return (value < 0 ? "−" : "") + digits;
}

std::string mega_text(double per_second) {
  return fmt::format("{:.2f}", per_second / 1e6);
}

Rate rate_text(double samples_per_s) {
  if (samples_per_s >= 1e6) return {mega_text(samples_per_s), "M samples/s"};
  return {fmt::format("{:.2f}", samples_per_s / 1e3), "K samples/s"};
}

std::string duration_text(double ns) {
  const double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 1e6) return fmt::format("{:.1f} µs", ns / 1e3);
  if (size < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string plural(std::int64_t count, const std::string& one) {
  return grouped_text(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace shardscope::ui
