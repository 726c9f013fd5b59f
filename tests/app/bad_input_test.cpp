// Every kind of bad input ends with a message on stderr and the right exit code.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/session.hpp"
#include "tests/app/program.hpp"
#include "tests/app/small_disk.hpp"
#include "tests/paths.hpp"

namespace shardscope::app {
namespace {

class BadInput : public testing::Test {
 protected:
  /// Runs and expects that exit code with all `words` in one line "shardscope: ..." on stderr.
  void expect_failure(const std::vector<std::string>& arguments, int code,
                      const std::vector<std::string>& words) {
    const ProgramResult result = run_program(arguments, folder_.path());
    EXPECT_EQ(result.code, code) << result.out << result.err;
    EXPECT_TRUE(result.err.find("shardscope: ") != std::string::npos) << result.err;
    for (const std::string& word : words) {
      EXPECT_NE(result.err.find(word), std::string::npos) << word << " is not in: " << result.err;
    }
  }

  /// `check` of a workload text on two ranks.
  void expect_bad_workload(const std::string& text, const std::vector<std::string>& words) {
    folder_.write("model.json", text);
    expect_failure({"check", "--workload", "model.json", "--topology", "host-cpu:1x2"}, 1, words);
  }

  std::vector<std::string> small_profile(std::vector<std::string> more) {
    folder_.write("small.json", small_workload());
    std::vector<std::string> arguments = {
        "profile", "--workload", "small.json", "--topology", "host-cpu:1x2", "--iterations", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  test::TempDirectory folder_;
};

TEST_F(BadInput, NoCommand) {
  expect_failure({}, 1, {"--help"});
}

TEST_F(BadInput, UnknownCommandAndOption) {
  expect_failure({"frobnicate"}, 1, {"frobnicate"});
  expect_failure({"models", "--frobnicate"}, 1, {"--frobnicate", "shardscope models --help"});
}

TEST_F(BadInput, NearNamesOfCommandsAndOptionsAreSuggested) {
  expect_failure({"predikt"}, 1, {"'predikt'", "Did you mean predict?"});
  expect_failure({"-v"}, 1, {"no option -v"});
  // The value of a mistyped option, and the option it was meant for, are no errors of their own.
  expect_failure({"predict", "--worklod", "dcnv2"}, 1, {"no option --worklod", "mean --workload?"});
  expect_failure({"check", "--workload", "dcnv2", "--rows_cap=5"}, 1,
                 {"no option --rows_cap.", "Did you mean --rows-cap?"});
  expect_failure({"doctor", "now"}, 1, {"'now'"});
}

TEST_F(BadInput, CountsOfValuesAreToldInWords) {
  expect_failure({"check", "--workload", "dcnv2", "--batch", "10", "--batch", "20"}, 1,
                 {"--batch: it is given 2 times; expected it once"});
  expect_failure({"check", "--workload"}, 1, {"--workload: its value is missing"});
  expect_failure({"diff", "uniform", "--workload", "dcnv2"}, 1,
                 {"layouts: there are 1 of them; expected 2"});
}

TEST_F(BadInput, NumbersAskForWhatTheyNeed) {
  for (const char* number : {"0", "-1", "x", "1.5", "1e6", "99999999999999999999"})
    expect_failure({"check", "--workload", "dcnv2", "--batch", number}, 1,
                   {"--batch: '" + std::string(number) + "'", "a whole number from 1"});
  expect_failure({"check", "--workload", "dcnv2", "--ranks", "4000000000"}, 1,
                 {"--ranks: '4000000000'", "expected a number"});
  expect_failure({"tune-bounds", "--workload", "dcnv2", "--tight", "2"}, 1,
                 {"--tight: '2' is not a value; expected a share"});
}

TEST_F(BadInput, FilesWithoutADotInTheirNameAreFiles) {
  folder_.write("model", small_workload());
  EXPECT_EQ(run_program({"check", "--workload", "model"}, folder_.path()).code, 0);
  std::filesystem::create_directory(folder_.path() / "folder");
  expect_failure({"check", "--workload", "folder"}, 1, {"folder: this is a directory"});
  expect_failure({"check", "--workload", "model", "--topology", "folder"}, 1, {"directory"});
}

TEST_F(BadInput, AModelWithoutABatchIsNotBlamedOnTheOption) {
  folder_.write("none.json",
                R"({"name": "x", "tables": [{"name": "t", "rows": 9, "dim": 8, "hotness": 1}]})");
  expect_failure({"check", "--workload", "none.json"}, 1, {"none.json: a global batch of 0"});
}

TEST_F(BadInput, MissingRequiredOption) {
  expect_failure({"profile"}, 1, {"--workload"});
}

TEST_F(BadInput, UnknownModelTopologyAndLayout) {
  expect_failure({"models", "dcnv9"}, 1, {"dcnv9", "dcnv2"});
  expect_failure({"topologies", "dgx-9000"}, 1, {"dgx-9000", "dgx-h100"});
  expect_failure({"check", "--workload", "dcnv2", "--layout", "clever"}, 1,
                 {"clever", "table_row_wise"});
}

TEST_F(BadInput, MalformedTopologySpecs) {
  for (const char* spec : {"dgx-h100:", "dgx-h100:0", "dgx-h100:2x", "dgx-h100:2x0", "dgx-h100:x",
                           "dgx-h100:99999999999999999999"}) {
    expect_failure({"topologies", spec}, 1, {"dgx-h100"});
  }
}

TEST_F(BadInput, MalformedJsonHasLineAndColumn) {
  expect_bad_workload("{\n  \"name\": \"x\",\n  oops\n}", {"model.json:3:3"});
}

TEST_F(BadInput, UnknownFieldIsNamed) {
  expect_bad_workload(R"({"name": "x", "global_batch": 8, "tabels": [], "tables": []})",
                      {"model.json", "tabels"});
}

TEST_F(BadInput, UnknownTableIsNamedWithTheNearest) {
  expect_bad_workload(
      R"({"format": "shardscope.workload/1", "name": "x", "global_batch": 8,
          "tables": [{"name": "users", "rows": 9, "dim": 8}],
          "features": [{"name": "f", "table": "user"}]})",
      {"no table \"user\"", "Did you mean \"users\"?"});
}

TEST_F(BadInput, ZeroTables) {
  expect_bad_workload(R"({"name": "x", "global_batch": 8, "tables": []})", {"table"});
}

TEST_F(BadInput, ZeroRows) {
  expect_bad_workload(
      R"({"name": "x", "global_batch": 8, "tables": [{"name": "t", "rows": 0, "dim": 8, "hotness": 1}]})",
      {"rows"});
}

TEST_F(BadInput, BatchSmallerThanRanks) {
  folder_.write("small.json", small_workload());
  expect_failure(
      {"check", "--workload", "small.json", "--topology", "host-cpu:2x4", "--batch", "7"}, 1,
      {"--batch", "8"});
}

TEST_F(BadInput, HotnessAboveBatchMemory) {
  folder_.write("model.json",
                R"({"name": "x", "global_batch": 1000000, "tables":
                   [{"name": "t", "rows": 1000, "dim": 8, "hotness": 2000000}]})");
  const ProgramResult result = run_program(
      {"profile", "--workload", "model.json", "--topology", "host-cpu:1x2"}, folder_.path());
  EXPECT_TRUE(result.code == 1 || result.code == 2) << result.code << result.err;
  EXPECT_NE(result.err.find("shardscope: "), std::string::npos) << result.err;
}

TEST_F(BadInput, NumbersThatAreNone) {
  expect_failure(small_profile({"--batch", "many"}), 1, {"--batch"});
  expect_failure(small_profile({"--seed", "-1"}), 1, {"--seed"});
  expect_failure(small_profile({"--wire", "fast"}), 1, {"--wire", "10,2"});
  expect_failure(small_profile({"--budget", "soon"}), 1, {"--budget", "60s"});
  expect_failure(small_profile({"--schedule", "parallel"}), 1, {"--schedule", "serial"});
}

TEST_F(BadInput, WiresOnWhichNoRunEnds) {
  expect_failure(small_profile({"--wire", "1e-9"}), 1,
                 {"--wire 1e-9", "one iteration", "at least"});
  expect_failure(small_profile({"--wire", "1e-300"}), 1, {"--wire 1e-300"});
}

TEST_F(BadInput, AWorkloadThatReadsNothing) {
  folder_.write("model.json",
                R"({"format": "shardscope.workload/1", "name": "x", "global_batch": 64,
      "tables": [{"name": "t", "rows": 1000, "dim": 8}], "features": []})");
  const std::vector<std::string> inputs = {"--workload",   "model.json", "--topology",
                                           "host-cpu:1x2", "--layout",   "table_wise"};
  std::vector<std::string> arguments = {"check"};
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  expect_failure(arguments, 2, {"breaks rules"});
  arguments.front() = "profile";
  expect_failure(arguments, 2, {"no features"});
}

