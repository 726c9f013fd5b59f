#pragma once
// From a layout's sums to what every schedule step costs every rank: kernels in seconds, wires in
// bytes. The one place where the cost formulas of a stage stand together.

#include <vector>

#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "planner/dense_cost.hpp"
#include "planner/layout_loads.hpp"
#include "planner/simulate.hpp"

namespace shardscope {

class StepModel {
 public:
  /// Keeps references: the arguments must outlive it.
  StepModel(const WorkloadFacts& facts, const Topology& topology, const ExecutorModel& executor,
            const DenseCost& dense);

  /// Loads of all steps, in the schedule's order. `loads` belongs to a layout of this topology, or
  /// has one entry that stands for all ranks (and one for all domains): every rank alike.
  [[nodiscard]] std::vector<StepLoad> steps(const Schedule& schedule,
                                            const LayoutLoads& loads) const;
  /// The same into existing storage (its vectors are reused).
  void steps(const Schedule& schedule, const LayoutLoads& loads, std::vector<StepLoad>& into) const;

 private:
  struct Totals;  ///< sums over ranks and domains
  struct DomainSums;
  class PartWriter;

  [[nodiscard]] std::size_t domain_at(std::size_t entry) const;
  [[nodiscard]] DomainSums domain_sums(const Totals& totals, std::size_t direction) const;
  void exchange_sizes(std::vector<PartLoad>& ranks, Barrier barrier) const;
  void exchange_in_domains(std::vector<PartLoad>& parts, const Totals& totals,
                           const DomainSums& sums, bool forward) const;
  void exchange_along_rails(std::vector<PartLoad>& parts, const Totals& totals,
                            const DomainSums& sums, bool forward) const;

  void input_dist(PartWriter& parts, const Totals& totals, Work work) const;
  void model_forward(PartWriter& parts, const Totals& totals, Work work) const;
  void network(PartWriter& parts, const Totals& totals, Work work, bool forward) const;
  void hierarchical_forward(PartWriter& parts, const Totals& totals, bool coded) const;
  void hierarchical_backward(PartWriter& parts, const Totals& totals, bool coded) const;
  void owner_kernels(PartWriter& parts, const Totals& totals, Work work, Stage stage) const;
  void allreduce(PartWriter& parts, const Totals& totals, const Schedule& schedule,
                 Work work) const;
  [[nodiscard]] double consumer_kernel(const Totals& totals, Work work, bool forward) const;

  const WorkloadFacts& facts_;
  const Topology& topology_;
  const ExecutorModel& executor_;
  const DenseCost& dense_;
};

}  // namespace shardscope
