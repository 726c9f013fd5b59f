#include "engine/service/columns.hpp"

#include <fmt/format.h>

#include <bit>
#include <type_traits>

#include "layout/schedule.hpp"

namespace shardscope::service {
namespace {

/// Unsigned integer of a number's width, for its bytes.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

template <class T>
void append(std::string& bytes, T value) {
  const auto bits = std::bit_cast<Bits<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
}

template <class Record, class Value>
void append_column(std::string& bytes, std::span<const Record> records, Value value) {
  for (const Record& record : records) append(bytes, value(record));
}

/// Takes columns off the front of a tail whose length was checked.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  /// Gives every record its value; false where `set` refuses one.
  template <class T, class Record, class Set>
  bool column(std::vector<Record>& records, Set set) {
    for (Record& record : records) {
      if (!set(record, value<T>())) return false;
    }
    return true;
  }

 private:
  template <class T>
  T value() {
    Bits<T> bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bits = static_cast<Bits<T>>(
          bits | static_cast<Bits<T>>(Bits<T>{static_cast<unsigned char>(rest_[i])} << (8 * i)));
    }
    rest_.remove_prefix(sizeof(T));
    return std::bit_cast<T>(bits);
  }

  std::string_view rest_;
};

/// A setter for a member that takes any value.
template <class Record, class T>
auto into(T Record::*member) {
  return [member](Record& record, T value) {
    record.*member = value;
    return true;
  };
}

/// A setter for a flag: 0 or 1.
template <class Record>
auto into_flag(bool Record::*member) {
  return [member](Record& record, std::uint8_t value) {
    record.*member = value != 0;
    return value <= 1;
  };
}

/// A setter for an enumerator below `count`.
template <class Record, class Enum>
auto into_enum(Enum Record::*member, int count) {
  return [member, count](Record& record, std::uint8_t value) {
    record.*member = static_cast<Enum>(value);
    return value < count;
  };
}

Error column_error(const char* records, std::string what, std::string expected) {
  return {ErrorKind::runtime, std::move(what), fmt::format("protocol, columns of {}", records),
          std::move(expected), ""};
}

Status require_length(const char* records, std::string_view columns, std::size_t count,
                      std::size_t record_bytes) {
  if (count <= columns.size() && columns.size() == count * record_bytes) return {};
  return fail(column_error(records, fmt::format("{} bytes for {} records", columns.size(), count),
                           fmt::format("{} bytes each", record_bytes)));
}

}  // namespace

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
