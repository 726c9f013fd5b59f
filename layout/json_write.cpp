#include <fmt/core.h>

#include <cmath>

#include "layout/json_value.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kWidth = 100;

/// Bytes of the UTF-8 sequence at the front of `text`; 0 if it is not one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool too_large = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

/// A double stays a double when read back: 1.0, not 1.
std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void append_flat(std::string& out, const JsonValue& value, const char* comma, const char* colon) {
  if (const auto* array = value.array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += comma;
      append_flat(out, (*array)[i], comma, colon);
    }
    out += ']';
  } else if (const auto* object = value.object()) {
    out += '{';
    for (std::size_t i = 0; i < object->size(); ++i) {
      if (i > 0) out += comma;
      append_text(out, (*object)[i].first);
      out += colon;
      append_flat(out, (*object)[i].second, comma, colon);
    }
    out += '}';
  } else if (const auto* text = value.text()) {
    append_text(out, *text);
  } else if (const auto* flag = std::get_if<bool>(&value.data)) {
    out += *flag ? "true" : "false";
  } else if (const auto* whole = std::get_if<std::int64_t>(&value.data)) {
    out += fmt::format("{}", *whole);
  } else if (const auto* number = std::get_if<double>(&value.data)) {
    out += number_text(*number);
  } else {
    out += "null";
  }
}

void append_wrapped(std::string& out, const JsonValue& value, std::size_t indent,
                    std::size_t column);

/// Scalars of a long list fill lines; everything else stands on a line of its own.
void append_array(std::string& out, const JsonValue::Array& array, std::size_t indent) {
  const std::string margin(indent + 1, ' ');
  out += "[\n";
  out += margin;
  std::size_t column = margin.size();
  for (std::size_t i = 0; i < array.size(); ++i) {
    const bool scalar = array[i].array() == nullptr && array[i].object() == nullptr;
    std::string item;
    append_wrapped(item, array[i], indent + 1, margin.size());
    const bool fits = scalar && column + item.size() + 2 < kWidth;
    if (i > 0) out += fits ? ", " : ",\n";
    if (i > 0 && !fits) out += margin;
    column = (fits ? column + 2 : margin.size()) + item.size();
    out += item;
  }
  out += '\n';
  out.append(indent, ' ');
  out += ']';
}

void append_object(std::string& out, const JsonValue::Object& object, std::size_t indent) {
  const std::string margin(indent + 1, ' ');
  out += "{\n";
  for (std::size_t i = 0; i < object.size(); ++i) {
    std::string name;
    append_text(name, object[i].first);
    out += margin;
    out += name;
    out += ": ";
    append_wrapped(out, object[i].second, indent + 1, margin.size() + name.size() + 2);
    out += i + 1 < object.size() ? ",\n" : "\n";
  }
  out.append(indent, ' ');
  out += '}';
}

void append_wrapped(std::string& out, const JsonValue& value, std::size_t indent,
                    std::size_t column) {
  std::string flat;
  append_flat(flat, value, ", ", ": ");
  const bool fits = column + flat.size() + 1 <= kWidth;
  if (!fits && value.array() != nullptr) return append_array(out, *value.array(), indent);
  if (!fits && value.object() != nullptr) return append_object(out, *value.object(), indent);
  out += flat;
}

}  // namespace

std::string write_json(const JsonValue& value) {
  std::string out;
  append_wrapped(out, value, 0, 0);
  out += '\n';
  return out;
}

std::string write_json_line(const JsonValue& value) {
  std::string out;
  append_flat(out, value, ",", ":");
  return out;
}

}  // namespace shardscope
