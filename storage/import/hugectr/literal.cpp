#include "storage/import/hugectr/literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "storage/import/notes.hpp"

namespace shardscope::storage {
namespace {

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

class LiteralParser {
 public:
  LiteralParser(std::string_view text, std::size_t at, std::string_view place)
      : text_(text), at_(at), place_(place) {}

  Result<Literal> parse() {
    Literal literal;
    if (!value(literal.value, 0)) return fail(*error_);
    literal.end = at_;
    return literal;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool wrong(const char* expected) {
    if (!error_) {
      const std::string found =
          at_ < text_.size() ? quoted_piece(text_.substr(at_), 20) : "the end of the file";
      error_ = Error{ErrorKind::usage, found + " does not belong here",
                     fmt::format("{}:{}", place_, line_of(text_, at_)), expected,
                     "The value must be written out, without variables and calculations"};
    }
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  bool value(JsonValue& out, std::size_t depth) {
    skip_blanks();
    if (depth > kDeepestLiteral) return wrong("at most 64 levels of brackets");
    if (++values_ > kMostJsonValues) return wrong("at most 4 million values");
    const char first = peek();
    if (first == '[') return list(out, ']', depth);
    if (first == '(') return tuple(out, depth);
    if (first == '{') return braces(out, depth);
    if (first == '"' || first == '\'') return strings(out);
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-' || first == '+' ||
        first == '.') {
      return number(out);
    }
    if (is_word(first)) return word(out, depth);
    return wrong("a list, dict, string or number");
  }

  bool list(JsonValue& out, char close, std::size_t depth) {
    ++at_;
    JsonValue::Array items;
    while (true) {
      skip_blanks();
      if (peek() == close) break;
      items.emplace_back();
      if (!value(items.back(), depth + 1)) return false;
      skip_blanks();
      if (peek() == ',') {
        ++at_;
      } else if (peek() != close) {
        return wrong(close == ']' ? "',' or ']'" : "',' or a closing bracket");
      }
    }
    ++at_;
    out = JsonValue(std::move(items));
    return true;
  }

  /// (x) is x itself, (x,) and (x, y) are tuples.
  bool tuple(JsonValue& out, std::size_t depth) {
    const std::size_t start = at_;
    JsonValue items;
    if (!list(items, ')', depth)) return false;
    JsonValue::Array& array = std::get<JsonValue::Array>(items.data);
    std::size_t last = at_ - 1;
    while (last > start && std::isspace(static_cast<unsigned char>(text_[last - 1])) != 0) --last;
    if (array.size() == 1 && text_[last - 1] != ',') {
      JsonValue inner = std::move(array.front());
      out = std::move(inner);
    } else {
      out = std::move(items);
    }
    return true;
  }

  bool braces(JsonValue& out, std::size_t depth) {
    ++at_;
    JsonValue::Object fields;
    JsonValue::Array set;
    while (true) {
      skip_blanks();
      if (peek() == '}') break;
      JsonValue key;
      if (!value(key, depth + 1)) return false;
      skip_blanks();
      if (peek() == ':') {
        ++at_;
        fields.emplace_back(key_text(key), JsonValue());
        if (!value(fields.back().second, depth + 1)) return false;
        skip_blanks();
      } else {
        set.push_back(std::move(key));
      }
      if (peek() == ',') {
        ++at_;
      } else if (peek() != '}') {
        return wrong("',' or '}'");
      }
    }
    ++at_;
    if (!set.empty() && !fields.empty()) return wrong("either a dict or a set");
    out = set.empty() ? JsonValue(std::move(fields)) : JsonValue(std::move(set));
    return true;
  }

  static std::string key_text(const JsonValue& key) {
    if (const std::string* text = key.text()) return *text;
    return write_json_line(key);
  }

  /// One string, or several side by side.
  bool strings(JsonValue& out) {
    std::string all;
    while (peek() == '"' || peek() == '\'') {
      if (!string(all)) return false;
      const std::size_t after = at_;
      skip_blanks();
      if (peek() != '"' && peek() != '\'') {
        at_ = after;
        break;
      }
    }
    out = JsonValue(std::move(all));
    return true;
  }

  bool string(std::string& all) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n') return wrong("the end of the string on its line");
      if (text_[at_] != '\\' || at_ + 1 >= text_.size()) {
        all += text_[at_++];
        continue;
      }
      escape(all);
    }
    if (at_ >= text_.size()) return wrong("the end of the string");
    ++at_;
    return true;
  }

