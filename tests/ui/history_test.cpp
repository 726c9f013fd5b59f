#include "ui/model/history.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shardscope::ui {
namespace {

Layout layout_named(const std::string& name) {
  Layout layout;
  layout.name = name;
  return layout;
}

TEST(History, UndoAndRedoWalkTheSamePath) {
  History history(layout_named("root"), "start");
  history.apply(layout_named("a"), "a");
  history.apply(layout_named("b"), "b");
  EXPECT_TRUE(history.undo());
  EXPECT_TRUE(history.undo());
  EXPECT_FALSE(history.undo());
  EXPECT_EQ(history.layout().name, "root");
  EXPECT_TRUE(history.redo());
  EXPECT_TRUE(history.redo());
  EXPECT_FALSE(history.redo());
  EXPECT_EQ(history.layout().name, "b");
}

TEST(History, AnEditAfterUndoKeepsTheOtherBranch) {
  History history(layout_named("root"), "start");
  const int a = history.apply(layout_named("a"), "a");
  history.undo();
  const int b = history.apply(layout_named("b"), "b");
  EXPECT_EQ(history.node(0).children, (std::vector<int>{a, b}));
  history.undo();
  history.redo();
  EXPECT_EQ(history.current(), b);
  history.go_to(a);
  history.undo();
  history.redo();
  EXPECT_EQ(history.current(), a);
}

TEST(History, AnEditThatChangesNothingIsNoStep) {
  History history(layout_named("root"), "start");
  EXPECT_EQ(history.apply(layout_named("root"), "nothing"), 0);
  EXPECT_EQ(history.nodes().size(), 1U);
}

TEST(History, EveryStateIsListedOnceAfterItsParent) {
  std::mt19937 random(7);
  RecordProperty("seed", 7);
  History history(layout_named("root"), "start");
  for (int i = 0; i < 300; ++i) {
    if (random() % 3 == 0) history.go_to(static_cast<int>(random() % history.nodes().size()));
    history.apply(layout_named(std::to_string(i)), "edit");
  }
  const std::vector<History::Line> lines = history.lines();
  ASSERT_EQ(lines.size(), history.nodes().size());
  std::vector<bool> seen(lines.size());
  for (const History::Line& line : lines) {
    const int parent = history.node(line.node).parent;
    EXPECT_TRUE(parent < 0 || seen[static_cast<std::size_t>(parent)]);
    EXPECT_FALSE(seen[static_cast<std::size_t>(line.node)]);
    seen[static_cast<std::size_t>(line.node)] = true;
  }
}

}  // namespace
}  // namespace shardscope::ui
