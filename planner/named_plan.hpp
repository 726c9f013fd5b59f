#pragma once
// What a named planner takes and returns.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"

namespace shardscope {

/// --set key=value pairs, as given.
using PlanSettings = std::map<std::string, std::string>;

/// A layout with the planner's own account of it.
struct NamedPlan {
  Layout layout;
  double cost = 0;                  ///< the planner's objective, in its own unit
  std::string cost_unit;            ///< what that unit is; empty: none
  std::vector<double> bucket_cost;  ///< by rank, or by domain for hierarchical planners
  /// Tables of every rank in the order the planner put them there (its shard matrix).
  std::vector<std::vector<std::int32_t>> matrix;
  /// Column shards of every table; 1 for uncut and DP tables.
  std::vector<std::int32_t> column_factors;
};

/// A number setting, or `otherwise` where it is not given. Errors name the key.
[[nodiscard]] Result<double> number_setting(const PlanSettings& settings, const std::string& key,
                                            double otherwise);
/// true, false, 1, 0.
[[nodiscard]] Result<bool> flag_setting(const PlanSettings& settings, const std::string& key,
                                        bool otherwise);
/// Every given key is one of `known`; else an error that lists them.
[[nodiscard]] Status only_settings(const PlanSettings& settings,
                                   const std::vector<std::string>& known,
                                   const std::string& planner);

}  // namespace shardscope
