// The codec command end to end, on files of any shape.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.hpp"

namespace shardscope::app {
namespace {

using CodecJson = nlohmann::json;

class CodecCommand : public testing::Test {
 protected:
  void write_values(const std::string& name, const std::vector<float>& values) {
    folder_.write(name, std::string(reinterpret_cast<const char*>(values.data()),
                                    values.size() * sizeof(float)));
  }
  ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "codec");
    return run_program(arguments, folder_.path());
  }
  static std::vector<float> waves(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = std::sin(static_cast<float>(i % 77) * 0.1F);
    }
    return values;
  }

  test::TempDirectory folder_;
};

TEST_F(CodecCommand, TellsRatioErrorAndThroughput) {
  write_values("waves.f32", waves(70 * 11));
  const ProgramResult result = run({"waves.f32", "--rows", "70", "--dim", "11", "--codec",
                                    "dedup-huffman", "--bound", "0.03", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const CodecJson json = CodecJson::parse(result.out);
  EXPECT_GT(json["ratio"].get<double>(), 4);
  EXPECT_NEAR(json["bound_abs"].get<double>(), 0.06, 0.001);
  EXPECT_LE(json["max_error"].get<double>(), json["bound_abs"].get<double>());
  EXPECT_GT(json["encode_gb_s"].get<double>(), 0);
  EXPECT_GT(json["decode_gb_s"].get<double>(), 0);
  EXPECT_TRUE(json["within_bound"].get<bool>());
}

TEST_F(CodecCommand, TakesAnAbsoluteBound) {
  write_values("waves.f32", waves(64));
  const ProgramResult result = run({"waves.f32", "--rows", "64", "--dim", "1", "--codec", "fixed",
                                    "--bound", "0.25", "--absolute", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const CodecJson json = CodecJson::parse(result.out);
  EXPECT_EQ(json["bound_abs"].get<double>(), 0.25);
  EXPECT_LE(json["max_error"].get<double>(), 0.25);
}

TEST_F(CodecCommand, ListsEveryCodec) {
  write_values("waves.f32", waves(256));
  const ProgramResult table = run({"waves.f32", "--rows", "16", "--dim", "16"});
  ASSERT_EQ(table.code, 0) << table.err;
  const ProgramResult json = run({"waves.f32", "--rows", "16", "--dim", "16", "--json"});
  const CodecJson parsed = CodecJson::parse(json.out);
  EXPECT_EQ(parsed.size(), 12U);
  for (const CodecJson& one : parsed) {
    EXPECT_NE(table.out.find(one["codec"].get<std::string>()), std::string::npos);
    EXPECT_TRUE(one["within_bound"].get<bool>() || !one["guaranteed"].get<bool>());
  }
}

TEST_F(CodecCommand, RefusesWhatIsNotAChunk) {
  write_values("waves.f32", waves(10));
  EXPECT_EQ(run({"none.f32", "--rows", "2", "--dim", "5"}).code, 1);
  const ProgramResult folder = run({".", "--rows", "2", "--dim", "5"});
  EXPECT_EQ(folder.code, 1);
  EXPECT_NE(folder.err.find("is a directory"), std::string::npos) << folder.err;
  EXPECT_EQ(run({"waves.f32", "--rows", "3", "--dim", "5"}).code, 1);
  EXPECT_EQ(run({"waves.f32", "--rows", "2", "--dim", "5", "--codec", "gzip"}).code, 1);
  EXPECT_EQ(run({"waves.f32", "--rows", "2", "--dim", "5", "--bound", "-1"}).code, 1);
  EXPECT_EQ(
      run({"waves.f32", "--rows", "9223372036854775807", "--dim", "4611686018427387905"}).code, 1);
}

class CompressionCommands : public testing::Test {
 protected:
  CompressionCommands() { folder_.write("small.json", small_workload()); }

  CodecJson json(std::vector<std::string> arguments) {
    for (const char* text : {"--workload", "small.json", "--json"}) arguments.emplace_back(text);
    const ProgramResult result = run_program(arguments, folder_.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return CodecJson::parse(result.out, nullptr, false);
  }

  test::TempDirectory folder_;
};

TEST_F(CompressionCommands, StatsTellEveryCodecOfEveryTable) {
  const CodecJson stats = json({"stats", "--compression", "--topology", "host-cpu:2x2"});
  ASSERT_FALSE(stats["tables"].empty());
  for (const CodecJson& table : stats["tables"]) {
    EXPECT_GT(table["sampled_vectors"].get<std::int64_t>(), 0);
    EXPECT_EQ(table["codecs"].size(), 12U);
    for (const CodecJson& codec : table["codecs"]) EXPECT_GT(codec["ratio"].get<double>(), 0.5);
  }
}

TEST_F(CompressionCommands, TunedLayoutsRunAndAreRefusedWhereTheyDoNotPay) {
  const CodecJson tuned = json({"tune-bounds", "--topology", "host-cpu:2x2", "--layout",
                                "table_row_wise", "--save", "tuned.json"});
  for (const CodecJson& table : tuned["tables"]) {
    EXPECT_FALSE(table["reason"].get<std::string>().empty());
  }
  const ProgramResult checked = run_program(
      {"check", "--workload", "small.json", "--topology", "host-cpu:2x2", "--layout", "tuned.json"},
      folder_.path());
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const CodecJson single = json({"tune-bounds", "--topology", "host-cpu:1x2"});
  for (const CodecJson& table : single["tables"]) EXPECT_EQ(table["codec"], "raw");
}

TEST_F(CompressionCommands, TrainingThroughACodecLearns) {
  std::vector<std::string> arguments = {"train",
                                        "--workload",
                                        "criteo-kaggle",
                                        "--rows-cap",
                                        "100",
                                        "--batch",
                                        "128",
                                        "--topology",
                                        "host-cpu:2x1",
                                        "--iterations",
                                        "60",
                                        "--evaluate-every",
                                        "30",
                                        "--codec",
                                        "dedup-huffman",
                                        "--bound",
                                        "0.03",
                                        "--decay",
                                        "step",
                                        "--decay-iterations",
                                        "20",
                                        "--session",
                                        "t.shardscope",
                                        "--json"};
  const ProgramResult result = run_program(arguments, folder_.path());
  ASSERT_EQ(result.code, 0) << result.err;
  const CodecJson curve = CodecJson::parse(result.out)["curve"];
  EXPECT_LT(curve[1]["loss"].get<double>(), curve[0]["loss"].get<double>());
  EXPECT_GT(curve[1]["auc"].get<double>(), 0.5);
}

TEST_F(CompressionCommands, TrainingWithChosenCodecsTellsWhyAndWritesItsCurve) {
  const ProgramResult result = run_program(
      {"train",     "--workload", "criteo-kaggle", "--rows-cap",   "100",  "--batch",
       "128",       "--topology", "host-cpu:2x1",  "--iterations", "4",    "--evaluate-every",
       "2",         "--codec",    "auto",          "--wire",       "0.01", "--curve",
       "curve.csv", "--session",  "t.shardscope",  "--json"},
      folder_.path());
  ASSERT_EQ(result.code, 0) << result.err;
  const CodecJson json = CodecJson::parse(result.out);
  ASSERT_EQ(json["codecs"].size(), 26U);
  // Over 10 MB/s every codec pays.
  EXPECT_NE(json["codecs"][0]["codec"], "raw");
  EXPECT_NE(json["codecs"][0]["reason"].get<std::string>().find("breaks even"), std::string::npos);
  std::ifstream curve(folder_.path() / "curve.csv");
  std::string line;
  ASSERT_TRUE(std::getline(curve, line));
  EXPECT_EQ(line, "iteration,samples,train_loss,loss,auc");
  int points = 0;
  while (std::getline(curve, line)) ++points;
  EXPECT_EQ(points, 2);
}

TEST_F(CompressionCommands, ProfilesAndSessionsTellWhatCodecsDid) {
  const CodecJson profile = json({"profile", "--topology", "host-cpu:2x1", "--iterations", "3",
                                  "--codec", "dedup-fixed", "--session", "p.shardscope"});
  ASSERT_FALSE(profile["compression"].empty());
  for (const CodecJson& one : profile["compression"]) {
    EXPECT_GT(one["ratio"].get<double>(), 1);
    EXPECT_GT(one["encode_ms"].get<double>(), 0);
    EXPECT_GT(one["decode_ms"].get<double>(), 0);
  }
  const ProgramResult inspected =
      run_program({"inspect", "p.shardscope", "--json"}, folder_.path());
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const CodecJson run = CodecJson::parse(inspected.out)["runs"][0];
  EXPECT_EQ(run["compression"], profile["compression"]);
  const ProgramResult text = run_program({"inspect", "p.shardscope"}, folder_.path());
  EXPECT_NE(text.out.find("dedup-fixed"), std::string::npos) << text.out;
}

TEST_F(CompressionCommands, TrainingThroughACodecNeedsTwoDomains) {
  const ProgramResult result =
      run_program({"train", "--workload", "criteo-kaggle", "--rows-cap", "100", "--batch", "128",
                   "--topology", "host-cpu:1x2", "--iterations", "2", "--codec", "fixed"},
                  folder_.path());
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("host-cpu:2x1"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace shardscope::app
