#pragma once
// Cuts a Chrome trace of any size into its events, in one pass over a window of bounded size.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "layout/result.hpp"
#include "storage/import/trace/trace_source.hpp"

namespace shardscope::storage {

struct SplitCounts {
  std::int64_t events = 0;
  std::int64_t oversized = 0;  ///< events above kLargestEvent, passed over
  std::int64_t lines = 0;
  bool truncated = false;  ///< the text ends before its last bracket
};

/// Largest event that is kept; larger ones are counted and passed over.
inline constexpr std::size_t kLargestEvent = std::size_t{4} << 20;

struct SplitVisitor {
  /// One object of traceEvents (or of a bare array). The bytes behind it can be read for
  /// kEventPadding bytes. `line` counts from 1.
  std::function<void(std::string_view event, std::int64_t line)> event;
  /// Another field of the root: its name and its value's text (at most 1 MiB; longer ones are left
  /// out).
  std::function<void(std::string_view name, std::string_view value)> field;
};

inline constexpr std::size_t kEventPadding = 64;

/// Errors: those of the stream; a usage error where the text is no trace.
[[nodiscard]] Result<SplitCounts> split_events(ByteStream& bytes, const std::string& place,
                                               const SplitVisitor& visitor);

}  // namespace shardscope::storage
