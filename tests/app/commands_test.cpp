// The commands end to end: a person's session from a model to a comparison.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"
#include "tests/paths.hpp"

namespace shardscope::app {
namespace {

using Json = nlohmann::json;

class Commands : public testing::Test {
 protected:
  Commands() { folder_.write("small.json", small_workload()); }

  /// Runs with --json and parses; expects exit code 0.
  Json json(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const ProgramResult result = run_program(arguments, folder_.path());
    EXPECT_EQ(result.code, 0) << result.err;
    Json parsed = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << result.out;
    return parsed;
  }

  std::vector<std::string> with_small(std::vector<std::string> arguments) {
    for (const char* text : {"--workload", "small.json", "--topology", "host-cpu:2x2"}) {
      arguments.emplace_back(text);
    }
    return arguments;
  }

  test::TempDirectory folder_;
};

TEST_F(Commands, ModelsRoundTripThroughTheirFiles) {
  const ProgramResult text = run_program({"models", "rm1", "--json"}, folder_.path());
  folder_.write("rm1.json", text.out);
  EXPECT_EQ(run_program({"models", "rm1.json", "--json"}, folder_.path()).out, text.out);
  EXPECT_GE(json({"models"}).size(), 11u);
}

TEST_F(Commands, TopologiesRoundTripThroughTheirFiles) {
  const ProgramResult text = run_program({"topologies", "dgx-h100:16", "--json"}, folder_.path());
  folder_.write("dgx.json", text.out);
  EXPECT_EQ(run_program({"topologies", "dgx.json", "--json"}, folder_.path()).out, text.out);
}

TEST_F(Commands, CheckTellsMemoryOfEveryRank) {
  const Json checked = json(with_small({"check", "--layout", "uniform"}));
  EXPECT_TRUE(checked["valid"].get<bool>());
  ASSERT_EQ(checked["memory"].size(), 4u);
  EXPECT_GT(checked["memory"][0]["weights"].get<std::int64_t>(), 0);
}

TEST_F(Commands, TheExampleLayoutIsValid) {
  const std::string example = test::source_dir() + "/examples/dcnv2-2x4.json";
  const Json checked = json({"check", "--workload", "dcnv2", "--rows-cap", "100000", "--batch",
                             "2048", "--topology", "host-cpu:2x4", "--layout", example});
  EXPECT_TRUE(checked["valid"].get<bool>());
  EXPECT_TRUE(checked["violations"].empty()) << checked["violations"];
}

TEST_F(Commands, CheckSavesABaselineAsAFileToEdit) {
  (void)json(with_small({"check", "--layout", "uniform", "--save", "mine.json"}));
  const Json checked = json(with_small({"check", "--layout", "mine.json"}));
  EXPECT_EQ(checked["layout"], "uniform");
  EXPECT_TRUE(checked["valid"].get<bool>());
}

TEST_F(Commands, TrainLearnsTheSyntheticTaskAndKeepsItsCurve) {
  const Json trained = json({"train", "--workload", "criteo-kaggle", "--rows-cap", "100", "--batch",
                             "128", "--topology", "host-cpu:1x2", "--iterations", "60",
                             "--evaluate-every", "30", "--session", "t.shardscope"});
  ASSERT_EQ(trained["curve"].size(), 2u);
  EXPECT_EQ(trained["curve"][1]["iteration"], 60);
  EXPECT_LT(trained["curve"][1]["loss"].get<double>(), trained["curve"][0]["loss"].get<double>());
  EXPECT_GT(trained["curve"][1]["auc"].get<double>(), 0.5);
  EXPECT_LT(trained["curve"][1]["auc"].get<double>(), trained["ceiling_auc"].get<double>());
  EXPECT_EQ(json({"inspect", "t.shardscope"})["runs"][0]["curve"].size(), 4u);
}

TEST_F(Commands, TrainWithoutADensePartIsRefused) {
  const ProgramResult result = run_program(with_small({"train"}), folder_.path());
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("dense part"), std::string::npos) << result.err;
}

TEST_F(Commands, EmbeddingsRunWithoutTheDensePart) {
  const Json profiled =
      json({"profile", "--workload", "criteo-kaggle", "--rows-cap", "100", "--batch", "64",
            "--topology", "host-cpu:1x2", "--no-dense", "--iterations", "4"});
  EXPECT_FALSE(profiled["stages"].contains("dense_forward"));
  EXPECT_TRUE(profiled["stages"].contains("update"));
}

TEST_F(Commands, RecordedStreamsNeedNoDescription) {
  std::string stream;
  for (int sample = 0; sample < 64; ++sample) {
    stream += std::to_string(sample % 2);
    for (int column = 0; column < 13; ++column) stream += fmt::format("\t{}", sample + column);
    for (int column = 0; column < 26; ++column) stream += fmt::format("\tv{}", sample % 7 + column);
    stream += '\n';
  }
  folder_.write("clicks.txt", stream);
  const Json stats = json({"stats", "--workload", "./clicks.txt", "--batch", "16"});
  EXPECT_EQ(stats["tables"].size(), 26u);
}

TEST_F(Commands, StatsAreStoredAndPrinted) {
  const Json stats = json(with_small({"stats", "--iterations", "2", "--session", "s.shardscope"}));
  ASSERT_EQ(stats["tables"].size(), 8u);
  EXPECT_EQ(stats["tables"][0]["keys"].get<std::int64_t>(), 2 * 256 * 10);
  const Json kept = json({"inspect", "s.shardscope"});
  ASSERT_EQ(kept["statistics"].size(), 1u);
  EXPECT_EQ(kept["statistics"][0]["workload"], "small");
  EXPECT_EQ(kept["statistics"][0]["tables"], stats["tables"]);
}

TEST_F(Commands, IdsRepeatAsInAFileOfReuseHistograms) {
  folder_.write("reuse.json", R"({"name": "x", "batches": [
    {"file": "once.pt", "avg_reuse": 1.0, "unique_rows_frac_by_reuse": {"(0,1]": 1.0},
     "index_frac_by_reuse": {"(0,1]": 1.0}},
    {"file": "often.pt", "avg_reuse": 8.0, "unique_rows_frac_by_reuse": {"(4,8]": 1.0},
     "index_frac_by_reuse": {"(4,8]": 1.0}}]})");
  folder_.write("one.json", R"({"name": "one", "global_batch": 4096, "tables": [
    {"name": "t", "rows": 1000000, "dim": 8, "hotness": 1}]})");
  const auto distinct_rows = [&](const std::string& reuse) {
    const Json stats =
        json({"stats", "--workload", "one.json", "--iterations", "1", "--reuse", reuse});
    return stats["tables"][0]["unique"].back().back().get<double>();
  };
  EXPECT_NEAR(distinct_rows("reuse.json"), 4096, 1);
  EXPECT_NEAR(distinct_rows("reuse.json#often.pt"), 4096 / 6.5, 4096 / 6.5 * 0.2);
  const ProgramResult unknown =
      run_program(with_small({"stats", "--reuse", "reuse.json#oftn.pt"}), folder_.path());
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("often.pt"), std::string::npos) << unknown.err;
}

