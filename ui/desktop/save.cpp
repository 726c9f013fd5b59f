#include "ui/desktop/save.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "layout/json.hpp"
#include "storage/documents.hpp"
#include "ui/desktop/desktop.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/panels/titles.hpp"

namespace shardscope::ui {
namespace {

/// As the session keeps it. It finds parents by name: edits are named after what they were made
/// from.
Layout named_layout(const History& history, int index) {
  const HistoryNode& node = history.node(index);
  Layout layout = *node.layout;
  layout.name = layout_title(history, index);
  if (node.parent >= 0) layout.parent = layout_title(history, node.parent);
  layout.note = node.edit;
  return layout;
}

std::string prediction_json(const HistoryNode& node) {
  return fmt::format("{{\"iteration_s\": {:.9g}}}", node.predicted_s);
}

/// Rows of the session by history node.
Result<std::vector<std::int64_t>> store(const storage::Session& session, const Document& document) {
  const auto workload = storage::save_workload(session, document.workload());
  if (!workload) return fail(workload.error());
  const auto topology = storage::save_topology(session, document.topology());
  if (!topology) return fail(topology.error());
  const History& history = document.history();
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < history.nodes().size(); ++i) {
    const int index = static_cast<int>(i);
    const HistoryNode& node = history.node(index);
    std::int64_t row = node.session_layout;
    if (row == 0) {
      const auto stored =
          storage::save_layout(session, named_layout(history, index), *workload, *topology);
      if (!stored) return fail(stored.error());
      row = *stored;
      if (node.predicted_s > 0) {
        const Status told = storage::set_layout_prediction(session, row, prediction_json(node));
        if (!told) return fail(told.error());
      }
    }
    if (!node.note.empty()) {
      if (Status noted = storage::set_layout_note(session, row, node.note); !noted) {
        return fail(noted.error());
      }
    }
    rows.push_back(row);
  }
  const std::int64_t star = rows[static_cast<std::size_t>(history.reference())];
  if (Status starred = storage::set_reference_layout(session, star); !starred) {
    return fail(starred.error());
  }
  return rows;
}

/// The session is the engine's while it lives, unless that is another machine's.
bool engine_writes(const Desktop& desktop, const std::string& path) {
  return desktop.engine != nullptr && desktop.engine->holds(path);
}

void saved(Desktop& desktop, const std::string& path) {
  desktop.run.session_path = path;
  remember_recent(desktop.settings, path);
  desktop.start.sessions.erase(path);
  edits_saved(desktop);
}

/// New layouts, parents first; what needs their rows follows with the answers.
void send_layouts(Desktop& desktop, const std::string& path) {
  const Document& document = *desktop.document;
  const History& history = document.history();
  SaveJob& job = desktop.saving;
  job = {};
  job.path = path;
  job.active = true;
  service::Edit edit;
  edit.what = "layout";
  edit.workload_json = to_json(document.workload());
  edit.topology_json = to_json(document.topology());
  for (std::size_t i = 0; i < history.nodes().size(); ++i) {
    const int index = static_cast<int>(i);
    if (history.node(index).session_layout != 0) {
      job.rows[index] = history.node(index).session_layout;
      continue;
    }
    edit.layout_json = to_json(named_layout(history, index));
    job.layouts[desktop.engine->send_edit(edit)] = index;
  }
}

/// Predictions, notes and the star: the last answer ends the save.
void send_remarks(Desktop& desktop) {
  const History& history = desktop.document->history();
  SaveJob& job = desktop.saving;
  for (const auto& [index, row] : job.rows) {
    const HistoryNode& node = history.node(index);
    service::Edit edit;
    edit.row = row;
    if (node.session_layout == 0 && node.predicted_s > 0) {
      edit.what = "prediction";
      edit.text = prediction_json(node);
      (void)desktop.engine->send_edit(edit);
    }
    if (!node.note.empty()) {
      edit.what = "note";
      edit.text = node.note;
      (void)desktop.engine->send_edit(edit);
    }
  }
  service::Edit star;
  star.what = "reference";
  star.row = job.rows[history.reference()];
  job.last = desktop.engine->send_edit(star);
}

void tell_failed(Desktop& desktop, const Error& error) {
  desktop.saving = {};
  const std::string copy = new_session_path(desktop.document->workload().name);
  desktop.tell(NoticeKind::warning, "Not saved, the work is kept: " + to_string(error),
               {{"Save as " + std::filesystem::path(copy).filename().string(), [&desktop, copy] {
                   if (Status done = save_document_as(desktop, copy); !done) {
                     desktop.tell(done.error());
                   }
                 }}});
}

}  // namespace

int unsaved_layouts(const Document& document) {
  int count = 0;
  for (const HistoryNode& node : document.history().nodes()) {
    count += node.session_layout == 0 ? 1 : 0;
  }
  return count;
}

Status save_document(Desktop& desktop) {
  if (desktop.saving.active) return {};
  const std::string path = session_for_runs(desktop);
  if (engine_writes(desktop, path)) {
    send_layouts(desktop, path);
    if (desktop.saving.layouts.empty()) send_remarks(desktop);
    return {};
  }
  auto writer = storage::Session::open_or_create(path);
  if (!writer) return fail(writer.error());
  const auto rows = store(*writer, *desktop.document);
  if (!rows) return fail(rows.error());
  if (Status closed = writer->close(); !closed) return closed;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    desktop.document->history().node(static_cast<int>(i)).session_layout = (*rows)[i];
  }
  saved(desktop, path);
  return {};
}

Status save_document_as(Desktop& desktop, const std::string& path) {
  // Ids of the other session mean nothing here: every layout is stored anew.
  std::vector<std::int64_t> before;
  History& history = desktop.document->history();
  for (std::size_t i = 0; i < history.nodes().size(); ++i) {
    HistoryNode& node = history.node(static_cast<int>(i));
    before.push_back(std::exchange(node.session_layout, 0));
  }
  auto session = std::move(desktop.session);
  const std::string session_path = std::exchange(desktop.run.session_path, path);
  Status done = save_document(desktop);
  if (done) {
    desktop.timeline = {};  // before the session that it reads from
    return done;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    history.node(static_cast<int>(i)).session_layout = before[i];
  }
  desktop.session = std::move(session);
  desktop.run.session_path = session_path;
  return done;
}

void try_save(Desktop& desktop) {
  if (Status done = save_document(desktop); !done) tell_failed(desktop, done.error());
}

void follow_save(Desktop& desktop) {
  SaveJob& job = desktop.saving;
  if (!job.active) return;
  if (desktop.engine == nullptr || desktop.document == nullptr) {
    job = {};
    return;
  }
  for (EditAnswer& answer : desktop.engine->take_answers()) {
    if (!answer.row) {
      tell_failed(desktop, answer.row.error());
      return;
    }
    const auto asked = job.layouts.find(answer.id);
    if (asked != job.layouts.end()) {
      job.rows[asked->second] = *answer.row;
      job.layouts.erase(asked);
      if (job.layouts.empty()) send_remarks(desktop);
    } else if (answer.id == job.last) {
      for (const auto& [index, row] : job.rows) {
        desktop.document->history().node(index).session_layout = row;
      }
      const std::string path = job.path;
      job = {};
      saved(desktop, path);
      return;
    }
  }
  desktop.busy = true;
}

}  // namespace shardscope::ui
