// Any bytes as a recorded stream, under the recognised format and under every other one.

#include <optional>
#include <sstream>
#include <string>

#include "engine/batches/recorded/stream.hpp"
#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace shardscope::engine {
namespace {

void check_recorded_stream(const std::string& text, std::optional<StreamFormat> format) {
  std::istringstream in(text);
  const auto stream = read_stream_from(in, "input", format);
  if (!stream) {
    SHARDSCOPE_CHECK(!stream.error().what.empty() && !stream.error().place.empty(),
                     "an error says what and where");
    return;
  }
  const auto samples = static_cast<std::size_t>(stream->samples);
  SHARDSCOPE_CHECK(samples > 0, "an empty stream is an error");
  SHARDSCOPE_CHECK(stream->dense.size() == samples * stream->dense_names.size(), "dense inputs");
  SHARDSCOPE_CHECK(stream->labels.empty() || stream->labels.size() == samples, "labels");
  for (const IdColumn& column : stream->columns) {
    SHARDSCOPE_CHECK(column.samples() == stream->samples, "every column has every sample");
    std::int64_t at = 0;
    for (std::int64_t sample = 0; sample < stream->samples; ++sample) {
      SHARDSCOPE_CHECK(column.begin(sample) == at, "bags follow each other");
      SHARDSCOPE_CHECK(column.begin(sample + 1) >= at, "a bag has no negative length");
      at = column.begin(sample + 1);
    }
    SHARDSCOPE_CHECK(at == column.ids(), "bags hold all ids");
    SHARDSCOPE_CHECK(find_column(*stream, column.name()).has_value(), "columns are found by name");
  }
}

}  // namespace
}  // namespace shardscope::engine

SHARDSCOPE_FUZZ_TARGET(recorded_stream) {
  using shardscope::engine::StreamFormat;
  const std::string text(shardscope::fuzz::text_of(input));
  shardscope::engine::check_recorded_stream(text, std::nullopt);
  for (const auto format :
       {StreamFormat::criteo_tsv, StreamFormat::headed_csv, StreamFormat::slot_lines,
        StreamFormat::field_csv, StreamFormat::sequence_csv}) {
    shardscope::engine::check_recorded_stream(text, format);
  }
}
