#pragma once
// What any export asks of a layout before it looks at the framework's own rules.

#include <string>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::storage {

/// Error where workload, topology or the layout's geometry are broken: everything check() finds
/// but the executor's own rules and memory.
[[nodiscard]] Status require_sound(const Workload& workload, const Topology& topology,
                                   const Layout& layout, Executor executor);

/// The first of the executor's rules that the layout breaks, as a refusal. Memory is no reason to
/// refuse: what does not fit is added to `remarks`.
[[nodiscard]] Status require_rules(const Workload& workload, const Topology& topology,
                                   const Layout& layout, Executor executor,
                                   std::vector<std::string>& remarks);

}  // namespace shardscope::storage
