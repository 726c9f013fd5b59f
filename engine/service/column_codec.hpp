#pragma once
// Writing and reading columns of numbers, for the record kinds of columns.hpp.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "layout/result.hpp"

namespace shardscope::service {

/// Unsigned integer of a number's width, for its bytes.
template <class T>
using ColumnBits =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

template <class Record, class Value>
void append_column(std::string& bytes, std::span<const Record> records, Value value) {
  for (const Record& record : records) {
    const auto number = value(record);
    const auto bits = std::bit_cast<ColumnBits<decltype(number)>>(number);
    for (std::size_t i = 0; i < sizeof(number); ++i) {
      bytes += static_cast<char>(bits >> (8 * i) & 0xff);
    }
  }
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
    ColumnBits<T> bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bits = static_cast<ColumnBits<T>>(
          bits | static_cast<ColumnBits<T>>(ColumnBits<T>{static_cast<unsigned char>(rest_[i])}
                                            << (8 * i)));
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

[[nodiscard]] inline Error column_error(const char* records, std::string what,
                                        std::string expected) {
  return {ErrorKind::runtime, std::move(what), fmt::format("protocol, columns of {}", records),
          std::move(expected), ""};
}

[[nodiscard]] inline Status require_length(const char* records, std::string_view columns,
                                           std::size_t count, std::size_t record_bytes) {
  if (count <= columns.size() && columns.size() == count * record_bytes) return {};
  return fail(column_error(records, fmt::format("{} bytes for {} records", columns.size(), count),
                           fmt::format("{} bytes each", record_bytes)));
}

}  // namespace shardscope::service