TEST_F(BadInput, WrongRanks) {
  expect_failure(small_profile({"--ranks", "3"}), 1, {"--ranks", "2"});
}

TEST_F(BadInput, DirectoryForAFile) {
  expect_failure({"check", "--workload", folder_.path().string()}, 1, {"directory"});
  expect_failure({"inspect", folder_.path().string()}, 1, {folder_.path().string()});
  expect_failure(small_profile({"--session", folder_.path().string()}), 1,
                 {folder_.path().string()});
}

TEST_F(BadInput, MissingFile) {
  expect_failure({"check", "--workload", "none.json"}, 1, {"none.json"});
  expect_failure({"inspect", "none.shardscope"}, 1, {"none.shardscope"});
}

TEST_F(BadInput, RunsAndFilesThatAreNotThere) {
  ASSERT_EQ(
      run_program(small_profile({"--backend", "sim", "--session", "s.shardscope"}), folder_.path())
          .code,
      0);
  expect_failure({"report", "s.shardscope", "--out", "r.html", "--run", "99"}, 1,
                 {"s.shardscope", "no run 99"});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "r.html"));
  expect_failure({"export", "none.json", "--to", "hugectr"}, 1, {"none.json: there is no such"});
  expect_failure({"export", "small.json", "--to", "csv"}, 1, {"small.json", "session"});
}

