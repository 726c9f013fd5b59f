#pragma once
// Whether a model fits a machine at all: tables spread for memory alone, whatever they then cost.

#include <cstddef>
#include <vector>

#include "layout/layout.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// The evenest spread found, and what it asks of a GPU.
struct MemoryPacking {
  double needed_bytes =
      0;          ///< of the fullest GPU, by planner/memory_model.hpp; HUGE_VAL: no layout
  Layout layout;  ///< needs that much; empty where there is none
  /// Tables that found no room within the machine's memory, dearest first; empty where all fit.
  std::vector<std::size_t> left_over;

  [[nodiscard]] bool fits(double capacity) const { return needed_bytes <= capacity; }
};

/// Largest tables first, each in the form and cut that adds the fewest bytes and still finds room;
/// the room is narrowed until that fails. A heuristic: needed_bytes is within a few percent of the
/// least that any layout needs, not below it. `forms`: by table, as legal_forms() grants.
[[nodiscard]] MemoryPacking pack_by_memory(const PlanContext& context,
                                           const std::vector<FormSet>& forms);

/// Over forms that the executor can train, replication of tables larger than a GPU included.
[[nodiscard]] MemoryPacking pack_by_memory(const PlanContext& context);

}  // namespace shardscope
