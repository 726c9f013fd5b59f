#include "ui/desktop/run_control.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "ui/desktop/calibrate.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"
#include "ui/panels/titles.hpp"

namespace shardscope::ui {
namespace {

/// A whole number of a field; `otherwise` where it is empty.
Result<std::int64_t> whole_number(const std::string& text, const char* name,
                                  std::int64_t otherwise) {
  std::string digits = text;
  std::erase(digits, ',');
  if (digits.empty()) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
    return fail(
        {ErrorKind::usage, fmt::format("'{}' is no {}", text, name), name, "a whole number", ""});
  }
  return value;
}

Result<double> number(const std::string& text, const char* name, double otherwise) {
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    return fail({ErrorKind::usage, fmt::format("'{}' is no {}", text, name), name, "a number", ""});
  }
  return value;
}

RunSide live_side(const Document& document, const RunState& run, int node, std::int64_t batch) {
  RunSide side;
  side.label = layout_title(document.history(), node);
  side.mode = run.wire.empty() && run.comm != "loopback" ? Mode::measured : Mode::emulated;
  side.series.reset(batch);
  return side;
}

void take_samples(Desktop& desktop) {
  LiveJob* job = desktop.engine->job();
  if (job == nullptr || !desktop.run.shown) return;
  RecordedRuns& shown = *desktop.run.shown;
  for (auto& [side, iterations] : job->fresh) {
    // After a move B is the newest run, A the one before it.
    const auto newest = static_cast<std::int64_t>(job->runs.size()) - 1;
    const bool second = shown.b && (shown.moved ? side == newest : side == 1);
    if (shown.moved && side < newest - 1) continue;
    (second ? *shown.b : shown.a).series.add(iterations);
  }
  job->fresh.clear();
  for (const service::CurveSample& point : job->fresh_points) {
    shown.curve.add(point.split, point.iteration, point.samples, point.loss, point.auc);
  }
  job->fresh_points.clear();
}

/// The running job has another layout, or was refused it.
void take_move(Desktop& desktop) {
  const std::optional<Status> moved = desktop.engine->take_moved();
  if (!moved) return;
  RunState& run = desktop.run;
  const int node = std::exchange(run.moving_to, -1);
  if (!*moved) {
    desktop.tell(moved->error());
    return;
  }
  if (!run.shown || node < 0) return;
  RecordedRuns& shown = *run.shown;
  if (shown.b) {
    shown.a = std::move(*shown.b);
    run.ran_a = run.ran_b;
  }
  shown.b = live_side(*desktop.document, run, node, shown.record.global_batch);
  shown.moved = true;
  shown.comparison.reset();
  run.ran_b = node;
  if (!shown.curve.empty()) shown.curve.add_move(shown.b->label);
}

void tell_of_silence(Desktop& desktop) {
  LiveJob* job = desktop.engine->job();
  if (job == nullptr || job->told_silent || desktop.engine->silence() < desktop.engine->patience())
    return;
  job->told_silent = true;
  desktop.tell(
      NoticeKind::warning,
      fmt::format("The engine has told nothing for {} s. It may be at work, or hang; edits "
                  "are safe.",
                  desktop.engine->silence().count() / 1000),
      {{"End it",
        [&desktop] {
          if (desktop.engine != nullptr) desktop.engine->abandon("it was ended by hand");
        }},
       {"Wait", [] {}}});
}

}  // namespace

std::string new_data_path(const std::string& name, const std::string& ending) {
  const char* home = std::getenv("HOME");
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::path(home != nullptr && *home != '\0' ? home : "/tmp") / "shardscope";
  std::filesystem::create_directories(folder, error);
  if (::access(folder.c_str(), W_OK) != 0) folder = std::filesystem::temp_directory_path(error);
  const std::string stamp = local_time_text(std::time(nullptr), "%Y%m%d-%H%M%S");
  std::string safe = name.empty() ? "session" : name;
  for (char& letter : safe) {
    if (letter == '/' || static_cast<unsigned char>(letter) < 32) letter = '_';
  }
  std::string path = (folder / fmt::format("{}-{}{}", safe, stamp, ending)).string();
  for (int n = 2; std::filesystem::exists(path, error); ++n) {
    path = (folder / fmt::format("{}-{}-{}{}", safe, stamp, n, ending)).string();
  }
  return path;
}

