// Codecs and recorded ids in the commands that predict and plan.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"

namespace shardscope::app {
namespace {

using PlannedJson = nlohmann::json;

class PlannedCodecs : public testing::Test {
 protected:
  PlannedCodecs() { folder_.write("small.json", small_workload()); }

  [[nodiscard]] ProgramResult run(std::vector<std::string> arguments) const {
    for (const char* text : {"--workload", "small.json", "--topology", "host-cpu:2x1"})
      arguments.emplace_back(text);
    return run_program(arguments, folder_.path());
  }
  PlannedJson json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProgramResult result = run(std::move(arguments));
    EXPECT_EQ(result.code, 0) << result.err;
    return PlannedJson::parse(result.out, nullptr, false);
  }

  /// Slots of a layout that hold a codec.
  static int coded_slots(const PlannedJson& layout) {
    int coded = 0;
    for (const PlannedJson& table : layout["tables"]) {
      if (!table.contains("codecs")) continue;
      for (const auto& [slot, codec] : table["codecs"].items())
        coded += codec["name"] != "raw" ? 1 : 0;
    }
    return coded;
  }

  test::TempDirectory folder_;
};

TEST_F(PlannedCodecs, APlanChoosesCodecsOnSlowWiresAndNoneOnFastOnes) {
  const PlannedJson slow = json({"plan", "--batch", "8192", "--pin", "t0=RB", "--pin", "t1=RB",
                                 "--codec", "auto", "--wire", "10,0.001", "--out", "coded.json"});
  EXPECT_GT(coded_slots(slow["layout"]), 0);
  EXPECT_LE(slow["lower_bound_ms"].get<double>(), slow["predicted_ms"].get<double>() * (1 + 1e-9));
  ASSERT_FALSE(slow["codecs"].empty());
  int in_place = 0;
  for (const PlannedJson& one : slow["codecs"]) {
    EXPECT_GT(one["break_even_gb_s"].get<double>(), 0);
    EXPECT_NE(one["formula"].get<std::string>().find("pays below"), std::string::npos);
    if (!one["in_place"].get<bool>()) continue;
    ++in_place;
    EXPECT_GT(one["saves_ms"].get<double>(), -1e-4 * slow["predicted_ms"].get<double>());
    EXPECT_GT(one["speedup"].get<double>(), 1);
  }
  EXPECT_EQ(in_place, coded_slots(slow["layout"]));
  const PlannedJson plain =
      json({"plan", "--batch", "8192", "--pin", "t0=RB", "--pin", "t1=RB", "--wire", "10,0.001"});
  EXPECT_LT(slow["predicted_ms"].get<double>(), 0.9 * plain["predicted_ms"].get<double>());
  EXPECT_FALSE(plain.contains("codecs"));

  const PlannedJson fast =
      json({"plan", "--batch", "8192", "--codec", "auto", "--wire", "1000,1000"});
  EXPECT_EQ(coded_slots(fast["layout"]), 0);
  // The layout file keeps them, and the other commands price them.
  const ProgramResult checked = run({"check", "--batch", "8192", "--layout", "coded.json"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const PlannedJson explained =
      json({"explain", "--batch", "8192", "--layout", "coded.json", "--wire", "10,0.001"});
  EXPECT_EQ(static_cast<int>(explained["codecs"].size()), coded_slots(slow["layout"]));
  EXPECT_NEAR(explained["predicted_ms"].get<double>() / slow["predicted_ms"].get<double>(), 1, 0.3);
  for (const PlannedJson& warning : explained["warnings"])
    EXPECT_NE(warning["rule"], "codec.unpriced");
}

TEST_F(PlannedCodecs, OnGpusSpeedsArePublishedOnesAndThePredictionSaysSo) {
  std::vector<std::string> plan = {
      "plan", "--workload", "small.json", "--topology", "dgx-h100:2x2", "--batch",
      "8192", "--pin",      "t0=RB",      "--pin",      "t1=RB",        "--codec",
      "auto", "--wire",     "100,0.001",  "--out",      "gpu.json",     "--json"};
  const ProgramResult planned = run_program(plan, folder_.path());
  ASSERT_EQ(planned.code, 0) << planned.err;
  const PlannedJson json = PlannedJson::parse(planned.out, nullptr, false);
  EXPECT_GT(coded_slots(json["layout"]), 0);
  const ProgramResult predicted =
      run_program({"predict", "--workload", "small.json", "--topology", "dgx-h100:2x2", "--batch",
                   "8192", "--layout", "gpu.json", "--json"},
                  folder_.path());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const PlannedJson how = PlannedJson::parse(predicted.out, nullptr, false);
  EXPECT_NE(how["trust"], "ok");
  EXPECT_NE(how["trust_reason"].get<std::string>().find("is unmeasured"), std::string::npos);
}

TEST_F(PlannedCodecs, ExplainShowsWhatCodecsWouldDo) {
  const ProgramResult text =
      run({"explain", "--layout", "table_row_wise", "--codec", "dedup-fixed", "--bound", "0.05"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("pays below"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("raw, not "), std::string::npos) << text.out;
}

TEST_F(PlannedCodecs, WhoHasNoneIsToldSo) {
  const ProgramResult hugectr = run({"plan", "--executor", "hugectr", "--codec", "auto"});
  EXPECT_EQ(hugectr.code, 1);
  EXPECT_NE(hugectr.err.find("hugectr"), std::string::npos) << hugectr.err;
  const ProgramResult unknown = run({"plan", "--codec", "squeeze"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("squeeze"), std::string::npos) << unknown.err;
  EXPECT_EQ(run({"plan", "--codec", "auto", "--backward-codec", "row-int8-ef"}).code, 1);
}

/// 400 samples; column "hot" has one value, column "cold" a new one every time.
std::string hot_and_cold_stream() {
  std::string text = "label,hot,cold\n";
  for (int sample = 0; sample < 400; ++sample)
    text += std::to_string(sample % 2) + ",same,v" + std::to_string(sample) + "\n";
  return text;
}

std::string recorded_workload(const std::string& stream, const std::string& column) {
  return R"({"format": "shardscope.workload/1", "name": "recorded", "global_batch": 256, "tables": [
    {"name": "t0", "rows": 100000, "dim": 128}], "features": [
    {"name": "f", "table": "t0", "hotness": 1, "ids": {"kind": "recorded", "stream": ")" +
         stream + R"(", "column": ")" + column + R"("}}]})";
}

class RecordedIds : public testing::Test {
 protected:
  PlannedJson predict(const std::string& stream, const std::string& column) {
    folder_.write("w.json", recorded_workload(stream, column));
    const ProgramResult result =
        run_program({"predict", "--workload", "w.json", "--ranks", "2", "--json"}, folder_.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return PlannedJson::parse(result.out, nullptr, false);
  }
  static std::string assumption(const PlannedJson& prediction) {
    for (const PlannedJson& warning : prediction["warnings"])
      if (warning["rule"] == "ids.assumed") return warning["message"];
    return "";
  }

  test::TempDirectory folder_;
};

TEST_F(RecordedIds, PredictionsRestOnTheStreamWhereItIs) {
  folder_.write("clicks.csv", hot_and_cold_stream());
  const PlannedJson hot = predict("clicks.csv", "hot");
  const PlannedJson cold = predict("clicks.csv", "cold");
  EXPECT_EQ(assumption(hot), "");
  EXPECT_EQ(assumption(cold), "");
  // One row is updated, or 256.
  EXPECT_GT(cold["predicted_ms"].get<double>(), 1.02 * hot["predicted_ms"].get<double>());
}

TEST_F(RecordedIds, AMissingStreamIsSaid) {
  const std::string said = assumption(predict("nowhere.csv", "hot"));
  EXPECT_NE(said.find("t0"), std::string::npos) << said;
  EXPECT_NE(said.find("Zipf 1.05"), std::string::npos) << said;
}

}  // namespace
}  // namespace shardscope::app
