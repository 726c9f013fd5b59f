#include "app/service/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/gpu_trace.hpp"
#include "app/inputs.hpp"
#include "app/jobs/calibrate_job.hpp"
#include "app/jobs/compare_job.hpp"
#include "app/jobs/profile_job.hpp"
#include "app/jobs/train_job.hpp"
#include "app/late_stop.hpp"
#include "app/run_setup.hpp"
#include "app/service/standard_streams.hpp"
#include "app/service/worker_link.hpp"
#include "app/values.hpp"
#include "layout/json.hpp"
#include "planner/plan_rules.hpp"
#include "planner/plan_run.hpp"

namespace shardscope::app {
namespace {

/// Tells the engine how far the job is and hears when it should stop.
class WorkerWatch : public JobWatch {
 public:
  /// `stops_for_layouts`: the job is begun anew under a layout that is asked for.
  WorkerWatch(WorkerLink& link, std::int64_t job, bool stops_for_layouts)
      : link_(link),
        job_(job),
        stops_for_layouts_(stops_for_layouts),
        stop_([&link] { return link.cancelled(); }) {}

  void progress(double share, const std::string& detail) override {
    link_.progress(job_, share, detail);
    link_.wait_while_paused();
  }
  [[nodiscard]] bool stop_requested() const override {
    return link_.cancelled() || (stops_for_layouts_ && link_.layout_wanted());
  }
  [[nodiscard]] bool moves_on() const override {
    return stops_for_layouts_ && !link_.cancelled() && link_.layout_wanted();
  }
  void when_late(std::function<void()> action) override { stop_.when_late(std::move(action)); }

 private:
  WorkerLink& link_;
  std::int64_t job_;
  bool stops_for_layouts_;
  LateStop stop_;
};

Result<RunOptions> run_options(const service::JobSettings& settings) {
  RunOptions options;
  options.backend = settings.backend;
  options.comm = settings.comm;
  options.wire = settings.wire;
  options.dense_math = settings.dense_math;
  options.graphs = settings.graphs;
  options.seed = settings.seed;
  options.iterations = settings.iterations;
  options.budget_s = settings.budget_s;
  const auto schedule = parse_schedule(settings.schedule);
  if (!schedule) return fail(schedule.error());
  options.schedule = *schedule;
  const auto policy = parse_range_policy(settings.range_policy);
  if (!policy) return fail(policy.error());
  options.range_policy = *policy;
  return options;
}

/// The job's documents and options as values.
struct Job {
  const service::StartJob& request;
  RunOptions run;
  Inputs inputs;
  std::vector<Layout> layouts;
};

Result<Job> read_job(const service::StartJob& request) {
  Job job{request, {}, {}, {}};
  Result<RunOptions> run = run_options(request.settings);
  if (!run) return fail(run.error());
  job.run = std::move(*run);
  Result<Workload> workload = workload_from_json(request.workload_json, "workload");
  if (!workload) return fail(workload.error());
  Result<Topology> topology = topology_from_json(request.topology_json, "topology");
  if (!topology) return fail(topology.error());
  job.inputs = {std::move(*workload), std::move(*topology)};
  const std::size_t wanted = request.kind == service::JobKind::compare ? 2 : 1;
  if (request.layout_jsons.size() != wanted) {
    return fail({ErrorKind::usage, std::to_string(request.layout_jsons.size()) + " layouts",
                 "start", std::to_string(wanted), ""});
  }
  for (const std::string& text : request.layout_jsons) {
    Result<Layout> layout = layout_from_json(text, "layout");
    if (!layout) return fail(layout.error());
    job.layouts.push_back(std::move(*layout));
  }
  return job;
}

/// Moves the engine to the layout that `request` names; the request is answered where it fails.
std::optional<Layout> moved_to(const service::ApplyLayout& request, const Inputs& inputs,
                               engine::Engine& engine, WorkerLink& link) {
  Result<Layout> layout = layout_from_json(request.layout_json, "layout");
  Status applied =
      layout ? require_valid(inputs, *layout, Executor::engine) : Status(fail(layout.error()));
  if (applied) applied = engine.apply(*layout);
  if (!applied) {
    link.reply(request.id, fail(applied.error()));
    return std::nullopt;
  }
  return std::move(*layout);
}

/// Layouts that the desktop asks a training to move to.
class DesktopLayouts : public LayoutRequests {
 public:
  DesktopLayouts(const Inputs& inputs, WorkerLink& link) : inputs_(inputs), link_(link) {}

