#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/torchrec_form.hpp"
#include "storage/export/hugectr.hpp"
#include "storage/export/torchrec.hpp"
#include "storage/import/hugectr/hugectr_plan.hpp"
#include "storage/import/torchrec/torchrec_plan.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/import/plan_samples.hpp"

namespace shardscope::storage {
namespace {

using test_plans::small_layout;
using test_plans::small_topology;
using test_plans::small_workload;

Layout read_back_hugectr(const std::string& text) {
  ImportNotes notes("back");
  const auto plans = read_hugectr_plans(text, notes);
  EXPECT_TRUE(plans) << to_string(plans.error());
  if (!plans) return {};
  const auto resolved =
      resolve_hugectr_plan(plans->front(), {small_workload(), small_topology(2)}, notes);
  EXPECT_TRUE(resolved) << to_string(resolved.error());
  return resolved ? *resolved->layout : Layout{};
}

TEST(HugectrExport, RoundTripsAsPythonAndAsJson) {
  const auto exported = export_hugectr(small_workload(), small_topology(2), small_layout());
  ASSERT_TRUE(exported) << to_string(exported.error());
  for (const std::string* text : {&exported->python, &exported->json}) {
    const Layout back = read_back_hugectr(*text);
    EXPECT_EQ(back.tables, exported->layout.tables);
    EXPECT_EQ(back.ranks, 4);
  }
}

TEST(HugectrExport, PutsOwnersInAscendingOrderAndSaysSo) {
  Layout layout = small_layout();
  layout.tables[0].owners = {3, 1, 0, 2};
  const auto exported = export_hugectr(small_workload(), small_topology(2), layout);
  ASSERT_TRUE(exported) << to_string(exported.error());
  EXPECT_TRUE(exported->owners_reordered);
  EXPECT_THAT(exported->changes, testing::Contains(testing::HasSubstr("table a")));
  EXPECT_EQ(exported->layout.tables[0].owner(1, 0), 1);
}

TEST(HugectrExport, RefusesUbThatPoolsSeveralRows) {
  Layout layout = small_layout();
  layout.tables[3].cluster = ClusterType::UB;
  const auto exported = export_hugectr(small_workload(), small_topology(2), layout);
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("never updates"));
  EXPECT_THAT(exported.error().place, testing::HasSubstr("table d"));
}

TEST(HugectrExport, WritesUbOfOneRowAsConcat) {
  Layout layout = small_layout();
  layout.tables[2].cluster = ClusterType::UB;
  const auto exported = export_hugectr(small_workload(), small_topology(2), layout);
  ASSERT_TRUE(exported) << to_string(exported.error());
  EXPECT_THAT(exported->python, testing::HasSubstr("(\"c\", \"c\", \"concat\")"));
  EXPECT_EQ(read_back_hugectr(exported->python).tables[2].cluster, ClusterType::UB);
}

TEST(HugectrExport, RefusesUnequalCuts) {
  Layout layout = small_layout();
  layout.tables[0].column_cuts = {0, 8, 32};
  const auto exported = export_hugectr(small_workload(), small_topology(2), layout);
  ASSERT_FALSE(exported);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("unequal"));
}

TEST(HugectrExport, RefusesTwoCommunicationStrategies) {
  Layout layout = small_layout();
  layout.tables[3].exchange = Exchange::hierarchical;
  const auto exported = export_hugectr(small_workload(), small_topology(2), layout);
  ASSERT_FALSE(exported);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("one communication strategy"));
}

TEST(HugectrExport, RefusesALayoutOfAnotherWorkload) {
  Layout layout = small_layout();
  layout.tables.pop_back();
  layout.table_names.pop_back();
  EXPECT_FALSE(export_hugectr(small_workload(), small_topology(2), layout));
  EXPECT_FALSE(export_torchrec(small_workload(), small_topology(2), layout, "plan.json"));
}