std::string new_session_path(const std::string& name) {
  return new_data_path(name, ".shardscope");
}

std::string session_for_runs(const Desktop& desktop) {
  if (desktop.session != nullptr) return desktop.session->path();
  if (!desktop.run.session_path.empty()) return desktop.run.session_path;
  return new_session_path(desktop.document->workload().name);
}

Result<service::StartJob> job_of(const Desktop& desktop, service::JobKind kind) {
  const RunState& run = desktop.run;
  const Document& document = *desktop.document;
  const auto batch = whole_number(run.batch, "global batch", document.workload().global_batch);
  if (!batch) return fail(batch.error());
  const auto cap = whole_number(run.rows_cap, "rows cap", 0);
  if (!cap) return fail(cap.error());
  const auto budget = number(run.budget, "budget", 0);
  if (!budget) return fail(budget.error());
  const auto target = number(run.target, "interval to reach", 0);
  if (!target) return fail(target.error());
  const auto iterations = whole_number(run.iterations, "number of iterations", 0);
  if (!iterations) return fail(iterations.error());
  const auto evaluate_every = whole_number(run.evaluate_every, "number of iterations", 0);
  if (!evaluate_every) return fail(evaluate_every.error());
  const auto topology = run.backend == "cpu" ? local_topology(desktop) : document.topology();
  if (!topology) return fail(topology.error());
  const bool training = kind == service::JobKind::train;
  Workload workload = with_rows_cap(document.workload(), *cap);
  workload.global_batch = *batch;
  if (run.no_dense && !training) workload.dense = {};
  service::StartJob job;
  job.kind = kind;
  job.workload_json = to_json(workload);
  job.topology_json = to_json(*topology);
  const History& history = document.history();
  if (kind == service::JobKind::compare) {
    job.layout_jsons.push_back(to_json(*history.node(history.reference()).layout));
  }
  job.layout_jsons.push_back(to_json(document.layout()));
  job.settings.backend = run.backend;
  job.settings.comm = run.comm;
  job.settings.dense_math = run.dense_math;
  job.settings.graphs = run.graphs && run.backend == "cuda";
  job.settings.wire = run.wire;
  job.settings.schedule = run.schedule;
  if (training) {
    job.settings.iterations = *iterations;
    job.settings.evaluate_every = *evaluate_every;
  } else {
    job.settings.budget_s = *budget;
  }
  if (kind == service::JobKind::compare) job.settings.target = *target / 100;
  return job;
}

void start_run(Desktop& desktop, service::JobKind kind) {
  if (desktop.engine != nullptr && desktop.engine->job() != nullptr) return;
  Result<service::StartJob> job = job_of(desktop, kind);
  if (!job) {
    desktop.tell(job.error());
    return;
  }
  RunState& run = desktop.run;
  run.session_path = session_for_runs(desktop);
  const auto batch = whole_number(run.batch, "", desktop.document->workload().global_batch);
  if (Status started = engine_of(desktop).start_job(run.session_path, std::move(*job)); !started) {
    desktop.tell(started.error());
    return;
  }
  const History& history = desktop.document->history();
  RecordedRuns live;
  const bool both = kind == service::JobKind::compare;
  live.a =
      live_side(*desktop.document, run, both ? history.reference() : history.current(), *batch);
  if (both) live.b = live_side(*desktop.document, run, history.current(), *batch);
  live.record.backend = run.backend;
  live.record.comm = run.comm;
  live.record.schedule = run.schedule;
  live.record.ranks = desktop.document->topology().ranks();
  live.record.global_batch = *batch;
  run.shown = std::move(live);
  run.read = true;
  run.ran_a = both ? history.reference() : history.current();
  run.ran_b = history.current();
  run.moving_to = -1;
  desktop.choose(Workspace::run);
}

