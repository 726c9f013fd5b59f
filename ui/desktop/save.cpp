#include "ui/desktop/save.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "storage/documents.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/panels/titles.hpp"

namespace shardscope::ui {
namespace {

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
      Layout layout = *node.layout;
      // The session finds parents by name: edits are named after what they were made from.
      layout.name = layout_title(history, index);
      if (node.parent >= 0) layout.parent = layout_title(history, node.parent);
      layout.note = node.edit;
      const auto saved = storage::save_layout(session, layout, *workload, *topology);
      if (!saved) return fail(saved.error());
      row = *saved;
      if (node.predicted_s > 0) {
        const Status told = storage::set_layout_prediction(
            session, row, fmt::format("{{\"iteration_s\": {:.9g}}}", node.predicted_s));
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

}  // namespace

int unsaved_layouts(const Document& document) {
  int count = 0;
  for (const HistoryNode& node : document.history().nodes()) {
    count += node.session_layout == 0 ? 1 : 0;
  }
  return count;
}

Status save_document(Desktop& desktop) {
  if (desktop.engine != nullptr) {
    if (desktop.engine->job() != nullptr) {
      return fail({ErrorKind::runtime, "the engine writes the session while it runs", "", "",
                   "Save when the run has ended"});
    }
    desktop.engine.reset();  // gives the file back; the next run starts another engine
    desktop.engine_state = "engine: idle, local";
  }
  const std::string path = session_for_runs(desktop);
  auto writer = storage::Session::open_or_create(path);
  if (!writer) return fail(writer.error());
  const auto rows = store(*writer, *desktop.document);
  if (!rows) return fail(rows.error());
  if (Status closed = writer->close(); !closed) return closed;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    desktop.document->history().node(static_cast<int>(i)).session_layout = (*rows)[i];
  }
  desktop.run.session_path = path;
  remember_recent(desktop.settings, path);
  desktop.start.sessions.erase(path);
  return {};
}

}  // namespace shardscope::ui
