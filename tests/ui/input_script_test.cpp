#include "ui/desktop/input_script.hpp"

#include "desktop_fixture.hpp"
#include "layout/json.hpp"

namespace shardscope::ui {
namespace {

class InputScriptTest : public DesktopFixture {};

TEST_F(InputScriptTest, WhatAHandDidComesOutTheSameWhenItIsReplayed) {
  open_model();
  std::vector<InputFrame> frames;
  driver_.record(&frames);
  const Rect block = driver_.rect("map/shard/20,0,0");
  driver_.drag({block.x0 + 10, block.center_y()},
               driver_.center("map/gpu/" + std::to_string((owner(20) + 3) % 8)));
  driver_.release();
  driver_.click(driver_.center("tables/filter"));
  driver_.frame();
  driver_.type("rows>1M");
  driver_.key(key::kEscape);
  driver_.click(driver_.center("tables/row/cat_9"));
  driver_.key('R');
  driver_.key(key::kDown, kAlt);
  driver_.key('Z', kCtrl);
  driver_.wheel(driver_.center("map/gpu/1"), 2);
  driver_.key('P', kCtrl);
  driver_.frame();
  driver_.type("go to history");
  driver_.key(key::kEnter);
  driver_.frame();
  driver_.record(nullptr);
  ASSERT_EQ(desktop_.workspace, Workspace::history);
  ASSERT_GE(document().history().nodes().size(), 3U);

  const Result<std::vector<InputFrame>> read = input_script(to_text(frames));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, frames);
  const std::string layout = to_json(document().layout());
  std::vector<std::string> edits;
  for (const auto& node : document().history().nodes()) edits.push_back(node.edit);
  const auto selection = desktop_.tune.selection;
  for (int time = 0; time < 2; ++time) {
    desktop_.workspace = Workspace::tune;
    context_.memory() = {};
    open_model();
    driver_.replay(*read);
    EXPECT_EQ(desktop_.workspace, Workspace::history);
    EXPECT_EQ(to_json(document().layout()), layout);
    std::vector<std::string> again;
    for (const auto& node : document().history().nodes()) again.push_back(node.edit);
    EXPECT_EQ(again, edits);
    EXPECT_EQ(desktop_.tune.selection, selection);
  }
}

TEST(InputScript, LinesThatAreNoFramesAreNamed) {
  EXPECT_TRUE(input_script("")->empty());
  for (const char* wrong :
       {"1 2 0 0", "1 2 8 0 0", "1 2 0 0 9", "a 2 0 0 0", "1 2 0 0 0 q7", "1 2 0 0 0 k512",
        "1 2 0 0 0 k-1", "1 2 0 0 0 t99999999", "1 2 0 0 0 k"}) {
    const auto read = input_script(std::string("1 2 0 0 0 k65 t97\n") + wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_NE(to_string(read.error()).find(":2"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace shardscope::ui
