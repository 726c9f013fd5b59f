#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "engine/batches/random.hpp"
#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/line_reader.hpp"
#include "engine/batches/recorded/row_parser.hpp"

namespace shardscope::engine {
namespace {

constexpr std::array<const char*, 5> kFormatNames = {"criteo_tsv", "headed_csv", "slot_lines",
                                                     "field_csv", "sequence_csv"};

Result<std::unique_ptr<RowParser>> make_parser(StreamFormat format, std::string_view first_line,
                                               const LinePlace& place) {
  switch (format) {
    case StreamFormat::criteo_tsv:
      return make_criteo_parser();
    case StreamFormat::headed_csv:
      return make_headed_csv_parser(first_line, place);
    case StreamFormat::slot_lines:
      return make_slot_parser();
    case StreamFormat::field_csv:
      return make_field_parser();
    case StreamFormat::sequence_csv:
      return make_sequence_parser();
  }
  return make_slot_parser();
}

/// Passes every sample line to handle(line, place).
template <class Handle>
Status for_each_sample(std::istream& in, const std::string& place, std::int64_t header_lines,
                       const Handle& handle) {
  in.clear();
  in.seekg(0);
  LineReader reader(in, place);
  for (;;) {
    auto line = reader.next();
    if (!line) return fail(std::move(line.error()));
    if (!*line) return {};
    if (reader.number() <= header_lines) continue;
    if (auto status = handle(**line, LinePlace{place, reader.number()}); !status) return status;
  }
}

tl::unexpected<Error> no_samples(const std::string& place) {
  return fail({ErrorKind::usage, "the file holds no samples", place, "one sample a line",
               "Choose another file"});
}

/// The format in front of the path, if there is one.
std::pair<std::optional<StreamFormat>, std::string> split_spec(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  if (colon != std::string::npos) {
    const auto format = stream_format_by_name(std::string_view(spec).substr(0, colon));
    if (format) return {format, spec.substr(colon + 1)};
  }
  return {std::nullopt, spec};
}

}  // namespace

const char* to_string(StreamFormat value) {
  return kFormatNames[static_cast<std::size_t>(value)];
}

std::optional<StreamFormat> stream_format_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (name == kFormatNames[i]) return static_cast<StreamFormat>(i);
  }
  return {};
}

std::uint32_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::uint32_t>(mix64(hash) >> 32);
}

std::optional<StreamFormat> recognise_format(std::string_view first_line) {
  std::vector<std::string_view> fields;
  split(first_line, '\t', fields);
  if (fields.size() == 40 && (fields[0] == "0" || fields[0] == "1")) {
    return StreamFormat::criteo_tsv;
  }
  split(first_line, ',', fields);
  const auto has_colon = [](std::string_view field) {
    return field.find(':') != std::string_view::npos && field.find(' ') == std::string_view::npos;
  };
  if (fields.size() > 1) {
    if (has_colon(fields.back())) return StreamFormat::field_csv;
    const bool numbers = std::all_of(fields.begin(), fields.end(),
                                     [](auto field) { return parse_number(field).has_value(); });
    return numbers ? StreamFormat::sequence_csv : StreamFormat::headed_csv;
  }
  split(first_line, ' ', fields);
  std::erase_if(fields, [](std::string_view field) { return field.empty(); });
  if (!fields.empty() && std::all_of(fields.begin(), fields.end(), has_colon)) {
    return StreamFormat::slot_lines;
  }
  split(first_line, '\t', fields);
  return fields.size() > 1 ? std::optional(StreamFormat::headed_csv) : std::nullopt;
}

Result<RecordedStream> read_stream_from(std::istream& in, const std::string& place,
                                        std::optional<StreamFormat> format) {
  LineReader reader(in, place);
  auto first = reader.next();
  if (!first) return fail(std::move(first.error()));
  if (!*first) return no_samples(place);
  const std::string first_line(**first);
  const LinePlace first_place{place, 1};
  if (!format) format = recognise_format(first_line);
  if (!format) {
    return malformed(first_place, fmt::format("{} fits no known stream", shown(first_line)),
                     fmt::format("{}", fmt::join(kFormatNames, ", ")));
  }
  auto parser = make_parser(*format, first_line, first_place);
  if (!parser) return fail(std::move(parser.error()));
  RowParser& rows = **parser;
  const std::int64_t header = rows.header_lines();
  if (rows.needs_survey()) {
    auto status = for_each_sample(
        in, place, header,
        [&](std::string_view line, const LinePlace& at) { return rows.survey(line, at); });
    if (!status) return fail(std::move(status.error()));
  }
  RecordedStream stream;
  stream.path = place;
  stream.format = *format;
  stream.first_line = header + 1;
  if (auto status = rows.begin(stream); !status) return fail(std::move(status.error()));
  auto status = for_each_sample(in, place, header, [&](std::string_view line, const LinePlace& at) {
    auto parsed = rows.parse(line, at, stream);
    if (parsed) ++stream.samples;
    return parsed;
  });
  if (!status) return fail(std::move(status.error()));
  if (stream.samples == 0) return no_samples(place);
  return stream;
}

Result<RecordedStream> read_stream(const std::string& spec) {
  const auto [format, path] = split_spec(spec);
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  if (type == std::filesystem::file_type::directory) {
    return fail({ErrorKind::usage, "it is a directory", path, "a file with one sample a line",
                 "Name the file inside it"});
  }
  if (type != std::filesystem::file_type::regular &&
      type != std::filesystem::file_type::not_found) {
    return fail({ErrorKind::usage, "it is not a regular file", path,
                 "a file, because it may be read twice", "Write the stream to a file first"});
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail({ErrorKind::usage, "the stream cannot be opened", path, "a readable file",
                 "Check the path and its permissions"});
  }
  return read_stream_from(in, path, format);
}

std::string RecordedStream::place(std::int64_t sample) const {
  return LinePlace{path, first_line + sample}.text();
}

Result<ColumnRange> find_column(const RecordedStream& stream, std::string_view name) {
  const auto index_of = [&](std::string_view wanted) {
    const auto found =
        std::find_if(stream.columns.begin(), stream.columns.end(),
                     [&](const IdColumn& column) { return column.name() == wanted; });
    return static_cast<std::size_t>(found - stream.columns.begin());
  };
  const std::size_t single = index_of(name);
  if (single < stream.columns.size()) return ColumnRange{single, single};
  const std::size_t dash = name.find('-');
  if (stream.format == StreamFormat::sequence_csv && dash != std::string_view::npos) {
    const std::size_t first = index_of(name.substr(0, dash));
    const std::size_t last = index_of(name.substr(dash + 1));
    // Positions between that hold no whole numbers are no columns: the range must not skip them.
    const bool whole = first <= last && last < stream.columns.size() &&
                       parse_integer(stream.columns[last].name()).value_or(0) -
                               parse_integer(stream.columns[first].name()).value_or(0) ==
                           static_cast<std::int64_t>(last - first);
    if (whole) return ColumnRange{first, last};
  }
  constexpr std::size_t kMostNames = 30;
  std::vector<std::string> names;
  for (const IdColumn& column : stream.columns) names.push_back(column.name());
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return fail(
      {ErrorKind::usage, fmt::format("there is no column {}", shown(name)), stream.path,
       fmt::format("one of {}{}", fmt::join(names, ", "),
                   stream.format == StreamFormat::sequence_csv ? ", or a range as 0-49" : ""),
       "Correct the feature's column"});
}

}  // namespace shardscope::engine
