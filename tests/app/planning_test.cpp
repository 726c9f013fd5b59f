// plan, predict, explain, diff and the simulated profile, end to end.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
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

  test::TempDirectory folder_;
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
  EXPECT_GT(plan["seconds"].get<double>(), 0);
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
  ASSERT_TRUE(tables[1].contains("owners")) << tables[1];
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

TEST_F(Planning, WishesThatContradictAreNamed) {
  const std::vector<std::vector<std::string>> contradictions = {
      {"--pin", "t0=0", "--pin", "t0=1"},
      {"--pin", "t0=DP", "--pin", "t0=1"},
      {"--pin", "t0=DP", "--pin", "t0=RB"},
      {"--forbid", "3", "--pin", "t0=3"},
      {"--together", "t0"},
      {"--together", "t0,t1", "--together", "t1,t2"},
      {"--pin", "t0=XX"},
      {"--set", "effort=-1"},
      {"--set", "effort=1e300"},
      {"--planner", "Optimise"}};
  for (std::vector<std::string> wishes : contradictions) {
    SCOPED_TRACE(wishes[1]);
    wishes.insert(wishes.begin(), "plan");
    const ProgramResult result = run(wishes);
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_NE(run({"plan", "--pin", "t0=XX"}).err.find("TABLE=RB"), std::string::npos);
  EXPECT_NE(run({"plan", "--planner", "optimise"}).err.find("Did you mean optimize"),
            std::string::npos);
  EXPECT_EQ(run({"plan", "--pin", "t0=rb"}).code, 0);
}

TEST_F(Planning, BaselinesTakeTheFormThatTheExecutorWants) {
  for (const char* executor : {"engine", "torchrec"})
    for (const char* name : {"uniform", "table_row_wise", "round_robin"})
      EXPECT_EQ(run({"predict", "--layout", name, "--executor", executor}).code, 0)
          << name << " for " << executor;
}

/// One table of 149 GiB with its state: four GPUs of 80 GB do not hold it, three hosts of one do.
std::string large_model() {
  return R"({"format": "shardscope.workload/1", "name": "large", "global_batch": 1024,
    "tables": [{"name": "big", "rows": 312500000, "dim": 64, "optimizer": "adagrad"},
               {"name": "small", "rows": 1000, "dim": 64}],
    "features": [{"name": "f", "table": "big"}, {"name": "g", "table": "small"}]})";
}

TEST_F(Planning, WhatDoesNotFitIsExplained) {
  folder_.write("large.json", large_model());
  const auto on = [&](std::vector<std::string> arguments, const char* topology) {
    for (const char* text : {"--workload", "large.json", "--topology", topology})
      arguments.emplace_back(text);
    return run_program(arguments, folder_.path());
  };
  const ProgramResult text = on({"plan"}, "dgx-h100:1x1");
  EXPECT_EQ(text.code, 2) << text.err;
  expect_golden("plan_too_large", text.out);
  const ProgramResult plan = on({"plan", "--json"}, "dgx-h100:1x1");
  EXPECT_EQ(plan.code, 2);
  const PlanningJson json = PlanningJson::parse(plan.out);
  EXPECT_EQ(json["fits"], false);
  EXPECT_EQ(json["shortage"]["bound"], "table");
  EXPECT_EQ(json["shortage"]["fewest_gpus"], 3);
  EXPECT_EQ(json["shortage"]["left_over"][0]["table"], "big");
  EXPECT_EQ(on({"plan"}, "dgx-h100:3x1").code, 0);
  EXPECT_EQ(on({"plan"}, "dgx-h100:2x1").code, 2);
  for (const char* command : {"predict", "explain", "check"}) {
    SCOPED_TRACE(command);
    const ProgramResult crowded = on({command, "--layout", "table_wise", "--json"}, "dgx-h100:1x4");
    EXPECT_EQ(crowded.code, 2);
    const PlanningJson found = PlanningJson::parse(crowded.out);
    const PlanningJson& here =
        found.contains("layout_shortage") ? found["layout_shortage"] : found["shortage"];
    EXPECT_EQ(here["gpus"][0]["rank"], 0);
    EXPECT_EQ(here["gpus"][0]["largest"][0]["table"], "big");
    EXPECT_FALSE(here["moves"].empty());
  }
  const ProgramResult predicted = on({"predict", "--layout", "table_wise"}, "dgx-h100:1x4");
  EXPECT_NE(predicted.out.find("Moves that make it fit"), std::string::npos) << predicted.out;
  EXPECT_NE(predicted.out.find("Other layouts of this model fit"), std::string::npos);
}

