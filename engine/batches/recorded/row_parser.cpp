#include "engine/batches/recorded/row_parser.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"

namespace shardscope::engine {

std::string LinePlace::text() const {
  return fmt::format("{}:{}", path, line);
}

tl::unexpected<Error> malformed(const LinePlace& place, std::string what, std::string expected) {
  return fail({ErrorKind::usage, std::move(what), place.text(), std::move(expected),
               "Correct or remove the line, or name the format in front of the path, as in "
               "headed_csv:FILE"});
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out(text.substr(0, kLongest));
  // Control and non-ASCII bytes of a wrong file must not reach a terminal.
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > kLongest) out += "...";
  return '"' + out + '"';
}

Result<float> parse_label(std::string_view text, const LinePlace& place) {
  const auto value = parse_number(text);
  if (!value || (*value != 0 && *value != 1)) {
    return malformed(place, fmt::format("the label is {}", shown(text)), "0 or 1");
  }
  return static_cast<float>(*value);
}

Result<float> parse_criteo_dense(std::string_view text, const LinePlace& place,
                                 std::string_view column) {
  if (text.empty()) return 0.0F;
  const auto value = parse_number(text);
  if (!value) {
    return malformed(place, fmt::format("{} is {}", column, shown(text)), "a number or nothing");
  }
  return static_cast<float>(std::log1p(std::max(*value, 0.0)));
}

}  // namespace shardscope::engine
