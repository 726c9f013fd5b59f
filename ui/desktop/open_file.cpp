#include "ui/desktop/open_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "planner/executor_model.hpp"
#include "planner/planners.hpp"
#include "storage/calibration_file.hpp"
#include "storage/import/input_text.hpp"
#include "ui/desktop/calibrate.hpp"
#include "ui/desktop/open.hpp"
#include "ui/desktop/run_control.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

constexpr const char* kFirstLayout = "table_row_wise";
constexpr std::size_t kHead = 4096;  ///< enough for the format's name in documents of ours

std::string file_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return whole.has_filename() ? whole.filename().string() : path;
}

/// Ours name their format in the first lines; a table list has none and is taken for a model.
bool names_format(std::string_view head, std::string_view format) {
  return head.find(fmt::format("\"shardscope.{}/", format)) != std::string_view::npos;
}

Status open_layout_file(Desktop& desktop, const std::string& path) {
  if (desktop.document == nullptr) {
    return fail({ErrorKind::usage, "a layout alone does not say how large its tables are", path, "",
                 "Open its model or session first, then the layout"});
  }
  Result<Layout> layout =
      open_layout(path, desktop.document->workload(), desktop.document->topology());
  if (!layout) return fail(layout.error());
  desktop.document->apply(std::move(*layout), "Open " + file_name(path));
  if (desktop.workspace == Workspace::start) desktop.workspace = Workspace::tune;
  return {};
}

/// What was measured of a machine becomes the constants of the open model's machine.
Status open_calibration(Desktop& desktop, const std::string& path) {
  if (desktop.document == nullptr) {
    return fail({ErrorKind::usage, "a calibration alone has nothing to predict", path, "",
                 "Open a model or session first, then the calibration"});
  }
  const Result<std::string> text = read_text(path);
  if (!text) return fail(text.error());
  const auto file = storage::calibration_from_json(*text, path);
  if (!file) return fail(file.error());
  if (Status used = use_calibration(desktop, *file, path); !used) return used;
  if (desktop.workspace == Workspace::start) desktop.workspace = Workspace::tune;
  return {};
}

Status start_import(Desktop& desktop, storage::ImportKind kind, const std::string& path) {
  if (desktop.importing != nullptr) {
    return fail({ErrorKind::usage, "another file is being opened", path, "",
                 "Wait for it or cancel it, then open this one"});
  }
  ImportRequest request;
  request.kind = kind;
  request.paths = {path};
  request.session = new_session_path(std::filesystem::path(path).stem().string());
  // A model that is open gives names their sizes; one that a trace left empty gives none.
  if (desktop.document != nullptr && !desktop.document->workload().tables.empty()) {
    request.context.workload = desktop.document->workload();
    request.context.topology = desktop.document->topology();
  }
  desktop.importing = std::make_unique<ImportJob>(std::move(request), desktop.wake);
  desktop.busy = true;
  return {};
}

/// The plan as one more layout where it is of the open model, else as a document of its own.
Status take_plan(Desktop& desktop, storage::ImportedPlan plan, const std::string& path,
                 bool first) {
  const Document* open = desktop.document.get();
  const bool same = open != nullptr && open->workload() == *plan.workload &&
                    open->topology().ranks() == plan.layout->ranks;
  if (same) {
    const std::string words = fmt::format("Open {} of {}", plan.name, file_name(path));
    if (first) {
      desktop.document->apply(std::move(*plan.layout), words);
    } else {
      desktop.document->add_branch(desktop.document->history().current(), std::move(*plan.layout),
                                   words);
    }
    return {};
  }
  if (!first) return {};  // of another model; the import's notes count it
  PredictOptions options;
  options.executor = plan.executor;
  options.schedule = default_schedule(plan.executor);
  desktop.set_document(
      std::make_unique<Document>(std::move(*plan.workload), std::move(*plan.topology),
                                 std::move(*plan.layout), std::move(options)),
      path);
  return {};
}

