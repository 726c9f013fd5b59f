#pragma once
// Edits kept in a side file until a session holds them, and offered back after a desktop that ended
// without saving.

#include <memory>
#include <string>
#include <vector>

#include "ui/model/edit_journal.hpp"

namespace shardscope::ui {

struct Desktop;

/// What of the open document the side file already holds.
struct Autosave {
  std::string folder;  ///< empty: nothing is kept
  std::unique_ptr<JournalWriter> journal;
  std::uint64_t document = 0;  ///< Desktop::documents that the rest belongs to
  std::size_t states = 0;
  int current = 0;
  int reference = 0;
  std::vector<std::string> notes;
  bool failure_told = false;
};

/// Hands what changed since the last frame to the side file; called every frame.
void follow_edits(Desktop& desktop);
/// A session holds everything now: the side file goes, the next edit begins another.
void edits_saved(Desktop& desktop);
/// Offers what desktops that are gone left behind, each in a bar.
void offer_recovery(Desktop& desktop);
/// Opens the edits of such a side file: in their session where it is still there, else by
/// themselves. The file goes once they are kept anew.
[[nodiscard]] Status recover(Desktop& desktop, const std::string& journal);

}  // namespace shardscope::ui
