#include "storage/import/kineto/kineto_args.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shardscope::storage {

std::optional<std::int64_t> kineto_ns(std::string_view text) {
  constexpr std::int64_t kMostUs = kLatestTraceNs / 1000;
  while (!text.empty() && (text.front() == '"' || text.front() == ' ')) text.remove_prefix(1);
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc()) return std::nullopt;
  std::int64_t ns = 0;
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || !(std::abs(value) < static_cast<double>(kMostUs))) {
      return std::nullopt;
    }
    ns = std::llround(value * 1000);
  } else {
    if (whole > kMostUs || whole < -kMostUs) return std::nullopt;
    ns = whole * 1000;
    if (at != end && *at == '.') {
      std::int64_t unit = 100;
      for (++at; at != end && *at >= '0' && *at <= '9' && unit > 0; ++at, unit /= 10) {
        ns += (text.front() == '-' ? -1 : 1) * unit * (*at - '0');
      }
    }
  }
  if (ns < kEarliestTraceNs || ns > kLatestTraceNs) return std::nullopt;
  return ns;
}

std::int32_t narrowed(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -2147483647, 2147483647));
}

std::optional<std::int64_t> bounded(std::int64_t value, std::int64_t most) {
  if (value < 0 || value > most) return std::nullopt;
  return value;
}

}  // namespace shardscope::storage
