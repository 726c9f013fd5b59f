#include "ui/model/edit_journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "layout/json.hpp"
#include "layout/names.hpp"

namespace shardscope::ui {
namespace {

constexpr const char* kEnding = ".edits";

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string head_line(const JournalHead& head) {
  return json_line({{"format", "shardscope.edits/1"},
                    {"session", head.session},
                    {"opened_as", head.opened_as},
                    {"executor", to_string(head.executor)},
                    {"schedule", to_string(head.schedule)},
                    {"workload", to_json(head.workload)},
                    {"topology", to_json(head.topology)}});
}

/// The tables that differ alone: a state of a large model is a short line.
Layout changed_tables(const Layout& from, const Layout& to) {
  Layout changed = to;
  changed.tables.clear();
  changed.table_names.clear();
  for (std::size_t t = 0; t < to.tables.size(); ++t) {
    if (from.tables[t] == to.tables[t]) continue;
    changed.tables.push_back(to.tables[t]);
    changed.table_names.push_back(to.table_names[t]);
  }
  return changed;
}

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return ::fdatasync(file) == 0 || errno == EINVAL;
}

}  // namespace

int Journal::unsaved() const {
  return static_cast<int>(std::count_if(
      states.begin(), states.end(), [](const auto& state) { return state.session_layout == 0; }));
}

JournalWriter::JournalWriter(std::string path, JournalHead head)
    : path_(std::move(path)), head_(std::move(head)), thread_([this] { write_until_stopped(); }) {}

JournalWriter::~JournalWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (discard_) ::unlink(path_.c_str());
  if (file_ >= 0) ::close(file_);
}

void JournalWriter::push(Task task) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
  }
  wake_.notify_all();
}

void JournalWriter::add_state(JournalState state) {
  push({std::move(state), {}});
}

void JournalWriter::set_note(int state, const std::string& note) {
  push({{}, json_line({{"noted", state}, {"note", note}})});
}

void JournalWriter::set_place(int current, int reference) {
  push({{}, json_line({{"current", current}, {"reference", reference}})});
}

void JournalWriter::flush() {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

void JournalWriter::discard() {
  const std::lock_guard lock(mutex_);
  discard_ = true;
}

std::optional<Error> JournalWriter::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::string JournalWriter::line_of(const JournalState& state) {
  nlohmann::ordered_json json{{"parent", state.parent}, {"edit", state.edit}};
  if (!state.note.empty()) json["note"] = state.note;
  if (state.session_layout != 0) json["session_layout"] = state.session_layout;
  const bool known = state.parent >= 0 && static_cast<std::size_t>(state.parent) < layouts_.size();
  const Layout* parent = known ? layouts_[static_cast<std::size_t>(state.parent)].get() : nullptr;
  if (parent != nullptr && parent->table_names == state.layout->table_names) {
    json["changed"] = to_json(changed_tables(*parent, *state.layout));
  } else {
    json["layout"] = to_json(*state.layout);
  }
  layouts_.push_back(state.layout);
  return json_line(json);
}

void JournalWriter::write(const std::vector<Task>& tasks) {
  std::string text;
  if (file_ < 0) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ >= 0) (void)::flock(file_, LOCK_EX | LOCK_NB);
    text = head_line(head_);
  }
  for (const Task& task : tasks) text += task.state ? line_of(*task.state) : task.line;
  if (file_ >= 0 && write_all(file_, text)) return;
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = Error{ErrorKind::runtime,
                   std::string("edits cannot be kept beside the session: ") + std::strerror(errno),
                   path_, "", "They are safe while the window is open; save them"};
}

void JournalWriter::write_until_stopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::vector<Task> tasks = std::exchange(queue_, {});
    busy_ = true;
    lock.unlock();
    write(tasks);
    lock.lock();
    busy_ = false;
    written_.notify_all();
  }
}

std::vector<std::string> abandoned_journals(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (it->path().extension() != kEnding) continue;
    const int file = ::open(it->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    const bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    ::close(file);
    std::error_code gone;
    const auto time = it->last_write_time(gone);
    if (free && !gone) found.emplace_back(time, it->path().string());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::string journal_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state != nullptr && *state != '\0') return std::string(state) + "/shardscope/edits";
  if (home != nullptr && *home != '\0') return std::string(home) + "/.local/state/shardscope/edits";
  return {};
}

}  // namespace shardscope::ui