TEST_F(BadInput, LayoutOfAnotherModel) {
  folder_.write("small.json", small_workload());
  folder_.write("layout.json",
                R"({"format": "shardscope.layout/1", "name": "other", "ranks": 2, "tables": []})");
  expect_failure({"check", "--workload", "small.json", "--topology", "host-cpu:1x2", "--layout",
                  "layout.json"},
                 2, {"layout"});
}

TEST_F(BadInput, ForeignSqliteFileAndPlainText) {
  folder_.write("text.shardscope", "this is not a database, only a text that is long enough");
  expect_failure({"inspect", "text.shardscope"}, 1, {"text.shardscope"});
  // The header of a SQLite database with application_id 0.
  std::string header("SQLite format 3\0", 16);
  header += std::string("\x10\x00\x01\x01\x00\x40\x20\x20", 8);
  folder_.write("foreign.shardscope", header + std::string(4096 - header.size(), '\0'));
  expect_failure({"inspect", "foreign.shardscope"}, 1,
                 {"foreign.shardscope", "a session, or an export of Nsight Systems"});
}

TEST_F(BadInput, LockedSession) {
  const std::string path = (folder_.path() / "locked.shardscope").string();
  auto held = storage::Session::create(path);
  ASSERT_TRUE(held.has_value()) << held.error().what;
  expect_failure(small_profile({"--session", path}), 3, {"locked.shardscope"});
}

TEST_F(BadInput, ReadOnlySession) {
  const std::filesystem::path path = folder_.path() / "kept.shardscope";
  ASSERT_TRUE(storage::Session::create(path)->close().has_value());
  const std::vector<std::string> arguments = small_profile({"--session", path.string()});
  chmod(path.c_str(), 0444);
  chmod(folder_.path().c_str(), 0555);
  const bool root = geteuid() == 0;
  const ProgramResult result = run_program(arguments, folder_.path(), {.as_nobody = root});
  if (root && result.code > 3) GTEST_SKIP() << "cannot run the program as another user here";
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_NE(result.err.find("kept.shardscope"), std::string::npos) << result.err;
  chmod(folder_.path().c_str(), 0755);
}

TEST_F(BadInput, FullDisk) {
  const SmallDisk disk(folder_.path() / "small", "600k");
  if (!disk.mounted()) GTEST_SKIP() << "a full disk needs a right that this user lacks: mount";
  folder_.write("small.json", small_workload());
  const std::vector<std::string> arguments = {"profile",    "--workload",   "small.json",
                                              "--topology", "host-cpu:1x2", "--budget",
                                              "1h",         "--session",    "small/s.shardscope"};
  expect_failure(arguments, 3, {"small/s.shardscope", "disk is full", "committed before is kept"});
  const ProgramResult shown = run_program({"inspect", "small/s.shardscope"}, folder_.path());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("MEASURED"), std::string::npos) << shown.out;
}

TEST_F(BadInput, ADiskThatIsFullBehindASweepsFirstRows) {
  const SmallDisk disk(folder_.path() / "small", "4k");
  if (!disk.mounted()) GTEST_SKIP() << "a full disk needs a right that this user lacks: mount";
  folder_.write("small.json", small_workload());
  std::string batches = "64";
  for (int batch = 65; batch < 105; ++batch) batches.append(1, ',').append(std::to_string(batch));
  expect_failure({"sweep", "--workload", "small.json", "--topology", "host-cpu:1x2", "--nodes", "1",
                  "--planner", "round_robin", "--batch", batches, "--csv", "small/rows.csv"},
                 3, {"small/rows.csv", "cannot be written"});
}

