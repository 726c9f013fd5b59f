#include "layout/json_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "layout/closest.hpp"

namespace shardscope {

namespace {

const JsonValue kEmptyObject{JsonValue::Object{}};

/// A value as it stands in a message: short.
std::string quoted(const JsonValue& value) {
  constexpr std::size_t kLongest = 40;
  if (value.array() != nullptr || value.object() != nullptr) return value.kind();
  std::string text = write_json_line(value);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

/// Doubles beyond 2^53 no longer hold every whole number.
constexpr double kLargestExactWhole = 9007199254740992.0;

std::optional<std::int64_t> exact_whole(const JsonValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return *whole;
  const auto* number = std::get_if<double>(&value.data);
  if (number == nullptr || std::floor(*number) != *number) return std::nullopt;
  if (std::abs(*number) > kLargestExactWhole) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

void JsonErrors::add(const std::string& path, std::string what, std::string expected,
                     std::string cure) {
  if (error_) return;
  const std::string place = path.empty() ? place_ : place_ + ": " + path;
  error_ = Error{ErrorKind::usage, std::move(what), place, std::move(expected), std::move(cure)};
}

JsonFields::JsonFields(JsonErrors& errors, const JsonValue& value, std::string path)
    : errors_(errors), value_(&value), path_(std::move(path)) {
  if (value.object() != nullptr) return;
  errors_.add(path_, fmt::format("{} where an object belongs", value.kind()), "{...}");
  value_ = &kEmptyObject;
}

std::string JsonFields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::string JsonFields::item_path(std::string_view name, std::size_t index) const {
  return fmt::format("{}[{}]", path_of(name), index);
}

const JsonValue* JsonFields::take(const char* name, Need need) {
  known_.emplace_back(name);
  const JsonValue* value = value_->find(name);
  if (value == nullptr && need == Need::required) {
    const std::string meant = closest_name(name, unknown());
    errors_.add(path_, fmt::format("the field \"{}\" is missing", name), "it in this object",
                meant.empty() ? "" : fmt::format("\"{}\" may be meant for it", meant));
  }
  return value;
}

std::optional<std::int64_t> JsonFields::whole_of(const JsonValue& value, const std::string& path,
                                                 std::int64_t low, std::int64_t high) {
  const std::optional<std::int64_t> whole = exact_whole(value);
  if (whole && *whole >= low && *whole <= high) return whole;
  errors_.add(path, fmt::format("{} does not belong here", quoted(value)),
              fmt::format("a whole number from {} to {}", low, high));
  return std::nullopt;
}

std::optional<double> JsonFields::number_of(const JsonValue& value, const std::string& path,
                                            double low, double high) {
  std::optional<double> number;
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value.data)) {
    number = *real;
  }
  if (number && *number >= low && *number <= high) return number;
  const std::string expected = high == kMostDouble && low == -kMostDouble ? "a number"
                               : high == kMostDouble
                                   ? fmt::format("a number >= {}", low)
                                   : fmt::format("a number from {} to {}", low, high);
  errors_.add(path, fmt::format("{} does not belong here", quoted(value)), expected);
  return std::nullopt;
}

void JsonFields::number(const char* name, double& out, Need need, double low, double high) {
  if (const JsonValue* value = take(name, need)) {
    if (const auto number = number_of(*value, path_of(name), low, high)) out = *number;
  }
}

void JsonFields::number_or_nan(const char* name, double& out) {
  const JsonValue* value = peek(name);
  if (value != nullptr && value->is_null()) {
    ignore(name);
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    number(name, out, Need::required, -kMostDouble, kMostDouble);
  }
}

void JsonFields::text(const char* name, std::string& out, Need need) {
  const JsonValue* value = take(name, need);
  if (value == nullptr) return;
  if (const std::string* found = value->text()) {
    out = *found;
  } else {
    errors_.add(path_of(name), fmt::format("{} does not belong here", quoted(*value)), "a text");
  }
}

void JsonFields::flag(const char* name, bool& out) {
  const JsonValue* value = take(name, Need::optional);
  if (value == nullptr) return;
  if (const bool* found = std::get_if<bool>(&value->data)) {
    out = *found;
  } else {
    errors_.add(path_of(name), fmt::format("{} does not belong here", quoted(*value)),
                "true or false");
  }
}

void JsonFields::number_list(const char* name, std::vector<double>& out, Need need, double low,
                             double high) {
  const JsonValue::Array* items = list(name, need);
  if (items == nullptr) return;
  out.clear();
  out.reserve(items->size());
  for (std::size_t i = 0; i < items->size() && !errors_.any(); ++i) {
    if (const auto number = number_of((*items)[i], item_path(name, i), low, high)) {
      out.push_back(*number);
    }
  }
}

const JsonValue::Array* JsonFields::list(const char* name, Need need) {
  const JsonValue* value = take(name, need);
  if (value == nullptr) return nullptr;
  if (value->array() == nullptr) {
    errors_.add(path_of(name), fmt::format("{} does not belong here", quoted(*value)), "a list");
  }
  return value->array();
}

std::vector<std::string> JsonFields::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : *value_->object()) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) names.push_back(name);
  }
  return names;
}

void JsonFields::finish() {
  if (errors_.any()) return;
  const std::vector<std::string> names = unknown();
  if (names.empty()) return;
  const std::string meant = did_you_mean(names.front(), known_);
  errors_.add(path_of(names.front()), "unknown field", "one of " + join_names(known_),
              meant.empty() ? "Remove it" : meant);
}

void read_format(JsonFields& fields, std::string_view name, int version) {
  std::string text;
  fields.text("format", text, Need::required);
  if (fields.errors().any()) return;
  const std::string expected = fmt::format("shardscope.{}/{}", name, version);
  if (text == expected) return;
  const std::string prefix = fmt::format("shardscope.{}/", name);
  int found = 0;
  const char* digits = text.data() + std::min(prefix.size(), text.size());
  const char* end = text.data() + text.size();
  const bool numbered =
      text.starts_with(prefix) && std::from_chars(digits, end, found).ptr == end && found > version;
  fields.errors().add(fields.path_of("format"), fmt::format("\"{}\" is not read here", text),
                      "\"" + expected + "\"",
                      numbered ? "It was written by a newer version; update this program"
                               : "Check that this is the file you meant");
}

}  // namespace shardscope
