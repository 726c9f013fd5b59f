// Jobs other than a plain run: training with its curve, moves to an edited layout, calibration, and
// what the engine's machine can do.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fake_engine.hpp"
#include "layout/json.hpp"
#include "layout/models.hpp"
#include "storage/calibration_file.hpp"
#include "ui/desktop/calibrate.hpp"
#include "ui/desktop/run_control.hpp"

namespace shardscope::ui {
namespace {

using service::CurveSample;
using service::Failure;
using service::Reply;
using service::RunBegun;

class EngineJobsTest : public FakeEngineFixture {
 protected:
  /// Requests: 1 hello, 2 open, 3 the job, 4 the move.
  static std::string training_words() {
    return greeting() + bytes_of({Reply{2, "{}"}, RunBegun{3, 1, 0, "measured"},
                                  CurveSample{3, 1, "train", 50, 25600, 0.69, std::nan("")},
                                  CurveSample{3, 1, "eval", 50, 25600, 0.68, 0.61}});
  }
  void train_until_the_first_point() {
    desktop_.choose(Workspace::run);
    driver_.settle();
    driver_.click(driver_.center("run/train"));
    ASSERT_TRUE(
        frames_until([&] { return desktop_.run.shown && !desktop_.run.shown->curve.empty(); }));
  }
  void edit() {
    desktop_.apply(
        edit_move(document(), {20, 0, 0}, lightest_gpu(document().current(), true, owner(20))));
    ASSERT_EQ(document().current().errors, 0);
  }
};

TEST_F(EngineJobsTest, ATrainingDrawsItsCurveAndMovesToTheEditedLayout) {
  open_model();
  use_engine_in_two_parts(training_words(),
                          bytes_of({RunBegun{3, 2, 1, "measured"}, Reply{4, "{}"},
                                    CurveSample{3, 2, "train", 100, 51200, 0.66, std::nan("")},
                                    CurveSample{3, 2, "eval", 100, 51200, 0.65, 0.66}}));
  train_until_the_first_point();
  EXPECT_FALSE(driver_.rect("run/learning").empty());
  EXPECT_FALSE(can_apply(desktop_)) << "it has the current layout";
  edit();
  driver_.frame();
  ASSERT_TRUE(can_apply(desktop_));
  driver_.click(driver_.center("run/apply"));
  driver_.frame();
  EXPECT_FALSE(can_apply(desktop_)) << "one move at a time";
  EXPECT_FALSE(desktop_.run.shown->moved);
  go_on();
  ASSERT_TRUE(frames_until([&] { return desktop_.run.shown->curve.points().size() == 2; }));
  EXPECT_TRUE(desktop_.run.shown->moved);
  ASSERT_TRUE(desktop_.run.shown->b);
  ASSERT_EQ(desktop_.run.shown->curve.moves().size(), 1U);
  EXPECT_EQ(desktop_.run.shown->curve.moves()[0].samples, 25600);
  EXPECT_EQ(desktop_.run.ran_b, document().history().current());
  EXPECT_TRUE(told().empty()) << told();
}

TEST_F(EngineJobsTest, AMoveThatIsRefusedIsToldAndTheTrainingGoesOn) {
  open_model();
  use_engine_in_two_parts(
      training_words(),
      bytes_of({Failure{4, {ErrorKind::infeasible, "it does not fit there", "", "", ""}},
                CurveSample{3, 1, "eval", 100, 51200, 0.65, 0.66}}));
  train_until_the_first_point();
  edit();
  driver_.key(key::kF8);
  go_on();
  ASSERT_TRUE(frames_until([&] { return desktop_.run.shown->curve.points().size() == 2; }));
  EXPECT_NE(told().find("does not fit"), std::string::npos) << told();
  EXPECT_FALSE(desktop_.run.shown->moved);
  EXPECT_TRUE(running());
  EXPECT_TRUE(can_apply(desktop_)) << "it may be asked again";
}

TEST_F(EngineJobsTest, ALayoutThatBreaksARuleIsNotApplied) {
  open_model();
  use_engine(training_words(), "cat > /dev/null");
  train_until_the_first_point();
  for (const std::int32_t table : {0, 9, 19, 20, 21}) {
    if (owner(table) != 2) desktop_.apply(edit_move(document(), {table, 0, 0}, 2));
  }
  ASSERT_GT(document().current().errors, 0);
  EXPECT_FALSE(can_apply(desktop_));
}

TEST_F(EngineJobsTest, JobsSayWhatTheFieldsSay) {
  open_model();
  desktop_.run.backend = "cuda";
  desktop_.run.comm = "loopback";
  desktop_.run.dense_math = "bf16";
  desktop_.run.graphs = true;
  desktop_.run.iterations = "1,200";
  desktop_.run.evaluate_every = "60";
  const auto training = job_of(desktop_, service::JobKind::train);
  ASSERT_TRUE(training);
  EXPECT_EQ(training->settings.backend, "cuda");
  EXPECT_EQ(training->settings.dense_math, "bf16");
  EXPECT_TRUE(training->settings.graphs);
  EXPECT_EQ(training->settings.iterations, 1200);
  EXPECT_EQ(training->settings.evaluate_every, 60);
  EXPECT_NE(training->topology_json.find("H100"), std::string::npos) << "GPUs run as themselves";
  EXPECT_NE(training->workload_json.find("dcnv2"), std::string::npos) << "with the dense part";
  desktop_.run.backend = "cpu";
  const auto run = job_of(desktop_, service::JobKind::run);
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->settings.graphs) << "graphs are of GPUs";
  EXPECT_EQ(run->settings.iterations, 0);
  EXPECT_EQ(run->topology_json.find("H100"), std::string::npos);
  desktop_.run.iterations = "many";
  EXPECT_FALSE(job_of(desktop_, service::JobKind::train));
}

TEST_F(EngineJobsTest, ACalibrationIsMeasuredKeptInAFileAndUsed) {
  ASSERT_TRUE(desktop_.open_model("criteo-kaggle", "host-cpu:1x4", "table_wise"));
  storage::CalibrationFile file;
  file.topology = "host-cpu:1x4";
  file.calibration.name = "lab";
  file.calibration.backend = "cpu";
  file.calibration.environment = "{}";
  file.calibration.gpu = document().topology().gpu;
  for (Quantity* one :
       {&file.calibration.gpu.gather_efficiency, &file.calibration.gpu.gemm_efficiency,
        &file.calibration.gpu.reduce_efficiency}) {
    one->value = 0.5;
    one->origin = Origin::measured;
  }
  // Requests: 1 hello, 2 the job, which needs no session.
  use_engine_in_two_parts(greeting() + bytes_of(service::JobProgress{2, 0.5, "copies"}),
                          bytes_of(Reply{2, storage::to_json(file)}));
  driver_.settle();
  ASSERT_TRUE(calibration_wanted(desktop_));
  ASSERT_FALSE(driver_.rect("advice/calibrate").empty());
  driver_.click(driver_.center("advice/calibrate"));
  ASSERT_TRUE(frames_until([&] { return running() && desktop_.engine->job()->share > 0; }));
  EXPECT_FALSE(can_apply(desktop_));
  go_on();
  ASSERT_TRUE(frames_until([&] { return !running(); }));
  EXPECT_EQ(document().topology().gpu.gather_efficiency.origin, Origin::measured);
  EXPECT_TRUE(desktop_.host_calibration);
  EXPECT_FALSE(host_unmeasured(desktop_));
  EXPECT_NE(told().find("host-cpu:1x4"), std::string::npos) << told();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(home_ + "/shardscope")) {
    files += entry.path().filename().string().starts_with("calibration-") ? 1 : 0;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(EngineJobsTest, AMachineOfGpusIsNotMeasuredHereAndTheButtonSaysSo) {
  open_model();
  EXPECT_FALSE(calibration_wanted(desktop_)) << "constants of H100 are measured";
  EXPECT_TRUE(driver_.rect("advice/calibrate").empty());
  ASSERT_TRUE(desktop_.open_model("dcnv2", "dgx-b200", "table_wise"));
  driver_.settle();
  ASSERT_TRUE(calibration_wanted(desktop_));
  EXPECT_NE(calibration_refusal(document().topology()).find("--from"), std::string::npos);
  ASSERT_FALSE(driver_.rect("advice/calibrate").empty());
  driver_.click(driver_.center("advice/calibrate"));
  driver_.frame();
  EXPECT_EQ(desktop_.engine, nullptr);
}

TEST_F(EngineJobsTest, WhatWasMeasuredOfThisHostIsForRunsThatStandForGpus) {
  open_model();
  storage::CalibrationFile file;
  file.topology = "host-cpu:1x2";
  file.calibration.name = "lab";
  file.calibration.gpu.name = topology_by_name("host-cpu")->gpu.name;
  file.calibration.gpu.gather_efficiency = {0.37, Origin::measured, "here", "2026-01-01"};
  const double before = document().current().iteration_s;
  ASSERT_TRUE(use_calibration(desktop_, file, "c.json"));
  EXPECT_EQ(document().current().iteration_s, before);
  EXPECT_EQ(local_topology(desktop_)->gpu.gather_efficiency.value, 0.37);
  EXPECT_NE(told().find("keeps its own constants"), std::string::npos) << told();
}

TEST_F(EngineJobsTest, OfAnotherDeviceItIsRefused) {
  open_model();
  storage::CalibrationFile file;
  file.calibration.gpu.name = "A100 80GB";
  const Status used = use_calibration(desktop_, file, "c.json");
  ASSERT_FALSE(used);
  EXPECT_NE(to_string(used.error()).find("A100"), std::string::npos);
}

TEST_F(EngineJobsTest, AnEngineThatWasChosenPlansToo) {
  open_model();
  Layout better = document().layout();
  better.tables[20].owners[0] = (owner(20) + 1) % 8;
  const std::string plan =
      nlohmann::json{{"layout", to_json(better)}, {"seconds", 0.001}, {"lower_bound_s", 0.0009}}
          .dump();
  // Requests: 1 hello, 2 the plan.
  use_engine_in_two_parts(greeting() + bytes_of(service::JobProgress{2, 0.5, "search", 0.0012}),
                          bytes_of(Reply{2, plan}));
  desktop_.choose(Workspace::scale);
  driver_.settle();
  driver_.click(driver_.center("scale/plan"));
  ASSERT_TRUE(frames_until(
      [&] { return desktop_.scale.job != nullptr && !desktop_.scale.job->points().empty(); }));
  EXPECT_EQ(desktop_.scale.job->progress().phase, "search");
  EXPECT_EQ(desktop_.scale.proposed, nullptr);
  go_on();
  ASSERT_TRUE(frames_until([&] { return desktop_.scale.proposed != nullptr; }))
      << desktop_.scale.failure;
  EXPECT_EQ(desktop_.scale.proposed->tables, better.tables);
  EXPECT_EQ(desktop_.scale.bound_s, 0.0009);
}

TEST_F(EngineJobsTest, AnEngineThatDiesWhilePlanningSaysSo) {
  open_model();
  use_engine(greeting(), "sleep 0.2\nkill -9 $$");
  desktop_.choose(Workspace::scale);
  driver_.settle();
  driver_.click(driver_.center("scale/plan"));
  ASSERT_TRUE(frames_until([&] { return !desktop_.scale.failure.empty(); }));
  EXPECT_NE(desktop_.scale.failure.find("signal 9"), std::string::npos) << desktop_.scale.failure;
}

TEST_F(EngineJobsTest, WhatTheMachineLacksCannotBeChosen) {
  open_model();
  use_engine(greeting() + bytes_of(Reply{2, R"({"machine": {}, "capabilities": [
      {"name": "CUDA plugin", "available": "yes", "finding": "", "help": ""},
      {"name": "GPU", "available": "no", "finding": "no NVIDIA driver is loaded", "help": ""}]})"}),
             "cat > /dev/null");
  desktop_.attended = true;
  desktop_.choose(Workspace::run);
  ASSERT_TRUE(
      frames_until([&] { return desktop_.engine != nullptr && desktop_.engine->machine().known; }));
  driver_.click(driver_.center("run/backend/cuda"));
  driver_.frame();
  EXPECT_EQ(desktop_.run.backend, "cpu");
  driver_.click(driver_.center("run/comm/loopback"));
  EXPECT_EQ(desktop_.run.comm, "loopback");
}

TEST_F(EngineJobsTest, AGpuIsChosenWithACommunicatorThatConnectsIt) {
  open_model();
  use_engine(greeting() + bytes_of(Reply{2, R"({"machine": {}, "capabilities": [
      {"name": "CUDA plugin", "available": "yes", "finding": "", "help": ""},
      {"name": "GPU", "available": "yes", "finding": "1", "help": ""}]})"}),
             "cat > /dev/null");
  desktop_.attended = true;
  desktop_.choose(Workspace::run);
  ASSERT_TRUE(
      frames_until([&] { return desktop_.engine != nullptr && desktop_.engine->machine().known; }));
  driver_.click(driver_.center("run/backend/cuda"));
  driver_.frame();
  EXPECT_EQ(desktop_.run.backend, "cuda");
  EXPECT_EQ(desktop_.run.comm, "loopback");
  EXPECT_FALSE(driver_.rect("run/dense_math/tf32").empty());
}

TEST_F(EngineJobsTest, AnEngineThatKnowsNoMachineLeavesCpuRanks) {
  open_model();
  use_engine(greeting() + bytes_of(Failure{2, {ErrorKind::usage, "what?", "", "", ""}}),
             "cat > /dev/null");
  desktop_.attended = true;
  desktop_.choose(Workspace::run);
  ASSERT_TRUE(frames_until([&] { return desktop_.engine != nullptr; }));
  for (int i = 0; i < 40; ++i) driver_.frame();
  EXPECT_FALSE(desktop_.engine->machine().known);
  driver_.click(driver_.center("run/backend/cuda"));
  EXPECT_EQ(desktop_.run.backend, "cpu");
}

}  // namespace
}  // namespace shardscope::ui
