#include "ui/desktop/autosave.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "ui/desktop/desktop.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostOffers = 2;  ///< bars; the others stay and are offered the next time

JournalState journal_state(const HistoryNode& node) {
  return {node.parent, node.layout, node.edit, node.note, node.session_layout};
}

/// Takes the document as it is for kept.
void mark_kept(Autosave& autosave, const Desktop& desktop) {
  const History& history = desktop.document->history();
  autosave.document = desktop.documents;
  autosave.states = history.nodes().size();
  autosave.current = history.current();
  autosave.reference = history.reference();
  autosave.notes.clear();
  for (const HistoryNode& node : history.nodes()) autosave.notes.push_back(node.note);
}

bool differs(const Autosave& autosave, const History& history) {
  if (autosave.states != history.nodes().size() || autosave.current != history.current() ||
      autosave.reference != history.reference()) {
    return true;
  }
  for (std::size_t i = 0; i < history.nodes().size(); ++i) {
    if (history.nodes()[i].note != autosave.notes[i]) return true;
  }
  return false;
}

void begin_journal(Desktop& desktop) {
  const Document& document = *desktop.document;
  JournalHead head;
  head.session = desktop.session != nullptr ? desktop.session->path() : desktop.run.session_path;
  head.opened_as = desktop.workload_name;
  head.executor = document.executor();
  head.schedule = document.options().schedule;
  head.workload = document.workload();
  head.topology = document.topology();
  Autosave& autosave = desktop.autosave;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  autosave.journal = std::make_unique<JournalWriter>(
      fmt::format("{}/{}-{}.edits", autosave.folder,
                  std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), ::getpid()),
      std::move(head));
  autosave.states = 0;
  autosave.notes.clear();
}

}  // namespace

void follow_edits(Desktop& desktop) {
  Autosave& autosave = desktop.autosave;
  if (autosave.folder.empty() || desktop.document == nullptr) return;
  if (autosave.document != desktop.documents) {
    autosave.journal.reset();  // its file stays: those edits are offered at the next start
    mark_kept(autosave, desktop);
    return;
  }
  const History& history = desktop.document->history();
  if (differs(autosave, history)) {
    if (autosave.journal == nullptr) begin_journal(desktop);
    JournalWriter& journal = *autosave.journal;
    const std::size_t kept = autosave.states;
    for (std::size_t i = kept; i < history.nodes().size(); ++i) {
      journal.add_state(journal_state(history.nodes()[i]));
    }
    for (std::size_t i = 0; i < std::min(kept, autosave.notes.size()); ++i) {
      if (history.nodes()[i].note != autosave.notes[i]) {
        journal.set_note(static_cast<int>(i), history.nodes()[i].note);
      }
    }
    journal.set_place(history.current(), history.reference());
    mark_kept(autosave, desktop);
  }
  if (autosave.journal == nullptr || autosave.failure_told) return;
  if (const auto failure = autosave.journal->failure()) {
    autosave.failure_told = true;
    desktop.tell(NoticeKind::warning, to_string(*failure));
  }
}

void edits_saved(Desktop& desktop) {
  Autosave& autosave = desktop.autosave;
  if (autosave.folder.empty()) return;
  const std::unique_ptr<JournalWriter> old = std::move(autosave.journal);
  mark_kept(autosave, desktop);
  if (unsaved_layouts(*desktop.document) > 0) {
    // Edited while the save was on its way: kept anew before the old file goes.
    autosave.states = 0;
    follow_edits(desktop);
    autosave.journal->flush();
  }
  if (old != nullptr) old->discard();
}

void offer_recovery(Desktop& desktop) {
  std::size_t offered = 0;
  for (const std::string& path : abandoned_journals(desktop.autosave.folder)) {
    const auto journal = read_journal(path);
    if (!journal) continue;
    const JournalHead& head = journal->head;
    const std::string name = head.session.empty()
                                 ? head.workload.name
                                 : std::filesystem::path(head.session).stem().string();
    desktop.tell(
        NoticeKind::warning,
        fmt::format("{} was closed without saving on {}. {} after the last save {} intact.", name,
                    local_time_text(journal->written_utc_s, "%d %b, %H:%M"),
                    plural(journal->unsaved(), "layout"), journal->unsaved() == 1 ? "is" : "are"),
        {{"Restore",
          [&desktop, path] {
            if (Status done = recover(desktop, path); !done) desktop.tell(done.error());
          }},
         {"Discard", [path] {
            std::error_code ignored;
            std::filesystem::remove(path, ignored);
          }}});
    if (++offered == kMostOffers) return;
  }
}

Status recover(Desktop& desktop, const std::string& path) {
  auto journal = read_journal(path);
  if (!journal) return fail(journal.error());
  JournalHead& head = journal->head;
  PredictOptions options;
  options.schedule = head.schedule;
  options.executor = head.executor;
  auto document = std::make_unique<Document>(std::move(head.workload), std::move(head.topology),
                                             *journal->states.front().layout, std::move(options));
  // Ids of saved states count in their session alone.
  auto session = storage::Session::open(head.session, storage::Session::Access::read_only);
  for (std::size_t i = 0; i < journal->states.size(); ++i) {
    const JournalState& state = journal->states[i];
    const int node = i == 0 ? 0
                            : document->add_branch(state.parent < 0 ? 0 : state.parent,
                                                   *state.layout, state.edit);
    HistoryNode& entry = document->history().node(node);
    entry.note = state.note;
    if (i == 0) entry.edit = state.edit;
    if (session) entry.session_layout = state.session_layout;
  }
  document->set_reference(journal->reference);
  document->go_to(journal->current);
  desktop.set_document(std::move(document), head.opened_as);
  if (session) {
    desktop.session = std::make_unique<storage::Session>(std::move(*session));
  } else if (!head.session.empty()) {
    desktop.tell(NoticeKind::warning,
                 head.session + " is gone: its layouts stand in the restored edits; save them.");
  }
  if (desktop.autosave.folder.empty()) return {};
  // Kept anew before the old file goes.
  mark_kept(desktop.autosave, desktop);
  desktop.autosave.states = 0;
  desktop.autosave.journal.reset();
  follow_edits(desktop);
  desktop.autosave.journal->flush();
  std::error_code ignored;
  if (!desktop.autosave.journal->failure()) std::filesystem::remove(path, ignored);
  return {};
}

}  // namespace shardscope::ui
