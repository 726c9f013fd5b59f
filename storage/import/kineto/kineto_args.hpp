#pragma once
// What one event of a Kineto trace says, as bounded numbers: later sums, differences and products
// of them stay within 64 bits.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::storage {

/// Absolute times (ns since 1970 are below 2^61) and the lengths of single pieces of work.
inline constexpr std::int64_t kEarliestTraceNs = -(std::int64_t{1} << 50);
inline constexpr std::int64_t kLatestTraceNs = std::int64_t{1} << 61;
inline constexpr std::int64_t kLongestWorkNs = std::int64_t{1} << 50;
/// Bytes and elements of one copy, collective or operator.
inline constexpr std::int64_t kMostTraceBytes = std::int64_t{1} << 50;

/// The parts of args that matter. Numbers are as written; users bound them.
struct KinetoArgs {
  std::int64_t stream = 0;
  std::int64_t device = 0;
  std::int64_t context = 0;
  std::int64_t correlation = 0;
  std::int64_t bytes = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
  std::int64_t in_elements = -1;
  std::int64_t out_elements = -1;
  std::int64_t group_size = 0;
  std::string dtype;
  std::vector<std::int64_t> in_splits;    ///< elements by peer of the group
  std::vector<std::int64_t> group_ranks;  ///< the group's ranks; may be cut short ("[0, 1, ...]")
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::vector<std::vector<std::int64_t>> dims;  ///< of the operator's inputs
  std::vector<std::string> types;               ///< of the first two inputs
};

/// One event. `start_ns` is relative to the trace's base.
struct KinetoEvent {
  std::string phase;
  std::string category;
  std::string name;
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ns = 0;
  std::int64_t thread = 0;
  KinetoArgs args;
};

/// Decimal microseconds as ns without a detour over a double: absolute times have 16 digits before
/// the point. Nothing outside kEarliestTraceNs .. kLatestTraceNs.
[[nodiscard]] std::optional<std::int64_t> kineto_ns(std::string_view text);

/// The nearest number that 32 bits hold.
[[nodiscard]] std::int32_t narrowed(std::int64_t value);

/// `value` in 0 .. most, else nothing.
[[nodiscard]] std::optional<std::int64_t> bounded(std::int64_t value, std::int64_t most);

}  // namespace shardscope::storage