TEST_F(Commands, ProfileHasTheFieldsThatMachinesRead) {
  const Json profiled =
      json(with_small({"profile", "--iterations", "64", "--session", "p.shardscope"}));
  EXPECT_EQ(profiled["mode"], "measured");
  EXPECT_EQ(profiled["executor"], "engine");
  EXPECT_GT(profiled["samples_per_s"].get<double>(), 0);
  EXPECT_GT(profiled["iteration_ms"].get<double>(), 0);
  EXPECT_GT(profiled["critical_path_ms"].get<double>(), 0);
  EXPECT_TRUE(profiled["stages"].contains("model_forward"));
  EXPECT_GE(profiled["stages"]["update"]["ms_max"].get<double>(),
            profiled["stages"]["update"]["ms_mean"].get<double>());
  ASSERT_EQ(profiled["ranks"].size(), 4u);
  EXPECT_TRUE(profiled["ranks"][3]["stages"].contains("update"));
  ASSERT_EQ(profiled["memory"].size(), 4u);
  EXPECT_TRUE(profiled.contains("tracing_overhead"));
}

TEST_F(Commands, EverySchedulesAndCommunicatorRuns) {
  for (const char* schedule : {"serial", "intra", "inter"}) {
    for (const char* comm : {"threads", "loopback"}) {
      const Json profiled = json(with_small({"profile", "--iterations", "16", "--schedule",
                                             schedule, "--comm", comm, "--layout", "uniform"}));
      EXPECT_EQ(profiled["mode"], std::string(comm) == "threads" ? "measured" : "emulated");
    }
  }
}