TEST_F(Planning, WarningsStandBesideEveryPrediction) {
  for (const char* command : {"predict", "explain", "plan", "check"}) {
    SCOPED_TRACE(command);
    const char* option = std::string(command) == "plan" ? "--planner" : "--layout";
    const PlanningJson found = json({command, option, "table_row_wise"});
    const PlanningJson& warnings =
        found.contains("warnings") ? found["warnings"] : found["violations"];
    const auto small = std::find_if(warnings.begin(), warnings.end(), [](const PlanningJson& one) {
      return one["rule"] == "replicate.small";
    });
    ASSERT_NE(small, warnings.end()) << warnings;
    EXPECT_FALSE((*small)["cure"].empty());
  }
}

TEST_F(Planning, ALayoutsTablesMayStandInAnyOrder) {
  json({"check", "--layout", "table_row_wise", "--save", "given.json"});
  std::ifstream in(folder_.path() / "given.json");
  PlanningJson layout = PlanningJson::parse(in);
  std::reverse(layout["tables"].begin(), layout["tables"].end());
  folder_.write("turned.json", layout.dump());
  const PlanningJson given = json({"predict", "--layout", "given.json"});
  const PlanningJson turned = json({"predict", "--layout", "turned.json"});
  EXPECT_EQ(given["predicted_ms"], turned["predicted_ms"]);
  layout["tables"][0]["name"] = "nobody";
  folder_.write("wrong.json", layout.dump());
  EXPECT_EQ(run({"check", "--layout", "wrong.json"}).code, 2);
}

TEST_F(Planning, SweepMakesATableACsvAndJson) {
  const std::vector<std::string> axes = {"sweep",       "--nodes",          "1,2",
                                         "--planner",   "optimize,uniform", "--optimizer",
                                         "sgd,adagrad", "--batch",          "256,512"};
  std::vector<std::string> asked = axes;
  asked.insert(asked.end(), {"--csv", "rows.csv"});
  const ProgramResult text = run(asked);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("samples/s"), std::string::npos);
  const std::string csv = [&] {
    std::ifstream in(folder_.path() / "rows.csv");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
  const PlanningJson found = json(axes);
  ASSERT_EQ(found["rows"].size(), 16U);
  EXPECT_EQ(found["stopped_early"], false);
  for (const PlanningJson& row : found["rows"]) EXPECT_EQ(row["fits"], true) << row;
  EXPECT_EQ(run({"sweep", "--dtype", "fp8"}).code, 1);
  EXPECT_EQ(run({"sweep", "--planner", "magic"}).code, 1);
}

TEST_F(Planning, ASweepKeepsWhatItHasWhenItIsInterrupted) {
  std::vector<std::string> arguments = {"sweep",
                                        "--workload",
                                        "t510",
                                        "--topology",
                                        "dgx-h100",
                                        "--nodes",
                                        "1,2,16,16,16,16,16,16,16,16",
                                        "--executor",
                                        "hugectr",
                                        "--csv",
                                        "rows.csv",
                                        "--json"};
  const ProgramResult result = run_program(arguments, folder_.path(), {.interrupt_after_s = 1.5});
  if (result.err.find("stopped before the first combination") != std::string::npos)
    GTEST_SKIP() << "too slow a machine to plan anything in 1.5 s";
  ASSERT_EQ(result.code, 0) << result.err;
  const PlanningJson found = PlanningJson::parse(result.out);
  EXPECT_EQ(found["stopped_early"], true);
  EXPECT_GT(found["rows"].size(), 0U);
  EXPECT_LT(found["rows"].size(), 10U);
}

TEST_F(Planning, ASimulatedProfileIsThatOfItsExecutor) {
  const PlanningJson run_of = json({"profile", "--backend", "sim", "--executor", "hugectr",
                                    "--layout", "uniform", "--session", "sim.shardscope"});
  const PlanningJson predicted = json({"predict", "--executor", "hugectr", "--layout", "uniform"});
  EXPECT_EQ(run_of["executor"], "hugectr");
  EXPECT_EQ(run_of["schedule"], "inter");
  EXPECT_NEAR(run_of["iteration_ms"].get<double>(), predicted["predicted_ms"].get<double>(), 1e-9);
  EXPECT_EQ(run({"profile", "--executor", "hugectr"}).code, 1);
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
