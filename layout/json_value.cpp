#include "layout/json_value.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

namespace shardscope {

namespace {

struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
};

LineColumn locate(std::string_view text, std::size_t offset) {
  LineColumn at;
  for (const char c : text.substr(0, std::min(offset, text.size()))) {
    at.column = c == '\n' ? 1 : at.column + 1;
    if (c == '\n') ++at.line;
  }
  return at;
}

/// Builds the tree from parser events; refuses what is too deep, too large or named twice.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
    if (value <= static_cast<number_unsigned_t>(kLargest)) {
      return add(static_cast<std::int64_t>(value));
    }
    return add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Object{}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(JsonValue::Array{}); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.name = name;
    if (!level.names.insert(name).second) {
      return refuse(fmt::format("the field \"{}\" stands twice in one object", name),
                    "every field once", "Remove one of the two");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    const std::size_t offset = position == 0 ? 0 : position - 1;
    const LineColumn at = locate(text_, offset);
    error_ = Error{ErrorKind::usage, describe(error),
                   fmt::format("{}:{}:{}", place_, at.line, at.column), "JSON text",
                   "Correct the text there"};
    return false;
  }

  [[nodiscard]] Result<JsonValue> take() {
    if (error_) return fail(std::move(*error_));
    return std::move(root_);
  }

 private:
  /// An open array or object. Values are moved into their parent when they are complete, so
  /// that no pointer into a growing vector is kept.
  struct Level {
    JsonValue value;
    std::string name;  ///< of the field being read
    std::unordered_set<std::string> names;
  };

  /// The parser's sentence without its own idea of the place.
  static std::string describe(const nlohmann::json::exception& error) {
    const std::string_view what = error.what();
    if (error.id == 406) return "a number is too large for a 64-bit float";
    const std::size_t at = what.find(": ");
    return "malformed JSON: " + std::string(at == what.npos ? what : what.substr(at + 2));
  }

  bool refuse(std::string what, std::string expected, std::string cure) {
    error_ = Error{ErrorKind::usage, std::move(what), place_ + path(), std::move(expected),
                   std::move(cure)};
    return false;
  }

  /// ": tables[3]" of the innermost open value; empty at the root.
  [[nodiscard]] std::string path() const {
    std::string text;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      if (const JsonValue::Array* array = level.value.array()) {
        text += fmt::format("[{}]", array->size());
      } else {
        text += (text.empty() ? "" : ".") + level.name;
      }
    }
    return text.empty() ? text : ": " + text;
  }

  bool count() {
    if (++values_ <= kMostJsonValues) return true;
    return refuse(fmt::format("more than {} values in one text", kMostJsonValues), "a smaller file",
                  "Check that this is the file you meant");
  }

  bool open(JsonValue value) {
    if (!count()) return false;
    if (levels_.size() >= kDeepestJson) {
      return refuse(fmt::format("nested deeper than {} levels", kDeepestJson), "a flatter text",
                    "Check that this is the file you meant");
    }
    levels_.push_back({std::move(value), {}, {}});
    return true;
  }

  bool close() {
    JsonValue value = std::move(levels_.back().value);
    levels_.pop_back();
    return attach(std::move(value));
  }

  bool add(JsonValue value) { return count() && attach(std::move(value)); }

  bool attach(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Level& parent = levels_.back();
    if (auto* array = std::get_if<JsonValue::Array>(&parent.value.data)) {
      array->push_back(std::move(value));
    } else {
      std::get<JsonValue::Object>(parent.value.data).emplace_back(parent.name, std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& place_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
  JsonValue root_;
  std::optional<Error> error_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const Object* fields = object();
  if (fields == nullptr) return nullptr;
  for (const auto& [key, value] : *fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

const char* JsonValue::kind() const {
  constexpr const char* kKinds[] = {"null",   "true or false", "a whole number", "a number",
                                    "a text", "a list",        "an object"};
  return kKinds[data.index()];
}

Result<JsonValue> parse_json(std::string_view text, const std::string& place) {
  if (text.size() > kLargestJsonText) {
    return fail({ErrorKind::usage, fmt::format("the text has {} bytes", text.size()), place,
                 fmt::format("at most {} bytes of JSON", kLargestJsonText),
                 "Check that this is the file you meant"});
  }
  TreeBuilder builder(text, place);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace shardscope
