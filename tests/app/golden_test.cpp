// The text a person sees, kept word for word in tests/app/golden.

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"
#include "storage/session.hpp"
#include "storage/session_writer.hpp"
#include "tests/app/program.hpp"

namespace shardscope::app {
namespace {

void expect_golden_output(const std::string& name, const std::vector<std::string>& arguments,
                          int code = 0) {
  const test::TempDirectory folder;
  folder.write("small.json", small_workload());
  const ProgramResult result = run_program(arguments, folder.path());
  EXPECT_EQ(result.code, code) << result.err;
  expect_golden(name, result.out);
}

TEST(Golden, HelpOfTheProgram) {
  expect_golden_output("help", {"--help"});
}

TEST(Golden, HelpOfEveryCommandHasAnExampleAndJson) {
  const test::TempDirectory folder;
  for (const char* command :
       {"models",  "topologies", "stats",  "check",     "profile", "compare",    "train",
        "inspect", "import",     "export", "report",    "doctor",  "plan",       "predict",
        "explain", "sweep",      "diff",   "calibrate", "codec",   "tune-bounds"}) {
    const ProgramResult result = run_program({command, "--help"}, folder.path());
    EXPECT_EQ(result.code, 0) << result.err;
    expect_golden(std::string("help_") + command, result.out);
    EXPECT_NE(result.out.find("Example: shardscope " + std::string(command)), std::string::npos);
    EXPECT_NE(result.out.find("--json"), std::string::npos);
  }
}

TEST(Golden, Models) {
  expect_golden_output("models", {"models"});
}

TEST(Golden, Topologies) {
  expect_golden_output("topologies", {"topologies"});
}

TEST(Golden, OneTopologyWithOrigins) {
  expect_golden_output("topology_dgx_h100", {"topologies", "dgx-h100:2"});
}

TEST(Golden, OneModel) {
  expect_golden_output("model_dcnv2", {"models", "dcnv2"});
}

TEST(Golden, CheckOfAValidLayout) {
  expect_golden_output("check_valid", {"check", "--workload", "small.json", "--topology",
                                       "dgx-h100:1x4", "--layout", "uniform"});
}

TEST(Golden, CheckOfALayoutThatDoesNotFit) {
  expect_golden_output(
      "check_too_large",
      {"check", "--workload", "dcnv2", "--topology", "dgx-h100:1x1", "--layout", "data_parallel"},
      2);
}

/// A session with known records: two runs, a comparison, a curve.
void write_fixed_session(const std::string& path) {
  auto session = storage::Session::create(path);
  ASSERT_TRUE(session.has_value()) << session.error().what;
  const Workload workload = workload_from_json(small_workload(), "small").value();
  const Topology topology = topology_by_name("host-cpu:1x2").value();
  std::int64_t runs[2] = {0, 0};
  {
    storage::SessionWriter writer(*session);
    for (int which = 0; which < 2; ++which) {
      RunInfo info;
      info.mode = which == 0 ? Mode::measured : Mode::emulated;
      info.backend = "cpu";
      info.comm = "threads";
      info.wire = which == 0 ? "" : "10,1";
      info.schedule = "serial";
      info.workload_json = to_json(workload);
      info.topology_json = to_json(topology);
      info.layout_json = to_json(
          baseline(which == 0 ? "table_row_wise" : "round_robin", workload, topology).value());
      info.environment_json = "{}";
      info.seed = 7;
      info.global_batch = 256;
      info.rows_cap = 5000;
      info.ranks = 2;
      runs[which] = writer.begin_run(info).value();
      std::vector<Span> spans;
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        std::int64_t at = 0;
        for (const Stage stage : {Stage::input_dist, Stage::model_forward, Stage::network_forward,
                                  Stage::network_backward, Stage::update}) {
          const std::int64_t length = 1'000'000 * (1 + rank + which) + at / 4;
          Span span;
          span.start_ns = at;
          span.end_ns = at + length;
          span.busy_ns = length / 2;
          span.rank = rank;
          span.stage = stage;
          span.rows = 1000;
          span.intra_bytes = stage == Stage::network_forward ? 65536 : 0;
          spans.push_back(span);
          if (stage == Stage::network_forward && rank == 0) {
            span.waiting = true;
            span.start_ns = span.end_ns;
            span.end_ns += 500'000;
            span.rows = span.intra_bytes = 0;
            spans.push_back(span);
          }
          at = spans.back().end_ns;
        }
      }
      writer.spans(runs[which], spans);
      Iteration iteration;
      iteration.end_ns = 12'000'000;
      iteration.traced = true;
      writer.iterations(runs[which], std::vector<Iteration>{iteration});
      RunSummary summary;
      summary.samples_per_s = 21333.3;
      summary.iteration_ms = 12;
      summary.critical_path_ms = 5.5;
      summary.tracing_overhead = 0.004;
      summary.complete = which == 0;
      summary.message = which == 0 ? "" : "stopped by the user";
      ASSERT_TRUE(writer.end_run(runs[which], summary).has_value());
    }
  }
  storage::ComparisonRecord record;
  record.run_a = runs[0];
  record.run_b = runs[1];
  record.label_a = "table_row_wise";
  record.label_b = "round_robin";
  record.mode = "emulated";
  record.ratio = 1.25;
  record.low = 1.2;
  record.high = 1.3;
  record.blocks = 24;
  record.reason = "target";
  record.sentence = "round_robin is 1.250 times as fast as table_row_wise (1.200 to 1.300).";
  ASSERT_TRUE(storage::save_comparison(*session, record).has_value());
  const std::vector<storage::CurvePoint> curve = {
      {"train", 100, 25600, 1'000'000, 0.61, std::nan("")},
      {"eval", 100, 25600, 1'000'000, 0.6, 0.71}};
  ASSERT_TRUE(storage::save_curve(*session, runs[0], curve).has_value());
  ASSERT_TRUE(session->close().has_value());
}

TEST(Golden, InspectOfAFixedSession) {
  const test::TempDirectory folder;
  write_fixed_session((folder.path() / "fixed.shardscope").string());
  const ProgramResult result = run_program({"inspect", "fixed.shardscope"}, folder.path());
  EXPECT_EQ(result.code, 0) << result.err;
  static const std::regex date(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)");
  expect_golden("inspect", std::regex_replace(result.out, date, "DATE"));
}

TEST(Golden, OutputThatIsNoTerminalHasNoColour) {
  const test::TempDirectory folder;
  EXPECT_EQ(run_program({"doctor"}, folder.path()).out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace shardscope::app
