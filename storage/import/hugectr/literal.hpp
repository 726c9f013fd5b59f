#pragma once
// Literals of Python and JSON inside any text (scripts, training logs), parsed and never executed:
// dicts, lists, tuples, sets, strings, numbers, True/False/None, dotted names (kept as strings) and
// calls with literal arguments (np.int64(3), array([...])), which count as their arguments.

#include <cstddef>
#include <string_view>

#include "layout/json_value.hpp"
#include "layout/result.hpp"

namespace shardscope::storage {

struct Literal {
  JsonValue value;      ///< tuples and sets as lists; keys of dicts as text
  std::size_t end = 0;  ///< first byte after it
};

/// The literal that begins at `at` (blanks and comments before it are passed over). Errors name
/// the line within `text`. Bounds: kDeepestLiteral levels, kMostJsonValues values.
[[nodiscard]] Result<Literal> parse_literal(std::string_view text, std::size_t at,
                                            std::string_view place);

inline constexpr std::size_t kDeepestLiteral = 64;

/// 1 + newlines before `at`.
[[nodiscard]] std::size_t line_of(std::string_view text, std::size_t at);

/// Where a value given to `name` begins: after `name = `, `name: `, `"name": ` or `name `; from
/// `from` on. npos where there is none. `name` stands as a whole word.
[[nodiscard]] std::size_t find_assigned(std::string_view text, std::string_view name,
                                        std::size_t from = 0);

}  // namespace shardscope::storage
