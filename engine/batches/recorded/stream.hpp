#pragma once
// Recorded streams: files with one sample a line, read once into memory.

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batches/recorded/id_column.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

/// Formats that are recognised by their first line.
enum class StreamFormat : std::uint8_t {
  criteo_tsv,    ///< no header; tabs; label, I1..I13, C1..C26
  headed_csv,    ///< header line; commas; fields may be quoted; lists separated by '|'
  slot_lines,    ///< "slot:id" separated by spaces; click or label, dense_feature
  field_csv,     ///< commas; plain fields (number, click, ...) then "field:id", any number of each
  sequence_csv,  ///< no header; commas; only numbers; equal-length histories, single ids, label
};

[[nodiscard]] const char* to_string(StreamFormat value);
[[nodiscard]] std::optional<StreamFormat> stream_format_by_name(std::string_view name);

/// Everything a stream holds. Labels are empty where the file has none.
struct RecordedStream {
  std::string path;
  StreamFormat format = StreamFormat::criteo_tsv;
  std::int64_t first_line = 1;  ///< file line of sample 0; samples are consecutive lines
  std::int64_t samples = 0;
  std::vector<IdColumn> columns;
  std::vector<std::string> dense_names;
  std::vector<float> dense;   ///< samples x dense_names.size(), row-major
  std::vector<float> labels;  ///< 0 or 1

  /// "path:line" of a sample.
  [[nodiscard]] std::string place(std::int64_t sample) const;
};

/// Columns that one feature reads: [first, last] side by side.
struct ColumnRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Columns by name: a header's name, a slot, C1..C26; in a sequence_csv the position ("250") or a
/// range of positions ("0-49"), counted from 0. The error lists what there is.
[[nodiscard]] Result<ColumnRange> find_column(const RecordedStream& stream, std::string_view name);

/// The hash that turns text into an id: FNV-1a of the bytes, mixed (mix64), upper 32 bits. A table
/// row is the hash modulo the rows; a missing value is the empty text and has a row like any other.
[[nodiscard]] std::uint32_t hash_text(std::string_view text);

/// Reads a file. `spec` is a path, or "FORMAT:path" where the content would be recognised wrongly.
/// Errors: not a readable file, no samples, malformed lines (with line, expectation and cure).
///
/// Dense values are log(1 + max(x, 0)) in Criteo files (missing: 0) and as they stand elsewhere.
/// Labels are the column label, click, clicked, is_click, target or rating (4 and more count as 1)
/// of a header, the first field of Criteo files, the slot click or label, the second plain field of
/// a field_csv with three, the last column of a sequence_csv if it holds only 0 and 1.
[[nodiscard]] Result<RecordedStream> read_stream(const std::string& spec);

/// The same from a stream that can be rewound; `place` stands for the path in errors.
[[nodiscard]] Result<RecordedStream> read_stream_from(std::istream& in, const std::string& place,
                                                      std::optional<StreamFormat> format);

/// The format a first line looks like; empty for a line that fits none.
[[nodiscard]] std::optional<StreamFormat> recognise_format(std::string_view first_line);

}  // namespace shardscope::engine