  void escape(std::string& all) {
    const char kind = text_[at_ + 1];
    at_ += 2;
    switch (kind) {
      case 'n':
        all += '\n';
        break;
      case 't':
        all += '\t';
        break;
      case 'r':
        all += '\r';
        break;
      case 'u':
        code_point(all);
        break;
      default:
        all += kind;
        break;
    }
  }

  void code_point(std::string& all) {
    std::uint32_t code = 0;
    const char* begin = text_.data() + at_;
    const char* end = begin + std::min<std::size_t>(4, text_.size() - at_);
    const auto [next, error] = std::from_chars(begin, end, code, 16);
    if (error != std::errc()) code = 0xfffd;
    at_ += static_cast<std::size_t>(next - begin);
    if (code < 0x80) {
      all += static_cast<char>(code);
    } else if (code < 0x800) {
      all += static_cast<char>(0xc0 | (code >> 6));
      all += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      all += static_cast<char>(0xe0 | (code >> 12));
      all += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
      all += static_cast<char>(0x80 | (code & 0x3f));
    }
  }

  bool number(JsonValue& out) {
    std::string digits;
    while (is_word(peek()) || peek() == '.' || peek() == '-' || peek() == '+') {
      const bool sign = peek() == '-' || peek() == '+';
      const char before = digits.empty() ? 'e' : digits.back();
      if (sign && !digits.empty() && before != 'e' && before != 'E') break;
      if (digits.size() > 400) return wrong("a number");
      if (peek() != '_' && !(sign && digits.empty() && peek() == '+')) digits += peek();
      ++at_;
    }
    std::int64_t whole = 0;
    const char* end = digits.data() + digits.size();
    const auto integer = std::from_chars(digits.data(), end, whole);
    if (integer.ec == std::errc() && integer.ptr == end) {
      out = JsonValue(whole);
      return true;
    }
    double real = 0;
    const auto parsed = std::from_chars(digits.data(), end, real);
    if (parsed.ptr != end || parsed.ec == std::errc::invalid_argument || !std::isfinite(real)) {
      return wrong("a finite number");
    }
    if (parsed.ec != std::errc()) return wrong("a number that a double holds");
    out = JsonValue(real);
    return true;
  }

  bool word(JsonValue& out, std::size_t depth) {
    const std::size_t start = at_;
    while (is_word(peek()) || peek() == '.') ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    const bool prefix = name == "u" || name == "b" || name == "r";
    if (prefix && (peek() == '"' || peek() == '\'')) return strings(out);
    if (peek() == '(') return tuple(out, depth);
    if (name == "True" || name == "true") {
      out = JsonValue(true);
    } else if (name == "False" || name == "false") {
      out = JsonValue(false);
    } else if (name == "None" || name == "null" || name == "nan" || name == "NaN") {
      out = JsonValue();
    } else {
      out = JsonValue(std::string(name));
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  std::string_view place_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Literal> parse_literal(std::string_view text, std::size_t at, std::string_view place) {
  return LiteralParser(text, at, place).parse();
}

std::size_t line_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t find_assigned(std::string_view text, std::string_view name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]))) continue;
    std::size_t next = end;
    if (next < text.size() && (text[next] == '"' || text[next] == '\'')) ++next;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;
    if (next >= text.size()) continue;
    if (text[next] == '=' || text[next] == ':') ++next;
    while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next])) != 0) ++next;
    if (next < text.size() && (text[next] == '[' || text[next] == '{' || text[next] == '(')) {
      return next;
    }
  }
  return std::string_view::npos;
}

}  // namespace shardscope::storage
