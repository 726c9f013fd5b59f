// The commands end to end: a person's session from a model to a comparison.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"

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

  TemporaryFolder folder_;
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

TEST_F(Commands, StatsAreStoredAndPrinted) {
  const Json stats = json(with_small({"stats", "--iterations", "2", "--session", "s.shardscope"}));
  ASSERT_EQ(stats["tables"].size(), 8u);
  EXPECT_EQ(stats["tables"][0]["keys"].get<std::int64_t>(), 2 * 256 * 10);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "s.shardscope"));
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
