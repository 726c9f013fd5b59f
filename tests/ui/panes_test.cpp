// Several tables at once, panes by keyboard, copies, files, settings, bounds by drag.

#include <imgui.h>

#include <fstream>
#include <sstream>

#include "desktop_fixture.hpp"
#include "ui/desktop/pane_files.hpp"
#include "ui/panels/pane_tables.hpp"

namespace shardscope::ui {
namespace {

class PanesTest : public DesktopFixture {};

TEST_F(PanesTest, CtrlClickSelectsMoreTablesAndOneStepChangesThemAll) {
  open_model();
  driver_.click(driver_.center("tables/row/cat_20"));
  driver_.hold(kCtrl);
  driver_.click(driver_.center("tables/row/cat_21"));
  driver_.hold(kNone);
  ASSERT_EQ(desktop_.tune.tables, (std::set<std::int32_t>{20, 21}));
  driver_.frame();
  const Rect clusters = driver_.rect("inspector/cluster/UB");
  ASSERT_FALSE(clusters.empty());
  driver_.click({clusters.center_x(), clusters.center_y()});
  EXPECT_EQ(document().layout().tables[20].cluster, ClusterType::UB);
  EXPECT_EQ(document().layout().tables[21].cluster, ClusterType::UB);
  EXPECT_EQ(document().history().nodes().size(), 2U);
  driver_.frame();
  ASSERT_FALSE(driver_.rect("inspector/cut").empty());
  driver_.click(driver_.center("inspector/cut"));
  driver_.frame();
  driver_.key('A', kCtrl);
  driver_.type("2 x 2");
  driver_.key(key::kEnter);
  driver_.frame();
  EXPECT_EQ(document().layout().tables[20].owners.size(), 4U) << told();
  EXPECT_EQ(document().history().nodes().size(), 3U);
}

TEST_F(PanesTest, AColumnBoundFollowsTheMouse) {
  open_model();
  driver_.click(driver_.center("tables/row/cat_20"));
  driver_.key('C');
  ASSERT_EQ(document().layout().tables[20].column_cuts, (std::vector<std::int32_t>{0, 64, 128}));
  driver_.frame();
  const Rect bar = driver_.rect("inspector/cuts/columns");
  ASSERT_FALSE(bar.empty());
  const float y = bar.center_y();
  driver_.drag({bar.center_x(), y}, {bar.x0 + bar.width() / 4, y});
  EXPECT_TRUE(document().previewing());
  driver_.release();
  driver_.frame();
  EXPECT_EQ(document().layout().tables[20].column_cuts, (std::vector<std::int32_t>{0, 32, 128}));
}

TEST_F(PanesTest, TabGivesTheKeyboardFromPaneToPaneAndEscGivesItBack) {
  open_model();
  driver_.frame();
  driver_.key(key::kTab);
  const std::string first = context_.memory().pane;
  EXPECT_FALSE(first.empty());
  driver_.key(key::kTab);
  EXPECT_NE(context_.memory().pane, first);
  driver_.key(key::kTab, kShift);
  EXPECT_EQ(context_.memory().pane, first);
  driver_.key(key::kEscape);
  EXPECT_TRUE(context_.memory().pane.empty());
}

TEST_F(PanesTest, ThePaneUnderTheMouseIsCopiedAndSavedAsCsv) {
  open_model();
  driver_.move(driver_.center("tables/list"));
  driver_.key('C', kCtrl);
  const std::string copied = ImGui::GetClipboardText();
  EXPECT_NE(copied.find("cat_20"), std::string::npos);
  driver_.key('C', kCtrl | kShift);
  ASSERT_EQ(desktop_.notices.size(), 1U);
  EXPECT_EQ(desktop_.notices[0].kind, NoticeKind::note) << told();
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(home_ + "/shardscope")) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    found = found ||
            (entry.path().extension() == ".csv" && text.str().find("cat_20") != std::string::npos);
  }
  EXPECT_TRUE(found);
}

