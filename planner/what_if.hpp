#pragma once
// What an edit would do, within a frame: keeps the sums of a layout and re-prices one table at a
// time under the simulator that predict() runs.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// A layout under edit. Holds copies of what it is made from; movable, not copyable.
class WhatIf {
 public:
  /// Errors as predict()'s.
  [[nodiscard]] static Result<WhatIf> create(const Workload& workload, const Topology& topology,
                                             Layout layout, const PredictOptions& options);
  /// The same from what planning has found of the workload already; the layout has its sizes.
  [[nodiscard]] static WhatIf create(const PlanContext& context, Layout layout);
  WhatIf(WhatIf&&) noexcept;
  WhatIf& operator=(WhatIf&&) noexcept;
  ~WhatIf();

  [[nodiscard]] const Layout& layout() const;
  /// Seconds of an iteration of the layout as it stands; equal to predict()'s.
  [[nodiscard]] double seconds() const;

  /// Seconds if one table were placed so; the layout stays.
  [[nodiscard]] double try_table(std::size_t table, const TablePlacement& placement);
  /// Places one table anew and returns the layout's seconds.
  double set_table(std::size_t table, TablePlacement placement);
  /// Several tables at once (a swap): the layout's seconds.
  double set_tables(const std::vector<std::pair<std::size_t, TablePlacement>>& placements);

  /// One shard to another rank.
  double move_shard(std::size_t table, std::int32_t row, std::int32_t column, std::int32_t to);
  /// A table cut anew over the listed owners: equal modulo rows, full columns.
  double split_rows(std::size_t table, const std::vector<std::int32_t>& owners);

  /// Own seconds of every stage on every rank, [step][rank], waits excluded; and the waits.
  struct StageTimes {
    Schedule schedule;
    std::vector<std::vector<double>> own_s;
    std::vector<std::vector<double>> waiting_s;
    std::int32_t critical_rank = 0;
  };
  [[nodiscard]] StageTimes stage_times() const;
  /// Kernels and bytes of every step as they are priced.
  [[nodiscard]] const std::vector<StepLoad>& step_loads() const;

 private:
  struct State;
  explicit WhatIf(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardscope
