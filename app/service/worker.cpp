#include "app/service/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/gpu_trace.hpp"
#include "app/inputs.hpp"
#include "app/jobs/compare_job.hpp"
#include "app/jobs/profile_job.hpp"
#include "app/jobs/train_job.hpp"
#include "app/late_stop.hpp"
#include "app/run_setup.hpp"
#include "app/service/standard_streams.hpp"
#include "app/service/worker_link.hpp"
#include "app/values.hpp"
#include "layout/json.hpp"

namespace shardscope::app {
namespace {

/// Tells the engine how far the job is and hears when it should stop.
class WorkerWatch : public JobWatch {
 public:
  WorkerWatch(WorkerLink& link, std::int64_t job)
      : link_(link), job_(job), stop_([&link] { return link.cancelled(); }) {}

  void progress(double share, const std::string& detail) override {
    link_.progress(job_, share, detail);
    link_.wait_while_paused();
  }
  [[nodiscard]] bool stop_requested() const override {
    return link_.cancelled() || link_.layout_wanted();
  }
  void when_late(std::function<void()> action) override { stop_.when_late(std::move(action)); }

 private:
  WorkerLink& link_;
  std::int64_t job_;
  LateStop stop_;
};

Result<RunOptions> run_options(const service::JobSettings& settings) {
  RunOptions options;
  options.backend = settings.backend;
  options.comm = settings.comm;
  options.wire = settings.wire;
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
    Result<Layout> layout = layout_from_json(next->layout_json, "layout");
    Status applied = layout ? require_valid(job.inputs, *layout, Executor::engine)
                            : Status(fail(layout.error()));
    if (applied) applied = (*engine)->apply(*layout);
    if (!applied) {
      link.reply(next->id, fail(applied.error()));
      continue;  // measures on under the layout it has
    }
    job.layouts[0] = std::move(*layout);
    link.reply(next->id, std::string("{}"));
  }
}

Result<std::string> work(const service::StartJob& request, WorkerLink& link) {
  Result<Job> job = read_job(request);
  if (!job) return fail(job.error());
  WorkerWatch watch(link, request.id);
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
      const TrainJob train{job->run, job->inputs, job->layouts[0], request.settings.evaluate_every};
      const Result<Trained> done = run_training(train, link, watch);
      if (!done) return fail(done.error());
      return training_json(train, *done).dump();
    }
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
