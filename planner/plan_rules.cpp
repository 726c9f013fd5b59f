#include "planner/plan_rules.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "layout/closest.hpp"
#include "layout/names.hpp"

namespace shardscope {
namespace {

constexpr const char* kGrammar = "TABLE=DP, TABLE=0,1, !7 or TABLE+TABLE";

std::vector<std::string> pieces_of(std::string_view text, char between) {
  std::vector<std::string> pieces;
  while (true) {
    const std::size_t at = text.find(between);
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

class RuleReader {
 public:
  RuleReader(const Workload& workload, std::int32_t ranks) : workload_(workload), ranks_(ranks) {}

  Status take(const std::string& word) {
    if (word.starts_with('!')) {
      const auto rank = this->rank(word.substr(1), word);
      if (!rank) return fail(rank.error());
      rules_.forbidden_ranks.push_back(*rank);
      return {};
    }
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      return placed(word.substr(0, equals), word.substr(equals + 1), word);
    }
    if (word.find('+') != std::string::npos) return together(word);
    return fail({ErrorKind::usage, fmt::format("'{}' is no rule", word), "rules", kGrammar, ""});
  }

  [[nodiscard]] PlanConstraints rules() && { return std::move(rules_); }

 private:
  Result<std::int32_t> table(const std::string& name) const {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      if (workload_.tables[t].name == name) return static_cast<std::int32_t>(t);
      names.push_back(workload_.tables[t].name);
    }
    return fail({ErrorKind::usage, fmt::format("there is no table '{}'", name), "rules",
                 closest_name(name, names), ""});
  }

  Result<std::int32_t> rank(const std::string& text, const std::string& word) const {
    std::int32_t value = -1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= 0 && value < ranks_) return value;
    return fail({ErrorKind::usage, fmt::format("'{}' names no GPU", word), "rules",
                 fmt::format("0 to {}", ranks_ - 1), ""});
  }

  Status placed(const std::string& name, const std::string& what, const std::string& word) {
    const auto index = table(name);
    if (!index) return fail(index.error());
    if (const auto cluster = parse_name<ClusterType>(what)) {
      rules_.clusters.emplace_back(*index, *cluster);
      return {};
    }
    std::vector<std::int32_t> ranks;
    for (const std::string& piece : pieces_of(what, ',')) {
      const auto one = rank(piece, word);
      if (!one) return fail(one.error());
      ranks.push_back(*one);
    }
    rules_.only_ranks.emplace_back(*index, std::move(ranks));
    return {};
  }

  Status together(const std::string& word) {
    std::vector<std::int32_t> group;
    for (const std::string& name : pieces_of(word, '+')) {
      const auto index = table(name);
      if (!index) return fail(index.error());
      group.push_back(*index);
    }
    rules_.together.push_back(std::move(group));
    return {};
  }

  const Workload& workload_;
  std::int32_t ranks_;
  PlanConstraints rules_;
};

}  // namespace

Result<PlanConstraints> parse_plan_rules(const std::string& text, const Workload& workload,
                                         std::int32_t ranks) {
  RuleReader reader(workload, ranks);
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (Status taken = reader.take(word); !taken) return fail(taken.error());
  }
  return std::move(reader).rules();
}

}  // namespace shardscope
