#pragma once
// Numbers as the desktop writes them: real minus sign, thousands by comma, three decimals for ms,
// two for M samples/s, one for % and GiB.

#include <cstdint>
#include <string>

#include "layout/byte_text.hpp"

namespace shardscope::ui {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// "0.252": milliseconds; below a tenth of one, one digit more ("0.0252", "0.00252").
[[nodiscard]] std::string ms_text(double seconds);
/// "4.29", "0.686", "12.4": milliseconds in three significant digits, for narrow columns.
[[nodiscard]] std::string short_ms_text(double seconds);
/// "+0.018", "−0.296", "±0.000".
[[nodiscard]] std::string signed_ms_text(double seconds);
/// "−8.5 %"; share of 1.
[[nodiscard]] std::string signed_percent_text(double share);
[[nodiscard]] std::string percent_text(double share);
/// "38.1", "<.01": GiB.
[[nodiscard]] std::string gib_text(double bytes);
/// Fewest decimals that write every multiple of `step` exactly: 2 for 0.25, 0 for 20; at most 6.
[[nodiscard]] int decimals_of(double step);
/// A mark of an axis with that step: marks of one axis have equal decimals.
[[nodiscard]] std::string axis_text(double value, double step);
/// Milliseconds of a column whose largest is `largest`: equal decimals, three digits of it.
[[nodiscard]] std::string column_ms_text(double seconds, double largest);
/// "40.0M", "405.3K", "2,209".
[[nodiscard]] std::string count_text(double count);
/// "3,067,956".
[[nodiscard]] std::string grouped_text(std::int64_t value);
/// "17.24": millions of samples a second.
[[nodiscard]] std::string mega_text(double per_second);
/// "17.24" and "M samples/s"; thousands below a million.
struct Rate {
  std::string value;
  std::string unit;
};
[[nodiscard]] Rate rate_text(double samples_per_s);
/// "149.8 µs", "1.090 ms", "2.4 s" from ns.
[[nodiscard]] std::string duration_text(double ns);
/// "GPU 5", "0 2 4 7", "all 8", "12 GPUs".
[[nodiscard]] std::string plural(std::int64_t count, const std::string& one);

/// A moment in this machine's time zone, in strftime's words.
[[nodiscard]] std::string local_time_text(std::int64_t utc_s, const char* format);

}  // namespace shardscope::ui
