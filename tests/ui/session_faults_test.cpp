// Session files that are cut short, newer, another program's, or that nobody may write beside.

#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "desktop_fixture.hpp"
#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "storage/queries/runs.hpp"
#include "storage/session_writer.hpp"
#include "ui/desktop/save.hpp"

namespace shardscope::ui {
namespace {

/// Places in SQLite's file header, big-endian (its file format, section 1.3).
constexpr std::streamoff kUserVersionAt = 60;
constexpr std::streamoff kApplicationIdAt = 68;

class SessionFaultsTest : public DesktopFixture {
 protected:
  /// A session with two layouts, closed.
  std::string stored_session() {
    open_model();
    const std::string path = home_ + "/stored.shardscope";
    desktop_.run.session_path = path;
    desktop_.apply(edit_move(document(), {20, 0, 0}, (owner(20) + 3) % 8));
    driver_.key('S', kCtrl);
    EXPECT_TRUE(desktop_.notices.empty()) << told();
    EXPECT_TRUE(desktop_.open_session(path));
    desktop_.session.reset();
    return path;
  }

  static void write_number(const std::string& path, std::streamoff at, std::uint32_t value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
  }

  /// Opening it is an error with these words, and what is open stays.
  void expect_refused(const std::string& path, const std::string& words) {
    const Document* before = desktop_.document.get();
    const Status opened = desktop_.open_session(path);
    ASSERT_FALSE(opened);
    EXPECT_NE(to_string(opened.error()).find(words), std::string::npos)
        << to_string(opened.error());
    EXPECT_EQ(desktop_.document.get(), before);
  }
};

TEST_F(SessionFaultsTest, ANewerFormatIsNamed) {
  const std::string path = stored_session();
  write_number(path, kUserVersionAt, 900);
  expect_refused(path, "newer");
}

TEST_F(SessionFaultsTest, AnotherProgramsDatabaseIsNamed) {
  const std::string path = stored_session();
  write_number(path, kApplicationIdAt, 0x12345678);
  expect_refused(path, "another program");
}

TEST_F(SessionFaultsTest, OneCutShortAnywhereIsRefusedOrReadNeverMore) {
  const std::string path = stored_session();
  const std::uintmax_t size = std::filesystem::file_size(path);
  const std::string cut = home_ + "/cut.shardscope";
  int refused = 0;
  for (const double share : {0.0, 0.001, 0.05, 0.3, 0.6, 0.9, 0.99}) {
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, static_cast<std::uintmax_t>(share * double(size)));
    const Status opened = desktop_.open_session(cut);
    refused += opened ? 0 : 1;
    if (!opened) {
      EXPECT_FALSE(to_string(opened.error()).empty());
    }
    ASSERT_NE(desktop_.document, nullptr);
    for (const Workspace workspace : {Workspace::run, Workspace::timeline, Workspace::history}) {
      desktop_.choose(workspace);
      driver_.frame();
    }
  }
  EXPECT_GE(refused, 4);
}

TEST_F(SessionFaultsTest, AReadOnlyFileIsShownAndSavingOffersAnotherPlace) {
  const std::string path = stored_session();
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  std::filesystem::permissions(
      home_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Status opened = desktop_.open_session(path);
  EXPECT_TRUE(opened) << to_string(opened.error());
  EXPECT_EQ(document().history().nodes().size(), 2U);
  std::filesystem::permissions(home_, std::filesystem::perms::owner_all);
}

TEST_F(SessionFaultsTest, ALongRunOfAKilledProgramIsClosedBesideTheFrame) {
  const std::string path = home_ + "/killed.shardscope";
  {
    storage::Session session = storage::Session::create(path).value();
    storage::SessionWriter writer(session);
    RunInfo info;
    const Workload workload = *model_by_name("criteo-kaggle");
    const Topology topology = *topology_by_name("host-cpu:1x4");
    info.workload_json = to_json(workload);
    info.topology_json = to_json(topology);
    info.layout_json = to_json(*baseline("table_wise", workload, topology));
    const std::int64_t run = writer.begin_run(info).value();
    std::vector<Span> spans(30'000);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      for (std::size_t i = 0; i < spans.size(); ++i) {
        spans[i].rank = rank;
        spans[i].start_ns = static_cast<std::int64_t>(i) * 1000;
        spans[i].end_ns = spans[i].start_ns + 900;
      }
      writer.spans(run, spans);
    }
    ASSERT_TRUE(writer.flush());
  }  // no end_run: as a kill leaves it
  ASSERT_TRUE(desktop_.open_session(path));
  desktop_.choose(Workspace::timeline);
  driver_.frame();
  for (int i = 0; i < 4000 && desktop_.timeline.boxes == 0; ++i) {
    driver_.frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GT(desktop_.timeline.boxes, 0);
  const auto runs = storage::list_runs(*desktop_.session);
  ASSERT_TRUE(runs);
  EXPECT_TRUE(runs->back().ended);
  EXPECT_FALSE(runs->back().complete);
  EXPECT_TRUE(told().empty()) << told();
}

TEST_F(SessionFaultsTest, ListsWithoutVertexOffsetLeaveOutWhatDoesNotFit) {
  // OpenGL below 3.2: 16-bit indices. The shard map of many tables would need more.
  open_model();
  desktop_.choose(Workspace::timeline);
  driver_.resize(7680, 4320);
  driver_.settle();
  std::vector<Span> spans;
  for (std::int32_t rank = 0; rank < 64; ++rank) {
    for (std::int64_t i = 0; i < 1500; ++i) {
      Span span;
      span.start_ns = i * 1000;
      span.end_ns = i * 1000 + 900;
      span.rank = rank;
      span.waiting = i % 2 == 0;
      spans.push_back(span);
    }
  }
  open_timeline(desktop_.timeline, memory_source(std::move(spans), Mode::measured, "many"), "many");
  desktop_.timeline.folded.clear();
  const ImDrawData& drawn = driver_.settle();
  EXPECT_GT(desktop_.timeline.boxes, 10'000);
  EXPECT_LT(drawn.TotalVtxCount, 65'536);
}

}  // namespace
}  // namespace shardscope::ui
