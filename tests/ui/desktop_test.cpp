#include "ui/desktop/desktop.hpp"

#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "desktop_fixture.hpp"
#include "ui/desktop/open_file.hpp"
#include "ui/desktop/options.hpp"
#include "ui/desktop/overlay.hpp"
#include "ui/desktop/save.hpp"
#include "ui/desktop/settings.hpp"
#include "ui/desktop/startup.hpp"

namespace shardscope::ui {
namespace {

class DesktopTest : public DesktopFixture {};

TEST_F(DesktopTest, AModelOfTheStartScreenOpensByAClick) {
  driver_.frame();
  ASSERT_FALSE(driver_.rect("start/model/dcnv2").empty());
  driver_.click(driver_.center("start/model/dcnv2"));
  driver_.frame();
  ASSERT_NE(desktop_.document, nullptr);
  EXPECT_EQ(desktop_.workspace, Workspace::tune);
  EXPECT_FALSE(driver_.rect("map/gpu/7").empty());
}

TEST_F(DesktopTest, AShardDraggedToAnotherGpuMovesThereInOneStep) {
  open_model();
  const std::int32_t from = owner(20);
  const std::int32_t to = (from + 3) % 8;
  const double before = document().current().iteration_s;
  const Rect block = driver_.rect("map/shard/20,0,0");
  ASSERT_FALSE(block.empty());
  driver_.drag({block.x0 + 10, block.center_y()}, driver_.center("map/gpu/" + std::to_string(to)));
  EXPECT_TRUE(document().previewing());
  EXPECT_NE(document().shown().iteration_s, before);
  EXPECT_EQ(owner(20), from);
  driver_.release();
  EXPECT_EQ(owner(20), to);
  EXPECT_EQ(document().history().nodes().size(), 2U);
  driver_.key('Z', kCtrl);
  EXPECT_EQ(owner(20), from);
}

TEST_F(DesktopTest, EscapePutsADraggedShardBack) {
  open_model();
  const Rect block = driver_.rect("map/shard/20,0,0");
  driver_.drag({block.x0 + 10, block.center_y()}, driver_.center("map/gpu/1"));
  driver_.key(key::kEscape);
  EXPECT_FALSE(document().previewing());
  driver_.release();
  EXPECT_EQ(document().history().nodes().size(), 1U);
}

TEST_F(DesktopTest, AltSplitsAndShiftReplicates) {
  open_model();
  const std::int32_t to = (owner(20) + 1) % 8;
  const Rect block = driver_.rect("map/shard/20,0,0");
  driver_.hold(kAlt);
  driver_.drag({block.x0 + 10, block.center_y()}, driver_.center("map/gpu/" + std::to_string(to)));
  driver_.release();
  driver_.hold(kNone);
  EXPECT_EQ(document().layout().tables[20].row_shards, 2);
  EXPECT_EQ(document().layout().tables[20].owners[1], to);
  driver_.frame();
  const Rect small = driver_.rect("map/shard/10,0,0");
  ASSERT_FALSE(small.empty());
  driver_.hold(kShift);
  driver_.drag({small.x0 + 5, small.center_y()}, driver_.center("map/gpu/0"));
  driver_.release();
  driver_.hold(kNone);
  EXPECT_EQ(document().layout().tables[10].cluster, ClusterType::DP);
}

TEST_F(DesktopTest, StrictRefusesADropThatBreaksARule) {
  open_model();
  desktop_.settings.strict = true;
  // Every 38 GiB table onto one GPU, until one more does not fit.
  const std::size_t steps = document().history().nodes().size();
  int refused = 0;
  for (const std::int32_t table : {0, 9, 19, 20, 21}) {
    const std::string name = "map/shard/" + std::to_string(table) + ",0,0";
    driver_.settle();
    const Rect block = driver_.rect(name);
    if (block.empty() || owner(table) == 2) continue;
    const std::size_t before = document().history().nodes().size();
    driver_.drag({block.x0 + 6, block.center_y()}, driver_.center("map/gpu/2"));
    driver_.release();
    refused += document().history().nodes().size() == before ? 1 : 0;
    EXPECT_EQ(document().current().errors, 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(desktop_.notices.empty());
  EXPECT_GE(document().history().nodes().size(), steps);
}

TEST_F(DesktopTest, KeysMoveSplitAndPin) {
  open_model();
  driver_.click(driver_.center("tables/row/cat_20"));
  ASSERT_TRUE(desktop_.tune.shard);
  const std::int32_t from = owner(20);
  driver_.key(key::kDown, kAlt);
  EXPECT_EQ(owner(20), (from + 1) % 8);
  driver_.key('7');
  driver_.key('G');
  EXPECT_EQ(owner(20), 7);
  driver_.key('R');
  EXPECT_EQ(document().layout().tables[20].row_shards, 2);
  driver_.key('M');
  EXPECT_EQ(document().layout().tables[20].row_shards, 1);
  driver_.key('P');
  driver_.key(key::kDown, kAlt);
  EXPECT_EQ(owner(20), 7);
  EXPECT_FALSE(desktop_.notices.empty());
}

TEST_F(DesktopTest, TheFilterNarrowsTheListAsItIsTyped) {
  open_model();
  EXPECT_FALSE(driver_.rect("tables/row/cat_5").empty());
  driver_.click(driver_.center("tables/filter"));
  driver_.frame();
  driver_.type("rows>1M");
  driver_.frame();
  EXPECT_TRUE(driver_.rect("tables/row/cat_5").empty());
  EXPECT_FALSE(driver_.rect("tables/row/cat_20").empty());
  driver_.key(key::kEscape);
}

TEST_F(DesktopTest, LettersTypedInAFieldAreNoShortcuts) {
  open_model();
  driver_.click(driver_.center("tables/row/cat_20"));
  driver_.click(driver_.center("tables/filter"));
  driver_.frame();
  driver_.key('R');
  EXPECT_EQ(document().layout().tables[20].row_shards, 1);
}

TEST_F(DesktopTest, TheInspectorsLineMovesTheShard) {
  open_model();
  driver_.click(driver_.center("tables/row/cat_20"));
  driver_.click(driver_.center("inspector/text"));
  driver_.frame();
  driver_.key('A', kCtrl);
  driver_.type("(20,0,0) rows 0:40000000 cols 0:128 @6");
  driver_.key(key::kEnter);
  driver_.frame();
  EXPECT_EQ(owner(20), 6);
}

TEST_F(DesktopTest, ASuggestedEditIsAppliedByAltOne) {
  open_model();
  ASSERT_FALSE(desktop_.tune.suggestions.best().empty());
  const Suggestion first = desktop_.tune.suggestions.best().front();
  const double before = document().current().iteration_s;
  driver_.key('1', kAlt);
  EXPECT_NEAR(document().current().iteration_s, before - first.gain_s, 1e-9 * before);
}

TEST_F(DesktopTest, ThePaletteRunsWhatIsTyped) {
  open_model();
  driver_.key('P', kCtrl);
  driver_.frame();
  EXPECT_TRUE(desktop_.palette.open);
  driver_.type("go to history");
  driver_.key(key::kEnter);
  driver_.frame();
  EXPECT_FALSE(desktop_.palette.open);
  EXPECT_EQ(desktop_.workspace, Workspace::history);
}

TEST_F(DesktopTest, EveryWorkspaceDrawsAtEverySize) {
  open_model();
  for (const auto& [width, height] :
       {std::pair{1, 1}, {40, 30}, {640, 360}, {1280, 720}, {7680, 4320}}) {
    driver_.resize(width, height);
    for (const Workspace workspace : {Workspace::start, Workspace::tune, Workspace::run,
                                      Workspace::timeline, Workspace::scale, Workspace::history}) {
      desktop_.choose(workspace);
      driver_.frame();
      driver_.frame();
    }
    desktop_.choose(Workspace::tune);
    driver_.key(key::kF1);
    driver_.key(key::kEscape);
    desktop_.exporting = true;
    driver_.frame();
    desktop_.exporting = false;
  }
}

TEST_F(DesktopTest, PredictsTheScheduleThatCommandsAndRunsUseAndLetsItBeChosen) {
  open_model();
  EXPECT_EQ(document().options().schedule, ScheduleKind::serial);
  EXPECT_EQ(desktop_.run.schedule, "serial");
  const double serial = document().current().iteration_s;
  driver_.click(driver_.center("prediction/schedule"));
  driver_.frame();
  driver_.click(driver_.center("menu/inter"));
  driver_.settle();
  EXPECT_EQ(document().options().schedule, ScheduleKind::inter);
  EXPECT_EQ(desktop_.run.schedule, "inter");
  EXPECT_LT(document().current().iteration_s, serial);
  EXPECT_LT(document().reference().iteration_s, serial);
}

TEST_F(DesktopTest, WidgetsOfATopOrToolRowNeverLieOnEachOther) {
  open_model();
  for (const auto& [width, height] :
       {std::pair{960, 540}, {1100, 700}, {1366, 768}, {1600, 1000}, {1920, 1080}}) {
    driver_.resize(width, height);
    for (const Workspace workspace :
         {Workspace::tune, Workspace::run, Workspace::timeline, Workspace::scale}) {
      desktop_.choose(workspace);
      driver_.settle();
      std::vector<std::pair<std::string, Rect>> row;
      for (const auto& [name, rect] : driver_.names()) {
        const bool tool = name.starts_with("top/") || name.starts_with("run/") ||
                          name.starts_with("timeline/f") || name.starts_with("timeline/b") ||
                          name.starts_with("timeline/run") ||
                          name.starts_with("timeline/colour/") ||
                          name.starts_with("timeline/path") || name.starts_with("timeline/ghost") ||
                          name.starts_with("timeline/idle") || name.starts_with("map/width/") ||
                          name.starts_with("map/colour/") || name.starts_with("map/view/") ||
                          name.starts_with("prediction/") || name.starts_with("scale/show/") ||
                          name.starts_with("scale/value/") || name.starts_with("scale/view/");
        if (tool && name.find("gutter") == std::string::npos) row.emplace_back(name, rect);
      }
      for (std::size_t a = 0; a < row.size(); ++a) {
        EXPECT_LE(row[a].second.x1, static_cast<float>(width) + 1) << row[a].first;
        for (std::size_t b = a + 1; b < row.size(); ++b) {
          EXPECT_FALSE(row[a].second.inset(1, 1).overlaps(row[b].second.inset(1, 1)))
              << width << "x" << height << ": " << row[a].first << " and " << row[b].first;
        }
      }
    }
  }
}

TEST_F(DesktopTest, NothingIsDrawnAnewWhileNothingHappens) {
  open_model();
  driver_.settle();
  EXPECT_FALSE(desktop_.busy);
}

TEST_F(DesktopTest, AWrongFileIsToldInABarAndChangesNothing) {
  open_model();
  const Document* before = desktop_.document.get();
  desktop_.try_open_model("no-such-model", "dgx-h100", "table_wise");
  EXPECT_EQ(desktop_.document.get(), before);
  ASSERT_EQ(desktop_.notices.size(), 1U);
  driver_.frame();
  driver_.click(driver_.center("notice/0/close"));
  EXPECT_TRUE(desktop_.notices.empty());
}

TEST_F(DesktopTest, AGutterDragResizesItsPane) {
  open_model();
  const float before = desktop_.settings.tables_width;
  const Point at = driver_.center("tune/gutter/tables");
  driver_.drag(at, {at.x + 60, at.y});
  driver_.release();
  EXPECT_NEAR(desktop_.settings.tables_width, before + 60, 2);
}

TEST_F(DesktopTest, TheTimelineZoomsAtTheCursorAndSelectsARange) {
  open_model();
  desktop_.choose(Workspace::timeline);
  driver_.settle();
  const Rect tracks = driver_.rect("timeline/tracks");
  ASSERT_FALSE(tracks.empty());
  const double before = desktop_.timeline.view.shown().length();
  driver_.wheel({tracks.center_x(), tracks.y0 + 30}, 2);
  EXPECT_LT(desktop_.timeline.view.shown().length(), before);
  driver_.drag({tracks.x0 + 100, tracks.y1 - 20}, {tracks.x0 + 400, tracks.y1 - 20});
  driver_.release();
  ASSERT_TRUE(desktop_.timeline.range);
  EXPECT_GT(desktop_.timeline.statistics.spans, 0);
  driver_.key('F');
  EXPECT_NEAR(desktop_.timeline.view.shown().length(), desktop_.timeline.range->length(), 1);
  driver_.key(key::kBackspace);
  driver_.key('0');
  EXPECT_EQ(desktop_.timeline.view.shown(), desktop_.timeline.view.all());
}

TEST_F(DesktopTest, ThePlannerProposesAndItsTicksAreApplied) {
  open_model();
  desktop_.choose(Workspace::scale);
  desktop_.scale.time_limit = "0.3";
  driver_.settle();
  driver_.click(driver_.center("scale/plan"));
  for (int i = 0; i < 2000 && desktop_.scale.proposed == nullptr; ++i) {
    if (const auto job = std::dynamic_pointer_cast<PlanJob>(desktop_.scale.job)) job->wait();
    driver_.frame();
  }
  ASSERT_NE(desktop_.scale.proposed, nullptr) << desktop_.scale.failure;
  const double before = document().current().iteration_s;
  driver_.frame();
  driver_.click(driver_.center("scale/accept"));
  EXPECT_LT(document().current().iteration_s, before);
  EXPECT_EQ(document().history().nodes().size(), 2U);
}

TEST_F(DesktopTest, SavedLayoutsComeBackWithTheirTreeNotesAndStar) {
  open_model();
  const std::string path = testing::TempDir() + "/shardscope_desktop_save.shardscope";
  std::filesystem::remove(path);
  desktop_.run.session_path = path;
  const auto another = [&](std::int32_t table) { return (owner(table) + 3) % 8; };
  desktop_.apply(edit_move(document(), {20, 0, 0}, another(20)));
  desktop_.apply(edit_split_rows(document(), {20, 0, 0}, 2, another(20)));
  document().undo();
  desktop_.apply(edit_move(document(), {21, 0, 0}, another(21)));
  ASSERT_EQ(document().history().nodes().size(), 4U);
  document().history().node(2).note = "a note";
  document().set_reference(1);
  const Layout last = document().layout();
  ASSERT_EQ(unsaved_layouts(document()), 4);
  driver_.key('S', kCtrl);
  ASSERT_TRUE(desktop_.notices.empty()) << desktop_.notices.front().text;
  EXPECT_EQ(unsaved_layouts(document()), 0);
  const Status opened = desktop_.open_session(path);
  ASSERT_TRUE(opened) << to_string(opened.error());
  const History& history = document().history();
  ASSERT_EQ(history.nodes().size(), 4U);
  EXPECT_EQ(document().layout().tables, last.tables);
  EXPECT_EQ(history.node(2).note, "a note");
  EXPECT_EQ(history.reference(), 1);
  EXPECT_EQ(history.node(3).parent, 1);
  for (const Workspace workspace : {Workspace::run, Workspace::timeline, Workspace::history}) {
    desktop_.choose(workspace);
    driver_.settle();
  }
  std::filesystem::remove(path);
}

TEST_F(DesktopTest, SessionsThatCannotBeOpenedAreToldAndChangeNothing) {
  open_model();
  const Document* before = desktop_.document.get();
  const std::string path = testing::TempDir() + "/shardscope_desktop_damaged.shardscope";
  std::ofstream(path) << "SQLite format 3 but not really, and cut short";
  for (const std::string& wrong : {path, std::string("/no/such/file"), testing::TempDir()}) {
    EXPECT_FALSE(desktop_.open_session(wrong)) << wrong;
    EXPECT_EQ(desktop_.document.get(), before);
  }
  try_open_path(desktop_, path);
  EXPECT_EQ(desktop_.notices.size(), 1U);
  std::filesystem::remove(path);
}

TEST_F(DesktopTest, AnEngineThatCannotBeStartedOrDiesLeavesTheEditsSafe) {
  open_model();
  desktop_.apply(edit_move(document(), {20, 0, 0}, 3));
  for (const char* engine : {"/no/such/engine serve", "false"}) {
    desktop_.engine.reset();
    desktop_.notices.clear();
    desktop_.engine_line = engine;
    desktop_.run.session_path = testing::TempDir() + "/shardscope_desktop_engine.shardscope";
    driver_.key(key::kF5);
    for (int i = 0; i < 400 && desktop_.notices.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      driver_.frame();
    }
    EXPECT_FALSE(desktop_.notices.empty()) << engine;
    EXPECT_EQ(owner(20), 3);
  }
}

TEST(Palette, MatchesLettersInOrder) {
  EXPECT_GE(match_score("Go to History", "gohi"), 0);
  EXPECT_EQ(match_score("Go to History", "xyz"), -1);
  EXPECT_LT(match_score("Undo", "undo"), match_score("Unload our doors", "undo"));
}

TEST(Settings, ComeBackAsTheyWereAndSurviveDamage) {
  const std::string path = testing::TempDir() + "/shardscope_settings/desktop.json";
  Settings settings;
  settings.theme = Theme::light;
  settings.strict = true;
  settings.tables_width = 333;
  remember_recent(settings, "/a");
  remember_recent(settings, "/b");
  remember_recent(settings, "/a");
  ASSERT_TRUE(save_settings(settings, path));
  const Settings back = load_settings(path);
  EXPECT_EQ(back.theme, Theme::light);
  EXPECT_TRUE(back.strict);
  EXPECT_FLOAT_EQ(back.tables_width, 333);
  EXPECT_EQ(back.recent, (std::vector<std::string>{"/a", "/b"}));
  std::filesystem::resize_file(path, 20);
  EXPECT_FLOAT_EQ(load_settings(path).tables_width, Settings{}.tables_width);
  std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  EXPECT_FALSE(save_settings(settings, "/proc/none/desktop.json"));
}

TEST(GuiOptions, AreReadAndWrongOnesNamed) {
  const auto options = parse_gui_options(
      {"--screenshot", "out", "--size", "1280x720", "--theme", "light", "--workload", "dcnv2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->width, 1280);
  EXPECT_EQ(options->theme, Theme::light);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--size", "0x5"},
                                                {"--size", "x"},
                                                {"--size", "99999x1"},
                                                {"--theme", "blue"},
                                                {"--scale", "9"},
                                                {"--workload"},
                                                {"--sesion", "x"}}) {
    const auto refused = parse_gui_options(wrong);
    ASSERT_FALSE(refused) << wrong.front();
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace shardscope::ui
