#pragma once
// Edits that no session holds yet, in a side file as they happen: a killed desktop loses none. One
// JSON object a line: first what is tuned, then states of the history, notes, the star, the place.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::ui {

/// What the states of a journal belong to.
struct JournalHead {
  std::string session;  ///< file that holds the saved states; empty: none yet
  std::string opened_as;
  Executor executor = Executor::engine;
  ScheduleKind schedule = ScheduleKind::inter;
  Workload workload;
  Topology topology;

  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

struct JournalState {
  int parent = -1;  ///< index of the state it was made from; -1: the first
  std::shared_ptr<const Layout> layout;
  std::string edit;
  std::string note;
  std::int64_t session_layout = 0;  ///< its id in the session; 0: not saved
};

struct Journal {
  JournalHead head;
  std::vector<JournalState> states;
  int current = 0;
  int reference = 0;
  std::int64_t written_utc_s = 0;

  /// States that no session holds.
  [[nodiscard]] int unsaved() const;
};

/// Writes on a thread of its own: the hand never waits for the disk.
class JournalWriter {
 public:
  /// Creates the file and holds it against other desktops. Errors come from failure().
  JournalWriter(std::string path, JournalHead head);
  /// Writes what is queued. The file stays; discard() before takes it away.
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void add_state(JournalState state);
  void set_note(int state, const std::string& note);
  void set_place(int current, int reference);
  /// Returns when everything handed over before stands on the disk (or failed).
  void flush();
  void discard();
  /// Why edits are not being kept; nothing while they are.
  [[nodiscard]] std::optional<Error> failure() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Task {
    std::optional<JournalState> state;
    std::string line;
  };
  void push(Task task);
  void write_until_stopped();
  void write(const std::vector<Task>& tasks);
  [[nodiscard]] std::string line_of(const JournalState& state);

  std::string path_;
  JournalHead head_;
  int file_ = -1;
  std::vector<std::shared_ptr<const Layout>> layouts_;  ///< writer thread only, by state

  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable wake_;
  std::condition_variable written_;
  std::vector<Task> queue_;
  bool busy_ = false;
  bool stop_ = false;
  bool discard_ = false;
  std::optional<Error> failure_;
  std::thread thread_;
};

/// The states up to the first line that is damaged or cut. Error where there is not even one.
[[nodiscard]] Result<Journal> read_journal(const std::string& path);

/// Journals in a folder that no living desktop holds, latest first.
[[nodiscard]] std::vector<std::string> abandoned_journals(const std::string& folder);

/// $XDG_STATE_HOME/shardscope/edits, or under ~/.local/state; empty where there is no home.
[[nodiscard]] std::string journal_folder();

}  // namespace shardscope::ui