TEST(HugectrExport, RoundTripsTheReferencePlans) {
  SHARDSCOPE_SHARED_DATA(embark, "plans/embark_reference_plans.json");
  SHARDSCOPE_SHARED_DATA(mlperf, "plans/mlperf_measured_plans.json");
  ImportNotes notes("plans");
  for (const std::string* text : {&embark, &mlperf}) {
    const auto plans = read_hugectr_plans(*text, notes);
    ASSERT_TRUE(plans);
    for (const HugectrPlan& plan : *plans) {
      const auto first = resolve_hugectr_plan(plan, {}, notes);
      ASSERT_TRUE(first);
      const auto exported = export_hugectr(*first->workload, *first->topology, *first->layout);
      ASSERT_TRUE(exported) << to_string(exported.error());
      const auto again = read_hugectr_plans(exported->python, notes);
      ASSERT_TRUE(again) << to_string(again.error());
      const auto second =
          resolve_hugectr_plan(again->front(), {first->workload, first->topology}, notes);
      ASSERT_TRUE(second) << to_string(second.error());
      EXPECT_EQ(second->layout->tables, first->layout->tables);
    }
  }
}

/// One table in each form TorchRec has on 2 x 2 ranks, with modules.
struct FormsCase {
  Workload workload = small_workload();
  Topology topology = small_topology(2);
  Layout layout = small_layout();

  FormsCase() {
    for (Table& table : workload.tables) table.module_path = "model.ebc";
    workload.tables[3].module_path = "model.other";
    layout.tables[0] = row_wise(workload.tables[0], {0, 1, 2, 3});
    layout.tables[2] = table_wise(workload.tables[2], 1);
    layout.tables[3].owners = {1, 2};
    layout.tables[3].row_shards = 1;
    layout.tables[3].column_cuts = {0, 20, 32};
  }
};

TEST(TorchrecExport, RoundTripsWithModuleNames) {
  const FormsCase forms;
  const auto exported = export_torchrec(forms.workload, forms.topology, forms.layout, "plan.json");
  ASSERT_TRUE(exported) << to_string(exported.error());
  EXPECT_THAT(exported->changes, testing::Contains(testing::HasSubstr("residue classes")));
  ImportNotes notes("plan.json");
  const auto plan = read_torchrec_json(exported->json, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const auto resolved = resolve_torchrec_plan(*plan, {forms.workload, forms.topology}, notes);
  ASSERT_TRUE(resolved) << to_string(resolved.error());
  EXPECT_EQ(resolved->layout->tables, exported->layout.tables);
  EXPECT_EQ(plan->tables.back().module, "model.other");
  EXPECT_THAT(exported->loader, testing::HasSubstr("with_name(\"plan.json\")"));
  EXPECT_THAT(exported->loader, testing::HasSubstr("sharding_types=[\"column_wise\"]"));
}

TEST(TorchrecExport, RefusesWidthsThatAreNoMultiplesOf4) {
  FormsCase forms;
  forms.layout.tables[3].column_cuts = {0, 18, 32};
  const auto exported = export_torchrec(forms.workload, forms.topology, forms.layout, "plan.json");
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().kind, ErrorKind::infeasible);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("multiple_of_4"));
}

TEST(TorchrecExport, RefusesWhatNoneOfItsFormsIs) {
  FormsCase forms;
  forms.layout.tables[0] = row_wise(forms.workload.tables[0], {0, 2, 3});
  const auto exported = export_torchrec(forms.workload, forms.topology, forms.layout, "plan.json");
  ASSERT_FALSE(exported);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("torchrec.form"));
}

TEST(TorchrecExport, RefusesPooledUb) {
  FormsCase forms;
  forms.layout.tables[2].cluster = ClusterType::UB;
  const auto exported = export_torchrec(forms.workload, forms.topology, forms.layout, "plan.json");
  ASSERT_FALSE(exported);
  EXPECT_THAT(exported.error().what, testing::HasSubstr("ub_pooled"));
}

}  // namespace
}  // namespace shardscope::storage
