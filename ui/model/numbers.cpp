#include "ui/model/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

namespace shardscope::ui {
namespace {

/// "+", "−" or "±" for what rounds to zero.
std::string signed_text(double value, int decimals) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return (zero ? "±" : value < 0 ? "−" : "+") + digits;
}

/// Three, and one more for each leading zero behind the first: 0.0123, 0.00123.
int ms_decimals(double seconds) {
  const double ms = std::abs(seconds) * 1e3;
  if (ms == 0 || ms >= 0.09995) return 3;
  return ms >= 0.009995 ? 4 : 5;
}

}  // namespace

std::string ms_text(double seconds) {
  return fmt::format("{:.{}f}", seconds * 1e3, ms_decimals(seconds));
}

std::string short_ms_text(double seconds) {
  const double ms = seconds * 1e3;
  if (ms < 1) return ms_text(seconds);
  if (ms < 10) return fmt::format("{:.2f}", ms);
  if (ms < 1000) return fmt::format("{:.1f}", ms);
  return grouped_text(std::llround(ms));
}

std::string signed_ms_text(double seconds) {
  // More digits only where three would leave one or none.
  const double ms = std::abs(seconds) * 1e3;
  const int decimals = ms < 5e-5 || ms >= 0.0095 ? 3 : ms >= 0.00095 ? 4 : 5;
  return signed_text(seconds * 1e3, decimals);
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

int decimals_of(double step) {
  constexpr int kMost = 6;
  double scaled = std::abs(step);
  for (int decimals = 0; decimals < kMost; ++decimals, scaled *= 10) {
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return kMost;
}

std::string axis_text(double value, double step) {
  return fmt::format("{:.{}f}", std::abs(value) < step * 1e-6 ? 0.0 : value, decimals_of(step));
}

std::string column_ms_text(double seconds, double largest) {
  const double ms = largest * 1e3;
  const int decimals = ms >= 100 ? 1 : ms >= 1 ? 2 : ms_decimals(largest);
  return fmt::format("{:.{}f}", seconds * 1e3, decimals);
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

std::string local_time_text(std::int64_t utc_s, const char* format) {
  const std::time_t seconds = utc_s;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, format, &local);
  return {text, length};
}

}  // namespace shardscope::ui
