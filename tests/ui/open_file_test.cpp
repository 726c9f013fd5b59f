#include "ui/desktop/open_file.hpp"

#include <chrono>
#include <fstream>
#include <thread>

#include "desktop_fixture.hpp"
#include "layout/json.hpp"
#include "storage/calibration_file.hpp"
#include "ui/model/folder_list.hpp"

namespace shardscope::ui {
namespace {

class OpenFileTest : public DesktopFixture {
 protected:
  Status open(const std::string& path) {
    if (Status opened = open_path(desktop_, path); !opened) return opened;
    return finish_import(desktop_);
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(home_ + "/" + name) << text;
    return home_ + "/" + name;
  }
};

TEST_F(OpenFileTest, AnNsightSystemsFileOpensInTheTimeline) {
  const std::string path = data("traces/power_iteration__baseline.sqlite");
  if (path.empty()) GTEST_SKIP() << "../shared/data/traces is absent";
  const Status opened = open(path);
  ASSERT_TRUE(opened) << to_string(opened.error());
  EXPECT_EQ(desktop_.workspace, Workspace::timeline);
  ASSERT_NE(desktop_.timeline.source, nullptr);
  EXPECT_FALSE(desktop_.timeline.source->tracks().empty());
  driver_.settle();
  EXPECT_GT(desktop_.timeline.statistics.spans, 0);
  for (const Workspace workspace :
       {Workspace::tune, Workspace::run, Workspace::scale, Workspace::history}) {
    desktop_.choose(workspace);
    driver_.settle();
  }
}

TEST_F(OpenFileTest, KernelsOfAnNsightFileAreNamedAndLinkedToTheirCalls) {
  const std::string path = data("traces/power_iteration__baseline.sqlite");
  if (path.empty()) GTEST_SKIP() << "../shared/data/traces is absent";
  ASSERT_TRUE(open(path));
  ActivityLookup& activities = *desktop_.timeline.activities;
  for (int i = 0; i < 2000 && activities.poll(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (int i = 0; i < 2000 && (i < 3 || desktop_.busy); ++i) {
    driver_.frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(activities.error().empty()) << activities.error();
  ASSERT_FALSE(desktop_.timeline.events.empty());
  std::size_t named = 0, linked = 0;
  for (const Span& span : desktop_.timeline.events) {
    const storage::DeviceWork* work = activities.of(span);
    if (work == nullptr) continue;
    ++named;
    if (work->call.name.empty()) continue;
    ++linked;
    EXPECT_LE(work->call.start_ns, work->end_ns);
  }
  EXPECT_GT(named, desktop_.timeline.events.size() / 2);
  EXPECT_GT(linked, named / 2);
}

TEST_F(OpenFileTest, KinetoTracesOfAllRanksOpenTogether) {
  const std::string path = data("traces/dlrm_kineto.tar.gz");
  if (path.empty()) GTEST_SKIP() << "../shared/data/traces is absent";
  // Through the window's own way: in the background, frame by frame.
  try_open_path(desktop_, path);
  ASSERT_NE(desktop_.importing, nullptr);
  driver_.frame();
  EXPECT_TRUE(desktop_.busy);
  desktop_.importing->wait();
  driver_.frame();
  EXPECT_EQ(desktop_.importing, nullptr);
  EXPECT_EQ(desktop_.workspace, Workspace::timeline) << told();
  EXPECT_EQ(document().workload().tables.size(), 26U);
  EXPECT_EQ(document().layout().ranks, 8);
}

TEST_F(OpenFileTest, APlannersReportOpensAsALayoutToTune) {
  const std::string path = data("plans/torchrec_sharding_stats_example.txt");
  if (path.empty()) GTEST_SKIP() << "../shared/data/plans is absent";
  const Status opened = open(path);
  ASSERT_TRUE(opened) << to_string(opened.error());
  EXPECT_EQ(desktop_.workspace, Workspace::tune);
  EXPECT_GT(document().workload().tables.size(), 0U);
  EXPECT_EQ(document().executor(), Executor::torchrec);
  EXPECT_FALSE(desktop_.notices.empty());
}

TEST_F(OpenFileTest, AModelThatOnlyNamesItsTablesStartsFromABaseline) {
  const std::string path = data("traces/split_table_batched_embeddings_ops.json");
  if (path.empty()) GTEST_SKIP() << "../shared/data/traces is absent";
  const Status opened = open(path);
  ASSERT_TRUE(opened) << to_string(opened.error());
  EXPECT_GT(document().workload().tables.size(), 0U);
  EXPECT_TRUE(document().current().priced);
}

TEST_F(OpenFileTest, DocumentsOfOursOpenByTheirContentWhateverTheirName) {
  open_model();
  const std::string layout = write("a.txt", to_json(document().layout()));
  const std::string topology = write("b", to_json(document().topology()));
  const std::string model = write("c.json", to_json(document().workload()));
  document().apply(*edit_move(document(), {20, 0, 0}, (owner(20) + 1) % 8));
  const std::size_t states = document().history().nodes().size();
  ASSERT_TRUE(open(layout));
  EXPECT_EQ(document().history().nodes().size(), states + 1);
  ASSERT_TRUE(open(topology));
  EXPECT_EQ(document().history().nodes().size(), 1U);
  ASSERT_TRUE(open(model));
  EXPECT_EQ(document().workload().tables.size(), 26U);
}

TEST_F(OpenFileTest, ACalibrationBecomesTheMachinesConstants) {
  const std::string path = home_ + "/machine.json";
  storage::CalibrationFile file;
  file.topology = "dgx-h100";
  file.calibration.name = "dgx-h100";
  file.calibration.backend = "cuda";
  file.calibration.environment = "{}";
  open_model();
  file.calibration.gpu = document().topology().gpu;
  file.calibration.gpu.memory_bytes_per_s.value /= 2;
  file.calibration.gpu.memory_bytes_per_s.origin = Origin::measured;
  std::ofstream(path) << storage::to_json(file);
  const double before = document().current().iteration_s;
  const std::size_t layouts = document().history().nodes().size();
  const Status opened = open(path);
  ASSERT_TRUE(opened) << to_string(opened.error());
  driver_.settle();
  EXPECT_GT(document().current().iteration_s, before);
  EXPECT_GT(document().reference().iteration_s, before);
  EXPECT_EQ(document().history().nodes().size(), layouts);
  EXPECT_NE(told().find("dgx-h100"), std::string::npos);
}

TEST_F(OpenFileTest, WhatCannotBeOpenedSaysWhyAndChangesNothing) {
  open_model();
  const Document* before = desktop_.document.get();
  for (const std::string& path :
       {home_ + "/absent", write("empty", ""), write("words", "nothing that anybody knows"),
        write("cut.json", "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1"),
        write("foreign.sqlite", std::string("SQLite format 3\0and nothing more", 33))}) {
    const Status opened = open(path);
    EXPECT_FALSE(opened) << path;
    EXPECT_EQ(desktop_.document.get(), before) << path;
  }
}

TEST_F(OpenFileTest, AnImportThatIsCancelledLeavesWhatIsOpen) {
  const std::string path = data("traces/dlrm_kineto.tar.gz");
  if (path.empty()) GTEST_SKIP() << "../shared/data/traces is absent";
  open_model();
  const Document* before = desktop_.document.get();
  try_open_path(desktop_, path);
  driver_.frame();
  driver_.click(driver_.center("import/cancel"));
  if (desktop_.importing != nullptr) desktop_.importing->wait();
  driver_.frame();
  EXPECT_EQ(desktop_.importing, nullptr);
  EXPECT_EQ(desktop_.document.get(), before);
}

TEST_F(OpenFileTest, TheDialogEntersFoldersCompletesAndOpens) {
  std::filesystem::create_directories(home_ + "/models/inner");
  open_model();
  write("models/first.json", to_json(document().workload()));
  driver_.key('O', kCtrl);
  driver_.frame();
  ASSERT_TRUE(desktop_.opening.shown);
  driver_.key('A', kCtrl);
  driver_.type(home_ + "/mod");
  driver_.frame();
  EXPECT_FALSE(driver_.rect("open/entry/models").empty());
  driver_.key(key::kTab);
  driver_.frame();
  driver_.frame();
  EXPECT_EQ(desktop_.opening.text, home_ + "/models/");
  EXPECT_FALSE(driver_.rect("open/entry/inner").empty());
  EXPECT_EQ(desktop_.opening.kinds[home_ + "/models/first.json"], "model");
  driver_.key(key::kDown);
  driver_.key(key::kDown);
  driver_.key(key::kEnter);
  driver_.frame();
  EXPECT_FALSE(desktop_.opening.shown) << desktop_.opening.error;
  EXPECT_EQ(desktop_.settings.folder, home_ + "/models/");
  driver_.key('O', kCtrl);
  driver_.key(key::kEscape);
  EXPECT_FALSE(desktop_.opening.shown);
}

TEST(FolderList, TypedPathsAreSplitWhereTheirLastFolderEnds) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(typed_path("~/a/b", "/x").folder, "/home/someone/a/");
  EXPECT_EQ(typed_path("~/a/b", "/x").name, "b");
  EXPECT_EQ(typed_path("rel", "/x").folder, "/x/");
  EXPECT_EQ(typed_path("/", "/x").folder, "/");
  const std::vector<FolderEntry> entries = {{.name = "alpha"}, {.name = "alphabet"}};
  EXPECT_EQ(completed(entries, "al"), "alpha");
  EXPECT_EQ(completed(entries, "x"), "x");
  EXPECT_FALSE(list_folder("/no/such/folder"));
}

}  // namespace
}  // namespace shardscope::ui