TEST_F(PanesTest, EveryPaneOfEveryWorkspaceGivesItsTable) {
  open_model();
  int tables = 0;
  for (const Workspace workspace : {Workspace::tune, Workspace::run, Workspace::timeline,
                                    Workspace::scale, Workspace::history}) {
    desktop_.choose(workspace);
    driver_.settle();
    for (const Pane& pane : context_.memory().panes) {
      if (!pane.table) continue;
      const std::string text = pane.table();
      EXPECT_NE(text.find('\t'), std::string::npos) << pane.name;
      ++tables;
    }
  }
  EXPECT_GT(tables, 8);
}

TEST_F(PanesTest, AnAskedPictureIsCutToItsPane) {
  open_model();
  driver_.move(driver_.center("map/gpu/0"));
  driver_.key('P', kCtrl | kShift);
  ASSERT_TRUE(desktop_.picture);
  const Rect rect = desktop_.picture->rect;
  const std::string path = desktop_.picture->path;
  Picture frame{1920, 1080, std::vector<std::uint8_t>(std::size_t{1920} * 1080 * 3, 7)};
  take_asked_picture(desktop_, 1, [&] { return frame; });
  EXPECT_FALSE(desktop_.picture);
  const auto read = read_png(path);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_NEAR(read->width, rect.width(), 2);
  EXPECT_NEAR(read->height, rect.height(), 2);
  EXPECT_TRUE(cropped(frame, {-50, -50, -10, -10}).rgb.empty());
}

TEST_F(PanesTest, SettingsChangeWhatIsSeenAndAreKept) {
  open_model();
  driver_.key(key::kComma, kCtrl);
  driver_.frame();
  ASSERT_TRUE(desktop_.settings_shown);
  driver_.click(driver_.center("settings/theme/Light"));
  EXPECT_EQ(desktop_.settings.theme, Theme::light);
  driver_.click(driver_.center("settings/text/120 %"));
  EXPECT_FLOAT_EQ(desktop_.settings.text_scale, 1.2F);
  driver_.key(key::kEscape);
  EXPECT_FALSE(desktop_.settings_shown);
  const std::string path = home_ + "/desktop.json";
  ASSERT_TRUE(save_settings(desktop_.settings, path));
  EXPECT_FLOAT_EQ(load_settings(path).text_scale, 1.2F);
  std::ofstream(path) << R"({"text_scale": 900, "scale": 0.001})";
  EXPECT_LE(load_settings(path).text_scale, 1.5F);
  EXPECT_GE(load_settings(path).scale, 0.5F);
}

TEST_F(PanesTest, AnExecutorIsChosenBesideThePlanner) {
  open_model();
  desktop_.choose(Workspace::scale);
  driver_.settle();
  driver_.click(driver_.center("scale/executor"));
  driver_.frame();
  driver_.click(driver_.center("menu/torchrec"));
  EXPECT_EQ(document().executor(), Executor::torchrec);
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_of("a\tb,c\n1\tsay \"x\"\n"), "a,\"b,c\"\r\n1,\"say \"\"x\"\"\"\r\n");
}

TEST(FontsMissing, TheDesktopDrawsWithTheBuiltInOneAndSaysSo) {
  GuiContext context(1, 1, "/no/such/folder");
  EXPECT_FALSE(context.fonts().missing.empty());
  Desktop desktop;
  Driver driver(context, desktop, 1280, 720);
  driver.frame();
  ASSERT_TRUE(desktop.open_model("dcnv2", "dgx-h100", "table_wise"));
  for (const Workspace workspace : {Workspace::tune, Workspace::run, Workspace::timeline,
                                    Workspace::scale, Workspace::history}) {
    desktop.choose(workspace);
    EXPECT_GT(driver.settle().TotalVtxCount, 0);
  }
}

}  // namespace
}  // namespace shardscope::ui
