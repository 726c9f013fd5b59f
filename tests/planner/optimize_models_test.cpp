// optimize on the built-in models: never worse than what it could have copied.

#include <cstdlib>

#include <fmt/format.h>

#include "layout/check.hpp"
#include "layout/models.hpp"
#include "planner/optimize.hpp"
#include "planner/planners.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::cases;

constexpr PredictOptions kHugectrInter{.executor = Executor::hugectr,
                                       .schedule = ScheduleKind::inter};

void expect_no_baseline_is_faster(const std::string& model, const std::string& machine) {
  SCOPED_TRACE(model + " on " + machine);
  const Workload workload = *model_by_name(model);
  const Topology topology = *topology_by_name(machine);
  const auto plan = optimize(workload, topology, {.predict = kHugectrInter});
  bool any_fits = false;
  for (const std::string& name : named_planners()) {
    // Thousands of proposals: a start of its own executor only.
    if (name == "torchrec") continue;
    const auto named = named_plan(name, workload, topology, {});
    if (!named || has_errors(check(workload, topology, named->layout, kHugectrInter.executor)))
      continue;
    any_fits = true;
    ASSERT_TRUE(plan) << name << " fits; " << to_string(plan.error());
    EXPECT_LE(plan->seconds,
              *predicted_seconds(workload, topology, named->layout, kHugectrInter) * (1 + 1e-9))
        << name;
  }
  if (!plan) {
    EXPECT_FALSE(any_fits);
    return;
  }
  EXPECT_FALSE(has_errors(check(workload, topology, plan->layout, kHugectrInter.executor)));
  EXPECT_GE(plan->seconds, plan->lower_bound_s * (1 - 1e-9));
}

TEST(OptimizeModels, NoBaselineIsFaster) {
  for (const char* model : {"criteo-terabyte", "dcnv2", "merlin-small"}) {
    for (const char* machine : {"dgx-h100:1", "dgx-h100:4"})
      expect_no_baseline_is_faster(model, machine);
    if (cases(2) == 1) break;
  }
}

TEST(OptimizeModels, NoBaselineIsFasterOnAnyModelAndSize) {
  if (std::getenv("SHARDSCOPE_WHOLE_SWEEP") == nullptr)
    GTEST_SKIP() << "minutes long; SHARDSCOPE_WHOLE_SWEEP=1 runs it";
  for (const std::string& model : model_names())
    for (const int nodes : {1, 2, 4, 8, 16})
      expect_no_baseline_is_faster(model, fmt::format("dgx-h100:{}", nodes));
}

void expect_better_machines_are_never_worse(const std::string& model, const std::string& machine) {
  const Workload workload = *model_by_name(model);
  const Topology topology = *topology_by_name(machine);
  const auto plan = optimize(workload, topology, {.predict = kHugectrInter});
  if (!plan) return;
  for (const auto& [what, better] : testing_planner::better_machines(topology)) {
    SCOPED_TRACE(model + " on " + machine + ", " + what);
    const auto again = optimize(workload, better, {.predict = kHugectrInter});
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_LE(again->seconds, plan->seconds * 1.01);
  }
}

TEST(OptimizeModels, ABetterMachineIsNeverPlannedWorse) {
  for (const char* model : {"dcnv2", "merlin-small"}) {
    expect_better_machines_are_never_worse(model, "dgx-h100:2");
    if (cases(2) == 1) break;
  }
}

TEST(OptimizeModels, ABetterMachineIsNeverPlannedWorseOnAnyModelAndSize) {
  if (std::getenv("SHARDSCOPE_WHOLE_SWEEP") == nullptr)
    GTEST_SKIP() << "minutes long; SHARDSCOPE_WHOLE_SWEEP=1 runs it";
  for (const std::string& model : model_names())
    for (const int nodes : {1, 4, 16})
      expect_better_machines_are_never_worse(model, fmt::format("dgx-h100:{}", nodes));
}

TEST(OptimizeModels, IsNearTheBoundOnT510) {
  Workload workload = *model_by_name("t510");
  workload.wire = DType::fp16;
  const auto plan =
      optimize(workload, *topology_by_name("dgx-h100:16"), {.predict = kHugectrInter});
  ASSERT_TRUE(plan);
  EXPECT_LT(plan->gap, 0.02);
}

}  // namespace
}  // namespace shardscope
