// plan, predict, explain, diff and the simulated profile, end to end.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"

namespace shardscope::app {
namespace {

using PlanningJson = nlohmann::json;

class Planning : public testing::Test {
 protected:
  Planning() { folder_.write("small.json", small_workload()); }

  [[nodiscard]] ProgramResult run(std::vector<std::string> arguments) const {
    for (const char* text : {"--workload", "small.json", "--topology", "dgx-h100:2x4"})
      arguments.emplace_back(text);
    return run_program(arguments, folder_.path());
  }
  PlanningJson json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    PlanningJson parsed = PlanningJson::parse(result.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << result.out;
    return parsed;
  }

  TemporaryFolder folder_;
};

TEST_F(Planning, PlanHasTheFieldsThatMachinesRead) {
  const PlanningJson plan = json({"plan", "--executor", "hugectr", "--out", "plan.json"});
  EXPECT_EQ(plan["planner"], "optimize");
  EXPECT_EQ(plan["executor"], "hugectr");
  EXPECT_GT(plan["predicted_ms"].get<double>(), 0);
  EXPECT_LE(plan["interval_ms"][0], plan["predicted_ms"]);
  EXPECT_GE(plan["interval_ms"][1], plan["predicted_ms"]);
  EXPECT_GT(plan["samples_per_s"].get<double>(), 0);
  EXPECT_GT(plan["lower_bound_ms"].get<double>(), 0);
  EXPECT_LE(plan["lower_bound_ms"].get<double>(), plan["predicted_ms"].get<double>() * (1 + 1e-9));
  EXPECT_NEAR(plan["gap"].get<double>(),
              plan["predicted_ms"].get<double>() / plan["lower_bound_ms"].get<double>() - 1, 1e-9);
  EXPECT_GE(plan["seconds"].get<double>(), 0);
  EXPECT_EQ(plan["memory"].size(), 8U);
  EXPECT_EQ(plan["trust"], "ok");
  EXPECT_TRUE(plan["stages"].contains("model_forward"));
  const PlanningJson predicted =
      json({"predict", "--executor", "hugectr", "--layout", "plan.json"});
  EXPECT_NEAR(predicted["predicted_ms"].get<double>(), plan["predicted_ms"].get<double>(), 1e-9);
}

TEST_F(Planning, PredictHasTheFieldsThatMachinesRead) {
  const PlanningJson predicted = json({"predict", "--layout", "uniform"});
  for (const char* field :
       {"predicted_ms", "interval_ms", "trust", "samples_per_s", "stages", "critical_rank"})
    EXPECT_TRUE(predicted.contains(field)) << field;
  EXPECT_GT(predicted["links"]["intra_bytes"].get<double>(), 0);
  EXPECT_GT(predicted["links"]["inter_bytes"].get<double>(), 0);
  EXPECT_EQ(predicted["mode"], "simulated");
}

TEST_F(Planning, EveryPlannerPlansByName) {
  for (const char* planner : {"optimize", "embark", "embark-hier", "mlperf", "mlperf-hier",
                              "torchrec", "dim", "size", "lookup", "size_lookup", "round_robin",
                              "table_wise", "uniform", "table_row_wise", "data_parallel"}) {
    SCOPED_TRACE(planner);
    const PlanningJson plan = json({"plan", "--planner", planner});
    EXPECT_EQ(plan["planner"], planner);
    EXPECT_GE(plan["gap"].get<double>(), -1e-9);
    EXPECT_GT(json({"predict", "--layout", planner})["predicted_ms"].get<double>(), 0);
  }
}

TEST_F(Planning, SettingsReachTheirPlannerAndUnknownOnesAreRefused) {
  const PlanningJson none = json({"plan", "--planner", "embark", "--set", "dp_threshold=0"});
  for (const PlanningJson& table : none["layout"]["tables"])
    EXPECT_NE(table["cluster"], "DP") << table;
  const ProgramResult wrong = run({"plan", "--planner", "embark", "--set", "speed=9"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("speed"), std::string::npos) << wrong.err;
}

TEST_F(Planning, ConstraintsAreObeyed) {
  const PlanningJson plan =
      json({"plan", "--pin", "t0=DP", "--pin", "t1=2,3", "--forbid", "7", "--together", "t2,t3"});
  const PlanningJson& tables = plan["layout"]["tables"];
  EXPECT_EQ(tables[0]["cluster"], "DP");
  for (const PlanningJson& owner : tables[1]["owners"]) EXPECT_TRUE(owner == 2 || owner == 3);
  EXPECT_EQ(tables[2]["owners"], tables[3]["owners"]);
  for (const PlanningJson& table : tables) {
    for (const PlanningJson& owner : table.value("owners", PlanningJson::array())) {
      EXPECT_NE(owner, 7);
    }
  }
  EXPECT_EQ(run({"plan", "--pin", "t99=DP"}).code, 1);
  EXPECT_EQ(run({"plan", "--planner", "dim", "--forbid", "1"}).code, 1);
}

TEST_F(Planning, ExplainNamesWhatBindsAndWhatWouldHelp) {
  const PlanningJson found = json({"explain", "--layout", "table_wise", "--table", "t0"});
  EXPECT_EQ(found["limits"].size(), 7U);
  EXPECT_FALSE(found["costliest"].empty());
  EXPECT_LE(found["limits"][0]["without_ms"], found["predicted_ms"]);
  EXPECT_EQ(found["arithmetic"]["table"], "t0");
  EXPECT_EQ(found["arithmetic"]["forms"].size(), 4U);
  for (const PlanningJson& edit : found["edits"])
    EXPECT_LT(edit["predicted_ms"], found["predicted_ms"]);
  const ProgramResult text = run({"explain", "--layout", "table_wise"});
  EXPECT_NE(text.out.find("What binds"), std::string::npos) << text.out;
}

TEST_F(Planning, DiffCountsWhatMoves) {
  const PlanningJson same = json({"diff", "round_robin", "round_robin"});
  EXPECT_EQ(same["moved_bytes"], 0);
  EXPECT_TRUE(same["tables"].empty());
  EXPECT_NEAR(same["speedup"].get<double>(), 1, 1e-12);
  const PlanningJson other = json({"diff", "table_row_wise", "round_robin"});
  EXPECT_GT(other["moved_bytes"].get<double>(), 0);
  EXPECT_NEAR(other["speedup"].get<double>(),
              other["a"]["predicted_ms"].get<double>() / other["b"]["predicted_ms"].get<double>(),
              1e-12);
}

TEST_F(Planning, ASimulatedProfileIsASessionLikeAnyOther) {
  const PlanningJson done =
      json({"profile", "--backend", "sim", "--layout", "uniform", "--session", "s.shardscope"});
  EXPECT_EQ(done["mode"], "simulated");
  const ProgramResult text = run_program({"inspect", "s.shardscope", "--json"}, folder_.path());
  const PlanningJson shown = PlanningJson::parse(text.out);
  EXPECT_EQ(shown["runs"][0]["mode"], "simulated");
  EXPECT_NEAR(shown["runs"][0]["iteration_ms"].get<double>(), done["predicted_ms"].get<double>(),
              1e-6);
  EXPECT_NE(text.out.find("model_forward"), std::string::npos);
}

TEST_F(Planning, NothingThatFitsIsInfeasible) {
  const ProgramResult result =
      run_program({"plan", "--workload", "t510", "--topology", "dgx-h100:1x1"}, folder_.path());
  EXPECT_EQ(result.code, 2);
}

TEST_F(Planning, AMisspeltPlannerIsToldTheRightOne) {
  const ProgramResult result = run({"predict", "--layout", "embarc"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("embark"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace shardscope::app
