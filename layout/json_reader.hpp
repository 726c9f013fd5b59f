#pragma once
// Reads the fields of JSON objects into plain values: types and ranges checked, unknown fields
// refused, the path of the first error kept. Used by every format; one reader a text.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/closest.hpp"
#include "layout/json_value.hpp"
#include "layout/names.hpp"
#include "layout/result.hpp"

namespace shardscope {

/// Collects the first error of a text. Reading goes on after an error without further effect, so
/// that readers need no check at every field.
class JsonErrors {
 public:
  explicit JsonErrors(std::string place) : place_(std::move(place)) {}

  void add(const std::string& path, std::string what, std::string expected, std::string cure = {});
  [[nodiscard]] bool any() const { return error_.has_value(); }
  /// The first error; call only when any().
  [[nodiscard]] const Error& first() const { return *error_; }

 private:
  std::string place_;
  std::optional<Error> error_;
};

enum class Need : std::uint8_t { required, optional };

/// The fields of one object. Every name that is asked for is known; finish() refuses the others.
/// A field that is absent and optional leaves its target unchanged.
class JsonFields {
 public:
  JsonFields(JsonErrors& errors, const JsonValue& value, std::string path);

  template <class Int>
  void whole(const char* name, Int& out, Need need, std::int64_t low, std::int64_t high) {
    if (const JsonValue* value = take(name, need)) {
      if (const auto number = whole_of(*value, path_of(name), low, high)) {
        out = static_cast<Int>(*number);
      }
    }
  }
  void number(const char* name, double& out, Need need, double low, double high);
  /// A required number; null stands for one that was not computed and becomes NaN.
  void number_or_nan(const char* name, double& out);
  void text(const char* name, std::string& out, Need need);
  void flag(const char* name, bool& out);
  template <class E>
  void choice(const char* name, E& out, Need need) {
    std::string text_value;
    const bool present = has(name);
    text(name, text_value, need);
    if (!present || errors_.any()) return;
    if (const auto value = parse_name<E>(text_value)) {
      out = *value;
    } else {
      const std::vector<std::string> names(Names<E>::values.begin(), Names<E>::values.end());
      errors_.add(path_of(name), "\"" + text_value + "\" is unknown", choices_of<E>(),
                  did_you_mean(text_value, names));
    }
  }
  template <class Int>
  void whole_list(const char* name, std::vector<Int>& out, Need need, std::int64_t low,
                  std::int64_t high) {
    const JsonValue::Array* items = list(name, need);
    if (items == nullptr) return;
    out.clear();
    out.reserve(items->size());
    for (std::size_t i = 0; i < items->size() && !errors_.any(); ++i) {
      if (const auto number = whole_of((*items)[i], item_path(name, i), low, high)) {
        out.push_back(static_cast<Int>(*number));
      }
    }
  }
  void number_list(const char* name, std::vector<double>& out, Need need, double low, double high);

  /// The list of that name, or null when absent or wrong.
  [[nodiscard]] const JsonValue::Array* list(const char* name, Need need);
  /// The field itself, or null when absent.
  [[nodiscard]] const JsonValue* take(const char* name, Need need);
  /// Accepts the field, whatever it holds.
  void ignore(const char* name) { known_.push_back(name); }

  [[nodiscard]] bool has(const char* name) const { return peek(name) != nullptr; }
  [[nodiscard]] const JsonValue* peek(const char* name) const { return value_->find(name); }
  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] std::string item_path(std::string_view name, std::size_t index) const;
  [[nodiscard]] JsonErrors& errors() { return errors_; }

  /// Names of the object's fields that nobody asked for.
  [[nodiscard]] std::vector<std::string> unknown() const;
  /// Reports the first unknown field with the nearest known name.
  void finish();

  [[nodiscard]] std::optional<std::int64_t> whole_of(const JsonValue& value,
                                                     const std::string& path, std::int64_t low,
                                                     std::int64_t high);
  [[nodiscard]] std::optional<double> number_of(const JsonValue& value, const std::string& path,
                                                double low, double high);

 private:
  JsonErrors& errors_;
  const JsonValue* value_;
  std::string path_;
  std::vector<std::string> known_;
};

inline constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMostInt64 = std::numeric_limits<std::int64_t>::max();
inline constexpr double kMostDouble = std::numeric_limits<double>::max();

/// Checks the field "format" ("shardscope.layout/1") of a root object: name and version.
void read_format(JsonFields& fields, std::string_view name, int version);

}  // namespace shardscope
