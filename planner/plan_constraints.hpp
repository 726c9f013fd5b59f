#pragma once
// What a person may ask of a plan.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "layout/layout.hpp"

namespace shardscope {

struct PlanConstraints {
  /// A table keeps this placement as it is.
  std::vector<std::pair<std::int32_t, TablePlacement>> pinned;
  /// All shards of a table stand on these ranks; it is not replicated.
  std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> only_ranks;
  std::vector<std::pair<std::int32_t, ClusterType>> clusters;
  std::vector<std::int32_t> forbidden_ranks;
  /// Tables that lie whole on one common rank.
  std::vector<std::vector<std::int32_t>> together;
};

/// Whether a layout does all of that. `codecs_free`: codecs of pinned tables may be others.
[[nodiscard]] bool obeys(const PlanConstraints& constraints, const Layout& layout,
                         bool codecs_free);

}  // namespace shardscope
