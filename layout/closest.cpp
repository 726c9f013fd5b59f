#include "layout/closest.hpp"

#include <algorithm>
#include <cstddef>

namespace shardscope {

namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Levenshtein distance, blind to the case of letters.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string closest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 100;
  if (name.size() > kLongestName) return {};
  std::string best;
  std::size_t fewest = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = edits_between(name, candidate);
    if (3 * edits > std::max(name.size(), candidate.size())) continue;
    if (!best.empty() && edits >= fewest) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string meant = closest_name(name, candidates);
  return meant.empty() ? "" : "Did you mean \"" + meant + "\"?";
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace shardscope