  [[nodiscard]] bool wanted() const override { return link_.layout_wanted(); }
  [[nodiscard]] std::optional<Layout> move(engine::Engine& engine) override {
    const auto request = link_.take_layout();
    if (!request) return std::nullopt;
    answered_ = request->id;
    return moved_to(*request, inputs_, engine, link_);
  }
  void moved() override { link_.reply(answered_, std::string("{}")); }

 private:
  const Inputs& inputs_;
  WorkerLink& link_;
  std::int64_t answered_ = 0;
};

std::string untraced(const Error& why) {
  return "no GPU trace: " + why.what;
}

/// Measures, and goes on under another layout as often as one is asked for.
Result<std::string> profile_until_done(Job& job, WorkerLink& link, WorkerWatch& watch) {
  // CUPTI comes before the first CUDA call, once: a traced job has one run and moves to no layout.
  std::unique_ptr<GpuTrace> trace;
  if (job.request.settings.gpu_trace && job.run.backend == "cuda") {
    trace = GpuTrace::start(job.run, job.inputs.topology);
    if (trace->refusal()) link.progress(job.request.id, 0, untraced(*trace->refusal()));
  }
  auto engine = make_engine(job.run, job.inputs, job.layouts[0],
                            trace != nullptr ? trace->tracer() : nullptr);
  if (!engine) return fail(engine.error());
  if (trace != nullptr) {
    const Result<Profiled> done = run_profile(**engine, job.run, job.inputs, job.layouts[0], link,
                                              watch, trace->refusal() ? nullptr : trace.get());
    if (!done) return fail(done.error());
    return profile_json(job.inputs, job.layouts[0], *done).dump();
  }
  while (true) {
    const Result<Profiled> done =
        run_profile(**engine, job.run, job.inputs, job.layouts[0], link, watch);
    const auto next = link.cancelled() ? std::nullopt : link.take_layout();
    if (!next) {
      if (!done) return fail(done.error());
      return profile_json(job.inputs, job.layouts[0], *done).dump();
    }
    std::optional<Layout> layout = moved_to(*next, job.inputs, **engine, link);
    if (!layout) continue;  // measures on under the layout it has
    job.layouts[0] = std::move(*layout);
    link.reply(next->id, std::string("{}"));
  }
}

Result<std::string> calibrate(const service::StartJob& request, WorkerLink& link) {
  Result<CalibrateJob> job =
      calibrate_job(request.settings.backend, request.settings.comm, request.settings.parts);
  if (!job) return fail(job.error());
  Result<Topology> topology = topology_from_json(request.topology_json, "topology");
  if (!topology) return fail(topology.error());
  if (Status here = require_measurable(*topology); !here) return fail(here.error());
  job->topology = std::move(*topology);
  if (request.settings.budget_s > 0) job->budget_s = request.settings.budget_s;
  job->seed = request.settings.seed;
  WorkerWatch watch(link, request.id, /*stops_for_layouts=*/false);
  const Result<storage::CalibrationFile> file = run_calibration(*job, watch);
  if (!file) return fail(file.error());
  return storage::to_json(*file);
}

/// "0,5,9" with the placements that these tables have.
Status pin_tables(const std::string& numbers, const Layout& layout, PlanConstraints& constraints) {
  for (std::size_t begin = 0; begin < numbers.size();) {
    const std::size_t end = std::min(numbers.find(',', begin), numbers.size());
    std::size_t table = 0;
    const auto [last, error] = std::from_chars(numbers.data() + begin, numbers.data() + end, table);
    if (error != std::errc() || last != numbers.data() + end || table >= layout.tables.size()) {
      return fail({ErrorKind::usage, "'" + numbers + "' are no tables of the layout", "pinned",
                   "numbers with commas between", ""});
    }
    constraints.pinned.emplace_back(static_cast<std::int32_t>(table), layout.tables[table]);
    begin = end + 1;
  }
  return {};
}

Result<std::string> plan(const service::StartJob& request, WorkerLink& link) {
  Result<Job> job = read_job(request);
  if (!job) return fail(job.error());
  const service::JobSettings& settings = request.settings;
  PlanRequest wish;
  if (!settings.planner.empty()) wish.planner = settings.planner;
  wish.time_limit_s = settings.budget_s;
  wish.seed = settings.seed;
  if (!settings.executor.empty()) {
    const auto executor = parse_executor(settings.executor);
    if (!executor) return fail(executor.error());
    wish.options.predict.executor = *executor;
  }
  wish.options.predict.schedule = job->run.schedule;
  auto rules = parse_plan_rules(settings.rules, job->inputs.workload, job->inputs.topology.ranks());
  if (!rules) return fail(rules.error());
  wish.options.constraints = std::move(*rules);
  if (Status pinned = pin_tables(settings.pinned, job->layouts[0], wish.options.constraints);
      !pinned) {
    return fail(pinned.error());
  }
  wish.options.starts = job->layouts;
  const auto result =
      run_plan(job->inputs.workload, job->inputs.topology, wish, [&](const OptimizeProgress& now) {
        const double limit = std::max(wish.time_limit_s, 1e-9);
        link.progress(request.id, std::min(1.0, now.elapsed_s / limit), now.phase, now.best_s);
        return !link.cancelled();
      });
  if (!result) return fail(result.error());
  return nlohmann::json{{"layout", to_json(result->layout)},      {"seconds", result->seconds},
                        {"lower_bound_s", result->lower_bound_s}, {"gap", result->gap},
                        {"elapsed_s", result->elapsed_s},         {"cancelled", result->cancelled}}
      .dump();
}

Result<std::string> work(const service::StartJob& request, WorkerLink& link) {
  if (request.kind == service::JobKind::plan) return plan(request, link);
  if (request.kind == service::JobKind::calibrate) return calibrate(request, link);
  Result<Job> job = read_job(request);
  if (!job) return fail(job.error());
  WorkerWatch watch(link, request.id,
                    /*stops_for_layouts=*/request.kind == service::JobKind::run);
  switch (request.kind) {
    case service::JobKind::run:
      return profile_until_done(*job, link, watch);
    case service::JobKind::compare: {
      const CompareJob compare{job->run, request.settings.target, job->inputs, job->layouts[0],
                               job->layouts[1]};
      const Result<Compared> done = run_comparison(compare, link, watch);
      if (!done) return fail(done.error());
      return comparison_json(compare, *done).dump();
    }
    case service::JobKind::train: {
      DesktopLayouts layouts(job->inputs, link);
      TrainJob train{job->run, job->inputs, job->layouts[0], request.settings.evaluate_every};
      train.requests = &layouts;
      const Result<Trained> done = run_training(train, link, watch);
      if (!done) return fail(done.error());
      return training_json(train, *done).dump();
    }
    case service::JobKind::calibrate:
    case service::JobKind::plan:
      break;
  }
  return fail({ErrorKind::usage, "an unknown kind of job", "start", "", ""});
}

}  // namespace

Status run_worker() {
  Result<StandardStreams> streams = take_standard_streams();
  if (!streams) return fail(streams.error());
  auto link = WorkerLink::open(std::move(streams->in), std::move(streams->out));
  if (!link) return fail(link.error());
  const auto request = (*link)->wait_for_job();
  if (!request) return {};
  (*link)->reply(request->id, work(*request, **link));
  (*link)->flush();
  return {};
}

}  // namespace shardscope::app
