#include "ui/desktop/autosave.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "desktop_fixture.hpp"
#include "ui/desktop/open.hpp"
#include "ui/desktop/save.hpp"

namespace shardscope::ui {
namespace {

class AutosaveTest : public DesktopFixture {
 protected:
  AutosaveTest() { desktop_.autosave.folder = home_ + "/edits"; }

  void edit(std::int32_t table) {
    desktop_.apply(edit_move(document(), {table, 0, 0}, (owner(table) + 3) % 8));
    driver_.frame();
  }
  /// What a killed desktop leaves: a copy that nobody holds.
  std::string left_behind() {
    desktop_.autosave.journal->flush();
    const std::string copy = home_ + "/edits/left.edits";
    std::filesystem::copy_file(desktop_.autosave.journal->path(), copy,
                               std::filesystem::copy_options::overwrite_existing);
    return copy;
  }
};

TEST_F(AutosaveTest, EditsOfAKilledDesktopAreOfferedAndComeBackAsTheyWere) {
  open_model();
  EXPECT_EQ(desktop_.autosave.journal, nullptr);  // nothing to lose yet
  edit(20);
  edit(21);
  document().undo();
  edit(19);
  document().history().node(1).note = "first try";
  document().set_reference(1);
  driver_.frame();
  const Layout last = document().layout();
  const std::string left = left_behind();

  Desktop next;
  next.autosave.folder = home_ + "/edits";
  offer_recovery(next);
  ASSERT_EQ(next.notices.size(), 1U);
  EXPECT_NE(next.notices[0].text.find("4 layouts after the last save are intact"),
            std::string::npos)
      << next.notices[0].text;
  EXPECT_EQ(next.document, nullptr);  // never applied unasked
  next.notices[0].actions.at(0).run();
  ASSERT_NE(next.document, nullptr);
  const History& history = next.document->history();
  ASSERT_EQ(history.nodes().size(), 4U);
  EXPECT_EQ(next.document->layout(), last);
  EXPECT_EQ(history.current(), 3);
  EXPECT_EQ(history.reference(), 1);
  EXPECT_EQ(history.node(1).note, "first try");
  EXPECT_EQ(history.node(3).parent, 1);
  EXPECT_FALSE(std::filesystem::exists(left));  // kept anew by the one that restored it
  ASSERT_NE(next.autosave.journal, nullptr);
  const auto again = read_journal(next.autosave.journal->path());
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->states.size(), 4U);
  EXPECT_EQ(*again->states[3].layout, last);
}

TEST_F(AutosaveTest, AKilledProcessLosesNoEditThatItHandedOver) {
  const std::string path = home_ + "/edits/killed.edits";
  JournalHead head;
  head.workload = *open_workload("dcnv2");
  head.topology = *open_topology("dgx-h100");
  const Layout layout = *open_layout("table_wise", head.workload, head.topology);
  const pid_t child = fork();
  if (child == 0) {
    JournalWriter writer(path, head);
    writer.add_state({-1, std::make_shared<const Layout>(layout), "start", "", 0});
    Layout moved = layout;
    moved.tables[20].owners[0] = 5;
    writer.add_state({0, std::make_shared<const Layout>(moved), "Move", "", 0});
    writer.flush();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto journal = read_journal(path);
  ASSERT_TRUE(journal) << to_string(journal.error());
  ASSERT_EQ(journal->states.size(), 2U);
  EXPECT_EQ(journal->states[1].layout->tables[20].owners[0], 5);
  EXPECT_EQ(abandoned_journals(home_ + "/edits"), std::vector<std::string>{path});
}

TEST_F(AutosaveTest, AJournalThatALivingDesktopHoldsIsNotOffered) {
  open_model();
  edit(20);
  desktop_.autosave.journal->flush();
  EXPECT_TRUE(abandoned_journals(home_ + "/edits").empty());
}

TEST_F(AutosaveTest, SavedEditsLeaveNothingToRecover) {
  open_model();
  edit(20);
  ASSERT_NE(desktop_.autosave.journal, nullptr);
  const std::string path = desktop_.autosave.journal->path();
  desktop_.run.session_path = home_ + "/saved.shardscope";
  driver_.key('S', kCtrl);
  EXPECT_TRUE(desktop_.notices.empty()) << told();
  EXPECT_EQ(desktop_.autosave.journal, nullptr);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(unsaved_layouts(document()), 0);
}

TEST_F(AutosaveTest, DamagedAndCutJournalsGiveWhatIsWholeOrSayWhy) {
  open_model();
  edit(20);
  edit(21);
  const std::string left = left_behind();
  std::string text;
  {
    std::ifstream in(left);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t size = 0; size < text.size(); size += 1 + text.size() / 97) {
    std::ofstream(left, std::ios::trunc) << text.substr(0, size);
    const auto journal = read_journal(left);
    if (journal) {
      EXPECT_LE(journal->states.size(), 3U);
      EXPECT_LT(journal->current, static_cast<int>(journal->states.size()));
    } else {
      EXPECT_FALSE(journal.error().what.empty());
    }
  }
  for (const char* foreign : {"", "{}", "[1]", "{\"format\":\"shardscope.edits/2\"}", "no json"}) {
    std::ofstream(left, std::ios::trunc) << foreign << "\n";
    EXPECT_FALSE(read_journal(left)) << foreign;
  }
}

TEST_F(AutosaveTest, AFolderThatCannotBeWrittenIsToldOnceAndEditingGoesOn) {
  desktop_.autosave.folder = "/proc/none/edits";
  open_model();
  edit(20);
  ASSERT_NE(desktop_.autosave.journal, nullptr);
  desktop_.autosave.journal->flush();
  edit(21);
  edit(19);
  EXPECT_EQ(desktop_.notices.size(), 1U) << told();
  EXPECT_EQ(document().history().nodes().size(), 4U);
}

TEST_F(AutosaveTest, ASaveThatTheDiskRefusesKeepsTheWorkAndOffersAnotherFile) {
  open_model();
  edit(20);
  desktop_.run.session_path = "/proc/none/there.shardscope";
  driver_.key('S', kCtrl);
  ASSERT_EQ(desktop_.notices.size(), 1U);
  EXPECT_EQ(desktop_.notices[0].kind, NoticeKind::warning);
  EXPECT_EQ(unsaved_layouts(document()), 2);
  ASSERT_EQ(desktop_.notices[0].actions.size(), 1U);
  driver_.frame();
  driver_.click(driver_.center("notice/0/" + desktop_.notices[0].actions[0].label));
  EXPECT_EQ(unsaved_layouts(document()), 0) << told();
  EXPECT_TRUE(std::filesystem::exists(desktop_.run.session_path));
}

TEST_F(AutosaveTest, AFullDiskIsToldAndNothingIsLost) {
  open_model();
  edit(20);
  desktop_.autosave.journal->flush();
  desktop_.run.session_path = home_ + "/full.shardscope";
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 16384;
  setrlimit(RLIMIT_FSIZE, &small);
  driver_.key('S', kCtrl);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  ASSERT_EQ(desktop_.notices.size(), 1U);
  EXPECT_EQ(unsaved_layouts(document()), 2);
  EXPECT_EQ(document().history().nodes().size(), 2U);
}

TEST_F(AutosaveTest, ASessionThatAnotherProgramWritesIsToldAndNothingIsLost) {
  open_model();
  edit(20);
  const std::string path = home_ + "/locked.shardscope";
  auto other = storage::Session::create(path);
  ASSERT_TRUE(other);
  desktop_.run.session_path = path;
  driver_.key('S', kCtrl);
  ASSERT_EQ(desktop_.notices.size(), 1U);
  EXPECT_EQ(unsaved_layouts(document()), 2);
}

}  // namespace
}  // namespace shardscope::ui
