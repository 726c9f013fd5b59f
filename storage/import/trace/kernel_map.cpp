#include "storage/import/trace/kernel_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layout/names.hpp"
#include "storage/import/log_lines.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {
namespace {

/// Pieces between '*' occur in this order.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t from = 0;
  while (from <= pattern.size()) {
    const std::size_t star = std::min(pattern.find('*', from), pattern.size());
    const std::string_view piece = pattern.substr(from, star - from);
    const std::size_t found = name.find(piece, at);
    if (found == std::string_view::npos) return false;
    at = found + piece.size();
    from = star + 1;
  }
  return true;
}

std::string roles_text() {
  return choices_of<Stage>() + " | local_reduce+update | exchange | network | dense";
}

class MapParser {
 public:
  explicit MapParser(std::string place) : place_(std::move(place)) {}

  Status line(std::string_view text, int number) {
    // '#' begins a comment where it opens the line: range names contain it.
    const std::vector<std::string_view> words = words_of(text);
    if (words.empty() || words[0].starts_with('#')) return {};
    if (words[0] == "kernel" && words.size() >= 3) return kernel(words, number);
    if (words[0] == "range" && words.size() >= 3) return range(text, words, number);
    return wrong(number, quoted_piece(text), "kernel PATTERN ROLE [WORK], or range PATTERN ROLE");
  }

  [[nodiscard]] KernelMap take() { return std::move(map_); }

 private:
  tl::unexpected<Error> wrong(int number, std::string what, std::string expected) {
    return fail({ErrorKind::usage, std::move(what) + " is no rule",
                 fmt::format("{}:{}", place_, number), std::move(expected), ""});
  }

  Status kernel(const std::vector<std::string_view>& words, int number) {
    KernelRule rule;
    rule.pattern = std::string(words[1]);
    const std::string_view role = words[2];
    if (role == "local_reduce+update") {
      rule.stage = Stage::local_reduce;
      rule.fused = true;
    } else if (const auto stage = parse_name<Stage>(role)) {
      rule.stage = *stage;
    } else if (role == "exchange" || role == "network" || role == "dense") {
      rule.role = role == "exchange"  ? KernelRole::exchange
                  : role == "network" ? KernelRole::network
                                      : KernelRole::dense;
    } else {
      return wrong(number, quoted_piece(role), roles_text());
    }
    rule.work = rule.role == KernelRole::dense ? Work::dense : Work::RB;
    if (words.size() > 3) {
      const auto work = parse_name<Work>(words[3]);
      if (!work) return wrong(number, quoted_piece(words[3]), choices_of<Work>());
      rule.work = *work;
    }
    map_.kernels.push_back(std::move(rule));
    return {};
  }

  /// The pattern may have blanks in it: it reaches to the last word.
  Status range(std::string_view text, const std::vector<std::string_view>& words, int number) {
    RangeRule rule;
    const auto begin = static_cast<std::size_t>(words[1].data() - text.data());
    const auto end = static_cast<std::size_t>(words[words.size() - 2].data() - text.data()) +
                     words[words.size() - 2].size();
    rule.pattern = std::string(text.substr(begin, end - begin));
    const std::string_view role = words.back();
    if (const auto stage = parse_name<Stage>(role)) {
      rule.stage = *stage;
    } else if (role == "forward" || role == "backward" || role == "optimizer" || role == "step") {
      rule.role = role == "forward"     ? RangeRole::forward
                  : role == "backward"  ? RangeRole::backward
                  : role == "optimizer" ? RangeRole::optimizer
                                        : RangeRole::step;
    } else {
      return wrong(number, quoted_piece(role),
                   choices_of<Stage>() + " | forward | backward | optimizer | step");
    }
    map_.ranges.push_back(std::move(rule));
    return {};
  }

  std::string place_;
  KernelMap map_;
};

Result<KernelMap> parse_rules(std::string_view text, const std::string& place) {
  MapParser parser(place);
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (Status done = parser.line(text.substr(at, end - at), number); !done) {
      return fail(done.error());
    }
    at = end + 1;
  }
  return parser.take();
}

}  // namespace

const KernelRule* KernelMap::kernel(std::string_view name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelRule& rule) {
    return matches(rule.pattern, name);
  });
  return found == kernels.end() ? nullptr : &*found;
}

const RangeRule* KernelMap::range(std::string_view name) const {
  const auto found = std::find_if(ranges.begin(), ranges.end(), [&](const RangeRule& rule) {
    return matches(rule.pattern, name);
  });
  return found == ranges.end() ? nullptr : &*found;
}

const KernelMap& built_in_kernel_map() {
  static const KernelMap map = parse_rules(kernel_map_text(), "built-in").value();
  return map;
}

Result<KernelMap> parse_kernel_map(std::string_view text, const std::string& place) {
  auto map = parse_rules(text, place);
  if (!map) return map;
  const KernelMap& own = built_in_kernel_map();
  map->kernels.insert(map->kernels.end(), own.kernels.begin(), own.kernels.end());
  map->ranges.insert(map->ranges.end(), own.ranges.begin(), own.ranges.end());
  return map;
}

}  // namespace shardscope::storage
