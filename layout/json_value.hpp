#pragma once
// A JSON text as a tree of plain values, strictly read and readably written. The versioned formats
// are built on it (layout/json_reader.hpp).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "layout/result.hpp"

namespace shardscope {

/// One JSON value. Fields keep the order of the text.
struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  /// Whole numbers that fit are std::int64_t; all others double.
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> data;

  JsonValue() : data(nullptr) {}
  JsonValue(bool value) : data(value) {}  // NOLINT(google-explicit-constructor)
  JsonValue(std::int32_t value)
      : data(std::int64_t{value}) {}                          // NOLINT(google-explicit-constructor)
  JsonValue(std::int64_t value) : data(value) {}              // NOLINT(google-explicit-constructor)
  JsonValue(double value) : data(value) {}                    // NOLINT(google-explicit-constructor)
  JsonValue(std::string value) : data(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  JsonValue(const char* value) : data(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  JsonValue(Array value) : data(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  JsonValue(Object value) : data(std::move(value)) {}         // NOLINT(google-explicit-constructor)

  [[nodiscard]] const Object* object() const { return std::get_if<Object>(&data); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&data); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(data); }
  /// The field of an object, or null.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  /// "a number", "an object", ... for messages.
  [[nodiscard]] const char* kind() const;

  friend bool operator==(const JsonValue&, const JsonValue&) = default;
};

/// Bounds of an input: beyond them a text is refused, whoever sent it.
inline constexpr std::size_t kLargestJsonText = std::size_t{64} << 20;
inline constexpr std::size_t kMostJsonValues = std::size_t{4} << 20;
inline constexpr std::size_t kDeepestJson = 32;

/// Strict JSON (RFC 8259, UTF-8). Errors name `place`:line:column, except those of duplicate
/// fields, which name the field's path.
[[nodiscard]] Result<JsonValue> parse_json(std::string_view text, const std::string& place);

/// Objects and arrays on one line where they fit in 100 columns. Numbers read back equal;
/// numbers that JSON cannot express (infinity, NaN) are null; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string write_json(const JsonValue& value);

/// Everything on one line, without spaces.
[[nodiscard]] std::string write_json_line(const JsonValue& value);

}  // namespace shardscope
