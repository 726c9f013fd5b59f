#pragma once
// Layouts of the history into the session file. The session has one writer: the engine while it
// lives, else the desktop.

#include <cstdint>
#include <map>
#include <string>

#include "layout/result.hpp"

namespace shardscope::ui {

struct Desktop;
class Document;

/// A save that the engine works on: its answers come frame by frame.
struct SaveJob {
  std::string path;
  std::map<std::int64_t, int> layouts;  ///< history node by request, unanswered
  std::map<int, std::int64_t> rows;     ///< of answered ones
  std::int64_t last = 0;                ///< request whose answer ends the job
  bool active = false;
};

/// Stores every layout of the history that the session does not hold yet, notes, the star and the
/// predictions; into a new session where none is open. Through a living engine the save ends some
/// frames later. The history stays as it is on an error.
[[nodiscard]] Status save_document(Desktop& desktop);
/// The same into a session of that path.
[[nodiscard]] Status save_document_as(Desktop& desktop, const std::string& path);
/// The same; an error is told with what to do instead.
void try_save(Desktop& desktop);
/// Takes in the engine's answers; called every frame.
void follow_save(Desktop& desktop);

/// States that the session does not hold.
[[nodiscard]] int unsaved_layouts(const Document& document);

}  // namespace shardscope::ui