TEST_F(BadInput, OutputThatCannotBeWritten) {
  for (const char* command : {"models", "models t510", "models t510 --json"}) {
    for (const char* redirection : {"> /dev/full", ">&-"}) {
      const std::string line =
          test::binary_dir() + "/bin/shardscope " + command + " " + redirection + " 2> errors.txt";
      const int status = std::system(("cd " + folder_.path().string() + " && " + line).c_str());
      EXPECT_EQ(WEXITSTATUS(status), 3) << line;
      std::ifstream errors(folder_.path() / "errors.txt");
      const std::string told{std::istreambuf_iterator<char>(errors), {}};
      EXPECT_TRUE(told.starts_with("shardscope: ")) << line << ": " << told;
    }
  }
}

TEST_F(BadInput, AFileNeverTakesThePlaceOfAClosedOutput) {
  folder_.write("small.json", small_workload());
  const std::string line =
      "cd " + folder_.path().string() + " && " + test::binary_dir() +
      "/bin/shardscope check --workload small.json --topology host-cpu:1x2 --save layout.json >&-";
  EXPECT_EQ(WEXITSTATUS(std::system((line + " 2> errors.txt").c_str())), 3);
  std::ifstream layout(folder_.path() / "layout.json");
  const std::string text{std::istreambuf_iterator<char>(layout), {}};
  ASSERT_TRUE(text.starts_with("{")) << text;
  EXPECT_EQ(text[text.find_last_not_of('\n')], '}') << text;
}

TEST_F(BadInput, SessionOfANewerVersion) {
  ASSERT_EQ(run_program(small_profile({"--session", "s.shardscope"}), folder_.path()).code, 0);
  std::fstream file(folder_.path() / "s.shardscope",
                    std::ios::in | std::ios::out | std::ios::binary);
  constexpr int kUserVersion = 60;  // offset in SQLite's header, four bytes, big-endian
  file.seekp(kUserVersion + 3);
  file.put(99);
  file.close();
  expect_failure({"inspect", "s.shardscope"}, 1, {"s.shardscope", "99"});
  expect_failure(small_profile({"--session", "s.shardscope"}), 1, {"s.shardscope", "99"});
}

TEST_F(BadInput, EmptyBagsAreNoError) {
  folder_.write("empty.json", R"({"format": "shardscope.workload/1", "name": "empty",
    "global_batch": 64, "tables": [{"name": "a", "rows": 100, "dim": 8}],
    "features": [{"name": "f", "table": "a", "pooling": "mean",
                  "hotness": {"kind": "histogram", "minimum": 0, "weights": [1]}}]})");
  const ProgramResult result = run_program(
      {"profile", "--workload", "empty.json", "--topology", "host-cpu:1x2", "--iterations", "8"},
      folder_.path());
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(BadInput, IdsOutsideTheirTable) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "click:1 item:" + std::to_string(i % 150) + "\n";
  folder_.write("stream.txt", lines);
  folder_.write("recorded.json", R"({"format": "shardscope.workload/1", "name": "recorded",
    "global_batch": 64, "tables": [{"name": "a", "rows": 100, "dim": 8}],
    "features": [{"name": "f", "table": "a", "pooling": "sum", "hotness": 1,
                  "ids": {"kind": "recorded", "stream": "stream.txt", "column": "item"}}]})");
  const std::vector<std::string> profile = {
      "profile", "--workload", "recorded.json", "--topology", "host-cpu:1x2", "--iterations", "8"};
  std::vector<std::string> strict = profile;
  strict.insert(strict.end(), {"--range-policy", "error"});
  expect_failure(strict, 1, {"stream.txt:101", "id 100", "table a", "0 to 99"});
  EXPECT_EQ(run_program(profile, folder_.path()).code, 0);
  const ProgramResult counted = run_program(
      {"stats", "--workload", "recorded.json", "--iterations", "4", "--json"}, folder_.path());
  ASSERT_EQ(counted.code, 0) << counted.err;
  EXPECT_EQ(counted.out.find("\"out_of_range\": 0"), std::string::npos) << counted.out;
}

TEST_F(BadInput, BackendsThatAreNotHere) {
  expect_failure(small_profile({"--backend", "cuda"}), 3, {"cuda", "doctor"});
  expect_failure(small_profile({"--comm", "nccl"}), 1, {"nccl", "threads"});
  expect_failure(small_profile({"--backend", "abacus"}), 1, {"abacus", "cpu"});
}

TEST_F(BadInput, AFailedStartLeavesNoSessionBehind) {
  const std::string path = (folder_.path() / "new.shardscope").string();
  expect_failure(small_profile({"--session", path, "--backend", "cuda"}), 3, {});
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace shardscope::app
