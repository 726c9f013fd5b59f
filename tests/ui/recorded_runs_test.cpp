#include "ui/model/recorded_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "storage/curves.hpp"
#include "storage/session_writer.hpp"

namespace shardscope::ui {
namespace {

class RecordedRunsTest : public testing::Test {
 protected:
  RecordedRunsTest()
      : path_(testing::TempDir() + "/shardscope_recorded_runs.shardscope"),
        session_(
            (std::filesystem::remove(path_), storage::Session::open_or_create(path_).value())) {}
  ~RecordedRunsTest() override { std::filesystem::remove(path_); }

  /// A run of a baseline that ended with that message.
  std::int64_t run(const std::string& message) {
    const Workload workload = model_by_name("criteo-kaggle").value();
    const Topology topology = topology_by_name("host-cpu:1x2").value();
    RunInfo info;
    info.backend = "cpu";
    info.workload_json = to_json(workload);
    info.topology_json = to_json(topology);
    info.layout_json = to_json(baseline("round_robin", workload, topology).value());
    info.environment_json = "{}";
    info.global_batch = 512;
    info.ranks = 2;
    storage::SessionWriter writer(session_);
    const std::int64_t id = writer.begin_run(info).value();
    RunSummary summary;
    summary.message = message;
    EXPECT_TRUE(writer.end_run(id, summary));
    EXPECT_TRUE(writer.flush());
    return id;
  }
  void compare(std::int64_t a, std::int64_t b) {
    storage::ComparisonRecord record;
    record.run_a = a;
    record.run_b = b;
    record.mode = "measured";
    record.ratio = record.low = record.high = 1;
    record.reason = "target";
    record.stages_json = "[]";
    ASSERT_TRUE(storage::save_comparison(session_, record));
  }
  RecordedRuns last() { return last_runs(session_).value().value(); }

  std::string path_;
  storage::Session session_;
};

TEST_F(RecordedRunsTest, TheNewestIsShownWhetherItWasComparedOrNot) {
  const std::int64_t a = run(""), b = run("");
  compare(a, b);
  EXPECT_TRUE(last().comparison);
  EXPECT_EQ(last().b->run, b);
  const std::int64_t alone = run("");
  EXPECT_FALSE(last().comparison);
  EXPECT_EQ(last().a.run, alone);
  EXPECT_FALSE(last().b);
}

TEST_F(RecordedRunsTest, AJobThatMovedIsShownWithTheLayoutBeforeAndItsWholeCurve) {
  run("");
  const std::int64_t first = run(storage::kMovedOn), second = run(storage::kMovedOn),
                     third = run("");
  int iteration = 0;
  for (const std::int64_t id : {first, second, third}) {
    iteration += 50;
    const storage::CurvePoint point{"eval", iteration, iteration * 512, 1, 0.6, 0.7};
    ASSERT_TRUE(storage::save_curve(session_, id, {&point, 1}));
  }
  const RecordedRuns shown = last();
  EXPECT_TRUE(shown.moved);
  EXPECT_EQ(shown.a.run, second);
  EXPECT_EQ(shown.b->run, third);
  EXPECT_EQ(shown.curve.points().size(), 3U);
  EXPECT_EQ(shown.curve.moves().size(), 2U);
}

}  // namespace
}  // namespace shardscope::ui