Result<Topology> local_topology(const Desktop& desktop) {
  const Topology& topology = desktop.document->topology();
  if (is_cpu_host(topology)) return topology;
  auto local =
      topology_by_name(fmt::format("host-cpu:{}x{}", topology.hosts, topology.gpus_per_host));
  if (!local) return local;
  local->fast_domain = topology.fast_domain;
  if (desktop.host_calibration) return calibrated(std::move(*local), *desktop.host_calibration);
  return local;
}

EngineLink& engine_of(Desktop& desktop) {
  if (desktop.engine == nullptr) {
    desktop.engine = std::make_unique<EngineLink>(
        desktop.engine_line.empty() ? local_engine() : engine_of_line(desktop.engine_line),
        desktop.wake);
  }
  return *desktop.engine;
}

void follow_machine(Desktop& desktop) {
  if (!desktop.attended || desktop.machine_asked_of == desktop.engine_line) return;
  desktop.machine_asked_of = desktop.engine_line;
  if (Status asked = engine_of(desktop).ask_machine(); !asked) desktop.tell(asked.error());
}

bool can_apply(const Desktop& desktop) {
  const EngineLink* engine = desktop.engine.get();
  if (engine == nullptr || engine->job() == nullptr || engine->moving()) return false;
  const service::JobKind kind = engine->job()->kind;
  if (kind != service::JobKind::run && kind != service::JobKind::train) return false;
  return desktop.document->history().current() != desktop.run.ran_b &&
         desktop.document->current().errors == 0;
}

void apply_to_run(Desktop& desktop) {
  if (!can_apply(desktop)) return;
  desktop.run.moving_to = desktop.document->history().current();
  desktop.engine->apply(to_json(desktop.document->layout()));
}

void follow_engine(Desktop& desktop) {
  if (desktop.engine == nullptr) return;
  const bool was_running = desktop.engine->job() != nullptr;
  const std::optional<EndedJob> ended = desktop.engine->poll();
  desktop.engine_state = desktop.engine->state_words();
  take_move(desktop);
  take_samples(desktop);
  if (was_running) desktop.busy = true;
  tell_of_silence(desktop);
  if (!ended) return;
  if (ended->error) desktop.tell(*ended->error);
  if (ended->kind == service::JobKind::calibrate) {
    if (!ended->error) finish_calibration(desktop, ended->result_json);
    return;
  }
  // Stages and ranks stand in the session: read what was committed.
  auto session =
      storage::Session::open(desktop.run.session_path, storage::Session::Access::read_only);
  if (!session) {
    if (!ended->error) desktop.tell(session.error());
    return;
  }
  desktop.timeline = {};  // before the session that it may read from
  desktop.session = std::make_unique<storage::Session>(std::move(*session));
  remember_recent(desktop.settings, desktop.run.session_path);
  auto runs = last_runs(*desktop.session);
  if (!runs) {
    desktop.tell(runs.error());
    return;
  }
  if (!*runs) return;
  desktop.run.shown = std::move(*runs);
  History& history = desktop.document->history();
  const auto note = [&](int node, const RunSide& side) {
    if (side.series.mean_ms() > 0) history.node(node).measured_s = side.series.mean_ms() / 1e3;
  };
  if (ended->kind != service::JobKind::train) note(desktop.run.ran_a, desktop.run.shown->a);
  if (desktop.run.shown->b && ended->kind != service::JobKind::train)
    note(desktop.run.ran_b, *desktop.run.shown->b);
  desktop.open_run(desktop.run.shown->b ? desktop.run.shown->b->run : desktop.run.shown->a.run);
}

}  // namespace shardscope::ui
