#pragma once
// The sums of a layout as a plain vector, for arithmetic on all of them at once. One entry stands
// for all ranks and one for all domains: what the ranks do together.

#include <vector>

#include "planner/layout_loads.hpp"

namespace shardscope {

using LoadFields = std::vector<double>;

/// Which ranks share a field, and so how it weighs on one of them.
enum class FieldScope : std::uint8_t {
  rank,    ///< summed over ranks: one carries 1 / ranks of it on average
  domain,  ///< summed over domains
  all,     ///< every rank carries all of it
};

[[nodiscard]] std::size_t load_field_count();
[[nodiscard]] FieldScope load_field_scope(std::size_t field);
/// What sums cost at prices of one unit of every field; without prices, nothing.
[[nodiscard]] double dot(const LoadFields& prices, const LoadFields& sums);
/// Sums over all entries of `loads`.
[[nodiscard]] LoadFields to_fields(const LayoutLoads& loads);
/// One entry: the mean rank and the mean domain of these sums.
[[nodiscard]] LayoutLoads mean_loads(const LoadFields& fields, const Topology& topology);

}  // namespace shardscope
