#include "planner/named_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace shardscope {

Result<double> number_setting(const PlanSettings& settings, const std::string& key,
                              double otherwise) {
  const auto found = settings.find(key);
  if (found == settings.end()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end != '\0' || !std::isfinite(value) || value < 0) {
    return fail({ErrorKind::usage, fmt::format("'{}' is not a setting", found->second),
                 fmt::format("--set {}", key), "a number of at least 0", ""});
  }
  return value;
}

Result<bool> flag_setting(const PlanSettings& settings, const std::string& key, bool otherwise) {
  const auto found = settings.find(key);
  if (found == settings.end()) return otherwise;
  if (found->second == "true" || found->second == "1") return true;
  if (found->second == "false" || found->second == "0") return false;
  return fail({ErrorKind::usage, fmt::format("'{}' is neither true nor false", found->second),
               fmt::format("--set {}", key), "true, false, 1 or 0", ""});
}

Status only_settings(const PlanSettings& settings, const std::vector<std::string>& known,
                     const std::string& planner) {
  for (const auto& [key, value] : settings) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return fail({ErrorKind::usage, fmt::format("planner {} has no setting '{}'", planner, key),
                 "--set",
                 known.empty() ? std::string("no settings")
                               : fmt::format("one of {}", fmt::join(known, ", ")),
                 ""});
  }
  return {};
}

}  // namespace shardscope
