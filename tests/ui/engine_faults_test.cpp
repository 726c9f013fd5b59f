// The desktop against engines that hang, flood or die in the middle of a run: edits stay, the
// window goes on, the next run starts another engine.

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "fake_engine.hpp"
#include "ui/desktop/run_control.hpp"

namespace shardscope::ui {
namespace {

class EngineFaultsTest : public FakeEngineFixture {
 protected:
  static std::vector<Iteration> some_iterations() {
    std::vector<Iteration> iterations;
    for (std::int32_t i = 0; i < 40; ++i) {
      iterations.push_back({.index = i,
                            .block = i / 10,
                            .start_ns = i * 1'000'000LL,
                            .end_ns = i * 1'000'000LL + 900'000});
    }
    return iterations;
  }

  /// What a sound engine says until a run (request 3) is under way.
  static std::string first_words() {
    return greeting() + bytes_of({service::Reply{2, "{}"}, service::RunBegun{3, 1, 0, "measured"},
                                  service::Samples{3, 1, some_iterations()},
                                  service::JobProgress{3, 0.25, "block 4"}});
  }

  /// An engine that says its first words, then does what the script says.
  void use_engine(const std::string& then) { FakeEngineFixture::use_engine(first_words(), then); }
};

TEST_F(EngineFaultsTest, OneThatDiesInARunCostsTheRunNotTheEdits) {
  open_model();
  desktop_.apply(edit_move(document(), {20, 0, 0}, 3));
  use_engine("sleep 0.3\nkill -9 $$");
  driver_.key(key::kF5);
  ASSERT_TRUE(frames_until([&] { return !desktop_.notices.empty(); }));
  EXPECT_NE(told().find("signal 9"), std::string::npos) << told();
  EXPECT_FALSE(running());
  EXPECT_EQ(owner(20), 3);
  // What it measured until then stands.
  ASSERT_TRUE(desktop_.run.shown);
  EXPECT_EQ(desktop_.run.shown->a.series.iterations(), 40);
  EXPECT_NE(desktop_.engine_state.find("Edits are safe"), std::string::npos);
  // The next run starts another one.
  desktop_.notices.clear();
  driver_.key(key::kF5);
  EXPECT_TRUE(running());
  EXPECT_TRUE(frames_until([&] { return !desktop_.notices.empty(); }));
}

TEST_F(EngineFaultsTest, OneThatHangsIsToldAndEndedWhenAsked) {
  open_model();
  desktop_.apply(edit_move(document(), {20, 0, 0}, 3));
  use_engine("trap '' TERM PIPE HUP\nwhile :; do sleep 1; done");
  driver_.key(key::kF5);
  // Its first words may take a while to come.
  ASSERT_TRUE(frames_until([&] { return desktop_.run.shown->a.series.iterations() > 0; }));
  desktop_.engine->set_patience(std::chrono::milliseconds(150));
  ASSERT_TRUE(frames_until([&] { return !desktop_.notices.empty(); }));
  EXPECT_NE(told().find("has told nothing"), std::string::npos) << told();
  EXPECT_TRUE(frames_until([&] {
    return desktop_.engine_state.find("no word") != std::string::npos;
  })) << desktop_.engine_state;
  // Editing goes on meanwhile.
  desktop_.apply(edit_move(document(), {21, 0, 0}, 5));
  EXPECT_EQ(owner(21), 5);
  driver_.frame();
  driver_.click(driver_.center("notice/0/End it"));  // End it
  ASSERT_TRUE(frames_until([&] { return !running(); }));
  EXPECT_NE(told().find("ended by hand"), std::string::npos) << told();
  EXPECT_EQ(owner(20), 3);
}

TEST_F(EngineFaultsTest, OneThatDoesNotStopIsGivenUpAtTheSecondAsking) {
  open_model();
  use_engine("trap '' TERM PIPE HUP\nwhile :; do sleep 1; done");
  driver_.key(key::kF5);
  ASSERT_TRUE(frames_until([&] { return desktop_.run.shown->a.series.iterations() > 0; }));
  driver_.key(key::kF5, kShift);
  driver_.frame();
  EXPECT_TRUE(running());
  driver_.key(key::kF5, kShift);
  ASSERT_TRUE(frames_until([&] { return !running(); }));
  EXPECT_NE(told().find("asked to stop twice"), std::string::npos) << told();
}

TEST_F(EngineFaultsTest, AFloodLeavesTheWindowInHand) {
  open_model();
  use_engine("while :; do cat " + home_ + "/flood || exit; done");
  {
    std::ofstream flood(home_ + "/flood", std::ios::binary);
    const std::string one = bytes_of(service::JobProgress{3, 0.5, "again and again"}) +
                            bytes_of(service::Reply{99, "{}"}) +
                            bytes_of(service::Failure{98, {ErrorKind::usage, "no", "", "", ""}});
    for (int i = 0; i < 5000; ++i) flood << one;
  }
  driver_.key(key::kF5);
  ASSERT_TRUE(frames_until([&] { return desktop_.run.shown->a.series.iterations() > 0; }));
  for (int i = 0; i < 50; ++i) driver_.frame();
  EXPECT_TRUE(running());
  desktop_.apply(edit_move(document(), {20, 0, 0}, 3));
  EXPECT_EQ(owner(20), 3);
  driver_.key(key::kF5, kShift);
  driver_.key(key::kF5, kShift);
  EXPECT_TRUE(frames_until([&] { return !running(); }));
  EXPECT_EQ(owner(20), 3);
}

}  // namespace
}  // namespace shardscope::ui
