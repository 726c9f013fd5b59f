// calibrate end to end: measured here, fitted from files, taken by the commands that predict.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"
#include "tests/shared_data.hpp"

namespace shardscope::app {
namespace {

using CalibrateJson = nlohmann::json;

class Calibrate : public testing::Test {
 protected:
  /// The exchange is measured once: links.json and, with its constants, mine.json.
  static void SetUpTestSuite() {
    measured_ = std::make_unique<test::TempDirectory>();
    const ProgramResult made =
        run_program({"calibrate", "--only", "exchange", "--budget", "4s", "--out", "links.json",
                     "--topology-out", "mine.json", "--json"},
                    measured_->path());
    ASSERT_EQ(made.code, 0) << made.err;
    made_ = made.out;
  }
  static void TearDownTestSuite() { measured_.reset(); }

  Calibrate() {
    folder_.write("small.json", small_workload());
    for (const char* name : {"links.json", "mine.json"}) {
      std::filesystem::copy_file(measured_->path() / name, folder_.path() / name);
    }
  }

  [[nodiscard]] ProgramResult run(const std::vector<std::string>& arguments,
                                  const ProgramCircumstances& circumstances = {}) const {
    return run_program(arguments, folder_.path(), circumstances);
  }
  CalibrateJson json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    CalibrateJson parsed = CalibrateJson::parse(result.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << result.out;
    return parsed;
  }
  CalibrateJson predicted(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"predict", "--workload", "small.json", "--ranks", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
  void expect_refusal(const std::vector<std::string>& arguments, const std::string& words) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.code, 1) << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }

