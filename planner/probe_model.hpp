#pragma once
// Seconds of each stage of one layout under different constants of a machine: what is fitted to
// timed stages. Sizes, ids and caches are looked at once.

#include <array>
#include <memory>

#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// Executor engine, serial schedule.
class ProbeModel {
 public:
  /// `shape`: hosts, ranks and cache; other constants come with seconds(). Sizes of the three agree
  /// (check_sizes).
  ProbeModel(const Workload& workload, const Topology& shape, const Layout& layout);
  ~ProbeModel();
  ProbeModel(ProbeModel&&) noexcept;
  ProbeModel& operator=(ProbeModel&&) = delete;

  /// A rank's own time, mean over ranks: kernels and wires, waiting for peers left out.
  [[nodiscard]] std::array<double, kStages> mean_seconds(const Topology& machine) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardscope
