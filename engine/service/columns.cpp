#include "engine/service/columns.hpp"

#include "engine/service/column_codec.hpp"
#include "layout/schedule.hpp"

namespace shardscope::service {
std::string columns_of(std::span<const Span> spans) {
  std::string bytes;
  bytes.reserve(spans.size() * kSpanBytes);
  append_column(bytes, spans, [](const Span& span) { return span.start_ns; });
  append_column(bytes, spans, [](const Span& span) { return span.end_ns; });
  append_column(bytes, spans, [](const Span& span) { return span.busy_ns; });
  append_column(bytes, spans, [](const Span& span) { return span.intra_bytes; });
  append_column(bytes, spans, [](const Span& span) { return span.inter_bytes; });
  append_column(bytes, spans, [](const Span& span) { return span.rows; });
  append_column(bytes, spans, [](const Span& span) { return span.iteration; });
  append_column(bytes, spans, [](const Span& span) { return span.rank; });
  append_column(bytes, spans, [](const Span& span) { return span.stage; });
  append_column(bytes, spans, [](const Span& span) { return span.work; });
  append_column(bytes, spans, [](const Span& span) { return span.stream; });
  append_column(bytes, spans, [](const Span& span) { return std::uint8_t{span.waiting}; });
  return bytes;
}

Result<std::vector<Span>> spans_of(std::string_view columns, std::size_t count) {
  if (Status length = require_length("spans", columns, count, kSpanBytes); !length) {
    return fail(length.error());
  }
  std::vector<Span> spans(count);
  ColumnReader reader(columns);
  const bool valid = reader.column<std::int64_t>(spans, into(&Span::start_ns)) &&
                     reader.column<std::int64_t>(spans, into(&Span::end_ns)) &&
                     reader.column<std::int64_t>(spans, into(&Span::busy_ns)) &&
                     reader.column<std::int64_t>(spans, into(&Span::intra_bytes)) &&
                     reader.column<std::int64_t>(spans, into(&Span::inter_bytes)) &&
                     reader.column<std::int64_t>(spans, into(&Span::rows)) &&
                     reader.column<std::int32_t>(spans, into(&Span::iteration)) &&
                     reader.column<std::int32_t>(spans, into(&Span::rank)) &&
                     reader.column<std::uint8_t>(spans, into_enum(&Span::stage, kStages)) &&
                     reader.column<std::uint8_t>(spans, into_enum(&Span::work, kWorks)) &&
                     reader.column<std::uint8_t>(spans, into(&Span::stream)) &&
                     reader.column<std::uint8_t>(spans, into_flag(&Span::waiting));
  if (!valid) {
    return fail(
        column_error("spans", "a stage, work or flag does not exist", "values this version knows"));
  }
  return spans;
}

std::string columns_of(std::span<const Iteration> iterations) {
  std::string bytes;
  bytes.reserve(iterations.size() * kIterationBytes);
  append_column(bytes, iterations, [](const Iteration& it) { return it.start_ns; });
  append_column(bytes, iterations, [](const Iteration& it) { return it.end_ns; });
  append_column(bytes, iterations, [](const Iteration& it) { return it.loss; });
  append_column(bytes, iterations, [](const Iteration& it) { return it.index; });
  append_column(bytes, iterations, [](const Iteration& it) { return it.block; });
  append_column(bytes, iterations, [](const Iteration& it) { return std::uint8_t{it.warm_up}; });
  append_column(bytes, iterations, [](const Iteration& it) { return std::uint8_t{it.traced}; });
  return bytes;
}

Result<std::vector<Iteration>> iterations_of(std::string_view columns, std::size_t count) {
  if (Status length = require_length("iterations", columns, count, kIterationBytes); !length) {
    return fail(length.error());
  }
  std::vector<Iteration> iterations(count);
  ColumnReader reader(columns);
  const bool valid = reader.column<std::int64_t>(iterations, into(&Iteration::start_ns)) &&
                     reader.column<std::int64_t>(iterations, into(&Iteration::end_ns)) &&
                     reader.column<double>(iterations, into(&Iteration::loss)) &&
                     reader.column<std::int32_t>(iterations, into(&Iteration::index)) &&
                     reader.column<std::int32_t>(iterations, into(&Iteration::block)) &&
                     reader.column<std::uint8_t>(iterations, into_flag(&Iteration::warm_up)) &&
                     reader.column<std::uint8_t>(iterations, into_flag(&Iteration::traced));
  if (!valid) return fail(column_error("iterations", "a flag is neither 0 nor 1", "0 or 1"));
  return iterations;
}

}  // namespace shardscope::service