TEST_F(Commands, AThrottledWireIsEmulated) {
  const Json profiled = json(with_small({"profile", "--iterations", "16", "--wire", "1,0.1"}));
  EXPECT_EQ(profiled["mode"], "emulated");
}

TEST_F(Commands, DefaultSessionIsNamedAndPrinted) {
  const ProgramResult result =
      run_program(with_small({"profile", "--iterations", "8"}), folder_.path());
  ASSERT_EQ(result.code, 0) << result.err;
  const std::size_t at = result.out.find("Session: ./profile-");
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::size_t end = result.out.find(' ', at + 9);
  const std::string path = result.out.substr(at + 9, end - at - 9);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / path)) << path;
}

TEST_F(Commands, CompareGivesARatioAndReasonsAndInspectShowsThem) {
  const Json compared = json(with_small({"compare", "table_row_wise", "round_robin", "--iterations",
                                         "200", "--session", "c.shardscope"}));
  EXPECT_GT(compared["ratio"]["estimate"].get<double>(), 0);
  EXPECT_LE(compared["ratio"]["low"].get<double>(), compared["ratio"]["estimate"].get<double>());
  EXPECT_TRUE(compared["resident"].get<bool>());
  EXPECT_FALSE(compared["sentence"].get<std::string>().empty());
  EXPECT_TRUE(compared["a"]["stages"].contains("update"));
  const Json inspected = json({"inspect", "c.shardscope"});
  EXPECT_EQ(inspected["runs"].size(), 2u);
  ASSERT_EQ(inspected["comparisons"].size(), 1u);
  EXPECT_DOUBLE_EQ(inspected["comparisons"][0]["ratio"].get<double>(),
                   compared["ratio"]["estimate"].get<double>());
}

TEST_F(Commands, RunsAddUpInOneSession) {
  for (int run = 0; run < 2; ++run) {
    (void)json(with_small({"profile", "--iterations", "8", "--session", "same.shardscope"}));
  }
  EXPECT_EQ(json({"inspect", "same.shardscope"})["runs"].size(), 2u);
  EXPECT_EQ(json({"inspect", "same.shardscope", "--run", "2"})["runs"].size(), 1u);
}

TEST_F(Commands, CtrlCKeepsWhatWasMeasured) {
  const ProgramResult result =
      run_program(with_small({"profile", "--budget", "1h", "--session", "cut.shardscope"}),
                  folder_.path(), {.interrupt_after_s = 4});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("stopped early"), std::string::npos) << result.out;
  const Json run = json({"inspect", "cut.shardscope"})["runs"][0];
  EXPECT_EQ(run["state"], "stopped");
  EXPECT_GT(run["iterations"].get<std::int64_t>(), 0);
}

TEST_F(Commands, DoctorNamesEveryCapability) {
  const Json found = json({"doctor"});
  EXPECT_GE(found["capabilities"].size(), 6u);
  for (const Json& capability : found["capabilities"]) {
    EXPECT_FALSE(capability["finding"].get<std::string>().empty());
  }
}

}  // namespace
}  // namespace shardscope::app
