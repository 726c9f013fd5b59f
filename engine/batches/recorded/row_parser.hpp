#pragma once
// One parser a format. A parser sees the lines once (or twice, where the kinds of columns depend
// on all lines) and appends samples to a RecordedStream.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/batches/recorded/stream.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

/// Where a line stands; made into text only for an error.
struct LinePlace {
  std::string_view path;
  std::int64_t line = 0;

  [[nodiscard]] std::string text() const;
};

class RowParser {
 public:
  virtual ~RowParser() = default;
  /// Lines before the first sample.
  [[nodiscard]] virtual std::int64_t header_lines() const { return 0; }
  /// Whether all lines must pass through survey() first.
  [[nodiscard]] virtual bool needs_survey() const { return false; }
  [[nodiscard]] virtual Status survey(std::string_view /*line*/, const LinePlace& /*place*/) {
    return {};
  }
  /// Called once after the survey, before the first sample.
  [[nodiscard]] virtual Status begin(RecordedStream& /*stream*/) { return {}; }
  /// One sample: appends to every column, to dense and to labels.
  [[nodiscard]] virtual Status parse(std::string_view line, const LinePlace& place,
                                     RecordedStream& stream) = 0;
};

[[nodiscard]] std::unique_ptr<RowParser> make_criteo_parser();
/// `header` is the first line.
[[nodiscard]] Result<std::unique_ptr<RowParser>> make_headed_csv_parser(std::string_view header,
                                                                        const LinePlace& place);
[[nodiscard]] std::unique_ptr<RowParser> make_slot_parser();
[[nodiscard]] std::unique_ptr<RowParser> make_field_parser();
[[nodiscard]] std::unique_ptr<RowParser> make_sequence_parser();

/// A malformed line.
[[nodiscard]] tl::unexpected<Error> malformed(const LinePlace& place, std::string what,
                                              std::string expected);

/// "0" or "1", also as "0.0" and "1.0"; else an error.
[[nodiscard]] Result<float> parse_label(std::string_view text, const LinePlace& place);

/// Dense value of a Criteo count: log(1 + max(x, 0)), 0 for an empty field.
[[nodiscard]] Result<float> parse_criteo_dense(std::string_view text, const LinePlace& place,
                                               std::string_view column);

/// Text of at most 40 bytes for an error, shortened with "...".
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace shardscope::engine