/// A model without a plan (a benchmark's configuration) starts from a baseline.
Status take_model(Desktop& desktop, storage::ImportedPlan plan, const std::string& path) {
  Topology machine;
  if (plan.topology) {
    machine = std::move(*plan.topology);
  } else {
    Result<Topology> named = open_topology(desktop.start.topology);
    if (!named) return fail(named.error());
    machine = std::move(*named);
  }
  Result<Layout> layout = open_layout(kFirstLayout, *plan.workload, machine);
  if (!layout) return fail(layout.error());
  PredictOptions options;
  options.schedule = default_schedule(options.executor);
  desktop.set_document(std::make_unique<Document>(std::move(*plan.workload), std::move(machine),
                                                  std::move(*layout), std::move(options)),
                       path);
  return {};
}

/// What was taken, and the first of what was not.
void tell_notes(Desktop& desktop, const storage::ImportNotes& notes, const std::string& path) {
  std::string words = file_name(path) + ": ";
  for (const std::string& kept : notes.kept()) words += kept + ". ";
  if (notes.warning_count() == 0) {
    desktop.tell(NoticeKind::note, std::move(words));
    return;
  }
  const storage::ImportNote& worst = notes.warnings().front();
  words += worst.message;
  if (!worst.place.empty() && worst.place != path) words += " (" + worst.place + ")";
  if (notes.warning_count() > 1) {
    words += fmt::format(" · {} more: shardscope inspect {}", notes.warning_count() - 1, path);
  }
  desktop.tell(NoticeKind::warning, std::move(words));
}

Status take_outcome(Desktop& desktop, ImportOutcome outcome, const std::string& path) {
  if (!outcome.session.empty()) {
    if (Status opened = desktop.open_session(outcome.session); !opened) return opened;
    desktop.choose(Workspace::timeline);
    tell_notes(desktop, outcome.notes, path);
    return {};
  }
  std::size_t taken = 0;
  for (storage::ImportedPlan& plan : outcome.plans) {
    Status done;
    if (plan.workload && plan.topology && plan.layout) {
      done = take_plan(desktop, std::move(plan), path, taken == 0);
    } else if (plan.workload && taken == 0) {
      done = take_model(desktop, std::move(plan), path);
    } else {
      continue;
    }
    if (!done) return done;
    ++taken;
  }
  if (taken == 0) {
    const std::size_t tables = outcome.plans.empty() ? 0 : [&] {
      std::size_t count = 0;
      for (const auto& rank : outcome.plans.front().matrix) count += rank.size();
      return count;
    }();
    return fail(
        {ErrorKind::usage,
         tables > 0 ? "the plan names tables, not their sizes" : "nothing in it can be shown", path,
         "", "Open the plan's model first, then the plan"});
  }
  desktop.choose(Workspace::tune);
  tell_notes(desktop, outcome.notes, path);
  return {};
}

}  // namespace

Status open_path(Desktop& desktop, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail({ErrorKind::usage, "there is no such file", path, "", "Choose another file"});
  }
  if (storage::is_session_file(path)) return desktop.open_session(path);
  if (const auto kind = storage::recognise(path)) return start_import(desktop, *kind, path);
  const Result<std::string> head = storage::read_head(path, kHead);
  if (!head) return fail(head.error());
  if (names_format(*head, "layout")) return open_layout_file(desktop, path);
  if (names_format(*head, "calibration")) return open_calibration(desktop, path);
  if (names_format(*head, "topology")) {
    if (desktop.document == nullptr) {
      desktop.start.topology = path;
      desktop.tell(NoticeKind::note, file_name(path) + " is the machine of the next model.");
      return {};
    }
    return desktop.open_model(desktop.workload_name, path, kFirstLayout);
  }
  return desktop.open_model(
      path, desktop.document == nullptr ? desktop.start.topology : desktop.topology_name,
      kFirstLayout);
}

void try_open_path(Desktop& desktop, const std::string& path) {
  if (Status opened = open_path(desktop, path); !opened) desktop.tell(opened.error());
}

Status finish_import(Desktop& desktop) {
  if (desktop.importing == nullptr) return {};
  const std::unique_ptr<ImportJob> job = std::move(desktop.importing);
  Result<ImportOutcome> outcome = job->take();
  if (job->cancelled()) return {};
  if (!outcome) return fail(outcome.error());
  return take_outcome(desktop, std::move(*outcome), job->request().paths.front());
}

void follow_import(Desktop& desktop) {
  if (desktop.importing == nullptr) return;
  if (!desktop.importing->finished()) {
    desktop.busy = true;
    return;
  }
  if (Status done = finish_import(desktop); !done) desktop.tell(done.error());
}

}  // namespace shardscope::ui