  static inline std::unique_ptr<test::TempDirectory> measured_;
  static inline std::string made_;
  test::TempDirectory folder_;
};

TEST_F(Calibrate, AMeasuredExchangeSettlesWhatPredictAsksFor) {
  const CalibrateJson before = predicted();
  EXPECT_EQ(before["trust"], "unmeasured_exchange");
  EXPECT_EQ(before["ask"], "calibrate --only exchange");
  const CalibrateJson made = CalibrateJson::parse(made_);
  EXPECT_EQ(made["format"], "shardscope.calibration/1");
  EXPECT_FALSE(made["intra"]["by_size"].empty());
  EXPECT_FALSE(made["gpu"].contains("gather_efficiency"));
  EXPECT_TRUE(made["environment"].contains("host"));
  EXPECT_EQ(made["intra"]["latency_s"]["origin"], "measured");
  const CalibrateJson after = predicted({"--calibration", "links.json"});
  EXPECT_NE(after["trust"], "unmeasured_exchange");
  EXPECT_NE(after["predicted_ms"], before["predicted_ms"]);
}

TEST_F(Calibrate, ATopologyWithTheConstantsPredictsTheSame) {
  const CalibrateJson by_file = predicted({"--calibration", "links.json"});
  const CalibrateJson by_topology = predicted({"--topology", "./mine.json"});
  EXPECT_EQ(by_file["predicted_ms"], by_topology["predicted_ms"]);
  for (const char* command : {"explain", "plan"}) {
    const ProgramResult result =
        run({command, "--workload", "small.json", "--ranks", "2", "--calibration", "links.json"});
    EXPECT_EQ(result.code, 0) << command << ": " << result.err;
  }
  const CalibrateJson simulated =
      json({"profile", "--backend", "sim", "--workload", "small.json", "--ranks", "2",
            "--calibration", "links.json", "--layout", "table_row_wise"});
  EXPECT_NEAR(simulated["predicted_ms"].get<double>(), by_file["predicted_ms"].get<double>(), 1e-9);
}

TEST_F(Calibrate, MemoryAloneIsMeasuredInASecond) {
  const CalibrateJson made =
      json({"calibrate", "--only", "memory", "--budget", "1s", "--out", "m.json"});
  EXPECT_GT(made["gpu"]["memory_bytes_per_s"]["value"].get<double>(), 1e8);
  EXPECT_TRUE(made["times"].empty());
}

TEST_F(Calibrate, AnInterruptKeepsWhatWasMeasured) {
  const ProgramResult result = run({"calibrate", "--budget", "60s", "--out", "part.json", "--json"},
                                   {.interrupt_after_s = 3.0});
  ASSERT_EQ(result.code, 0) << result.err;
  const CalibrateJson made = CalibrateJson::parse(result.out, nullptr, false);
  ASSERT_FALSE(made.is_discarded()) << result.out;
  EXPECT_EQ(made["interrupted"], true);
  EXPECT_GT(made["gpu"]["memory_bytes_per_s"]["value"].get<double>(), 1e8);
  EXPECT_GT(predicted({"--calibration", "part.json"})["predicted_ms"].get<double>(), 0);
}

TEST_F(Calibrate, ErrorsSayWhatIsWrong) {
  expect_refusal({"calibrate", "--only", "exchanges"}, "memory, gather, reduce");
  expect_refusal({"calibrate", "--comm", "loopback"}, "nothing to measure");
  expect_refusal({"calibrate", "--topology", "dgx-h100"}, "measures this host");
  expect_refusal({"calibrate", "--backend", "cuda", "--comm", "nccl"}, "only this host's cpu");
  expect_refusal({"calibrate", "--ranks", "1"}, "2 to 64");
  expect_refusal({"calibrate", "--from", "kineto"}, "no file to fit");
  expect_refusal({"calibrate", "x.txt"}, "--from");
  expect_refusal({"calibrate", "--from", "nccl-tests", "x.txt"}, "--topology");
  expect_refusal({"calibrate", "--from", "mlperf", "x.txt", "--topology", "dgx-h100"},
                 "nothing is fitted");
  folder_.write("bad.json", "{\"format\": \"shardscope.calibration/1\"}");
  expect_refusal(
      {"predict", "--workload", "small.json", "--ranks", "2", "--calibration", "bad.json"},
      "bad.json");
  folder_.write("cpu.json",
                "{\"format\": \"shardscope.calibration/1\", \"name\": \"a\", \"backend\": \"cpu\", "
                "\"gpu\": {\"name\": \"CPU core\"}, \"intra\": {}, \"inter\": {}}");
  expect_refusal({"predict", "--workload", "small.json", "--topology", "dgx-h100:1x2",
                  "--calibration", "cpu.json"},
                 "the calibration is of CPU core");
}

TEST_F(Calibrate, NcclTestsFitTheLinkThatTheirHostsUse) {
  std::string text = "# ./alltoall_perf\n";
  for (int rank = 0; rank < 16; ++rank)
    text += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host" +
            std::to_string(rank / 8) + " device 0 [0x17] NVIDIA H100\n";
  text += "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n";
  // 40 us and 30 GB/s a rank.
  for (const double size : {1024.0, 1048576.0, 67108864.0, 1073741824.0})
    text += std::to_string(static_cast<long long>(size)) + " 1 float none -1 " +
            std::to_string(40 + size * 15 / 16 / 30e9 * 1e6) + " 1.0 1.0 0\n";
  folder_.write("a2a.txt", text);
  const CalibrateJson made = json({"calibrate", "--from", "nccl-tests", "a2a.txt", "--topology",
                                   "dgx-h100:2", "--out", "n.json"});
  EXPECT_FALSE(made["intra"].contains("by_size"));
  EXPECT_NEAR(made["inter"]["by_size"].back()["bytes_per_s"].get<double>(), 30e9, 1e9);
  EXPECT_NEAR(made["inter"]["efficiency"]["value"].get<double>(), 0.6, 0.02);
  EXPECT_FALSE(made["missing"].empty());
  const ProgramResult imported = run({"import", "a2a.txt"});
  EXPECT_EQ(imported.code, 1);
  EXPECT_NE(imported.err.find("calibrate --from nccl-tests"), std::string::npos) << imported.err;
}

TEST_F(Calibrate, TracesGiveWhatTheyCanTell) {
  const auto trace = test_data::shared_path("traces/dlrm_kineto.tar.gz");
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << trace << " is not here";
  const CalibrateJson made =
      json({"calibrate", "--from", "kineto", trace, "--topology", "dgx1-v100", "--out", "v.json"});
  EXPECT_GT(made["gpu"]["reduce_efficiency"]["value"].get<double>(), 0);
  EXPECT_LE(made["gpu"]["reduce_efficiency"]["value"].get<double>(), 1);
  // Lookups of 20 us are launches, exchanges of 3 KB latency.
  EXPECT_FALSE(made["gpu"].contains("gather_efficiency"));
  EXPECT_FALSE(made["intra"].contains("by_size"));
  std::string missing;
  for (const auto& one : made["missing"]) missing += one.get<std::string>() + "\n";
  EXPECT_NE(missing.find("GEMM"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::app
