#include "app/service/serve.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/machine.hpp"
#include "app/service/event_queue.hpp"
#include "app/service/machine_inquiry.hpp"
#include "app/service/record_json.hpp"
#include "app/service/session_desk.hpp"
#include "app/service/standard_streams.hpp"
#include "engine/service/channel.hpp"
#include "engine/service/child_process.hpp"

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;
using service::Message;

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kIdleTick{1000};       // without a worker nothing is due
constexpr std::int64_t kInquiries = -1;                    // no job's id
constexpr std::chrono::seconds kCancelGrace{5};            // from a cancel to the kill
constexpr std::chrono::milliseconds kFarewellGrace{1200};  // from the desktop's end to the kill
constexpr std::chrono::seconds kReapWithin{2};

/// A worker process and what it records.
struct Worker {
  service::ChildProcess process;
  std::unique_ptr<service::Channel> channel;
  std::set<std::int64_t> open_runs;
  std::int64_t runs_begun = 0;
  bool answered = false;        ///< the job's reply went to the desktop
  bool told_of_losses = false;  ///< it knows that the session refuses records
  std::optional<Clock::time_point> kill_at;
};

service::ChannelHandlers handlers_for(EventQueue& queue, std::int64_t from) {
  return {[&queue, from](Message message) {
            queue.push({from, std::move(message)});
          },
          [&queue, from](std::int64_t id, const Error& error) {
            queue.push({from, Refused{id, error}});
          },
          [&queue, from](const std::optional<Error>& error) {
            queue.push({from, PeerClosed{error}});
          }};
}

class Engine {
 public:
  Status run() {
    Result<StandardStreams> streams = take_standard_streams();
    if (!streams) return fail(streams.error());
    service::ChannelConfig config;
    config.send_greeting = true;
    auto channel = service::Channel::open(std::move(streams->in), std::move(streams->out), config,
                                          handlers_for(queue_, 0));
    if (!channel) return fail(channel.error());
    desktop_ = std::move(*channel);
    while (!desktop_gone_ || !workers_.empty()) {
      if (auto event = queue_.pop(workers_.empty() ? kIdleTick : kTick)) handle(std::move(*event));
      tell_of_lost_records();
      kill_late_workers();
    }
    queue_.shut();
    inquiries_.clear();
    desktop_.reset();
    Status closed = desk_.close();
    // Whoever feeds this by hand or by mistake is told what was expected.
    if (closed && broken_) return fail(*broken_);
    return closed;
  }

 private:
  void handle(EngineEvent event) {
    const std::int64_t from = event.from;
    if (auto* message = std::get_if<Message>(&event.what);
        message != nullptr && from == kInquiries) {
      tell(*message);
    } else if (message != nullptr) {
      from == 0 ? from_desktop(std::move(*message)) : from_worker(from, std::move(*message));
    } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
      if (from == 0) tell(service::Failure{refused->id, refused->error});
    } else {
      from == 0 ? part_from_desktop(std::get<PeerClosed>(event.what).error) : bury(from);
    }
  }

  // ---- the desktop

  void from_desktop(Message message) {
    const std::int64_t id = service::id_of(message);
    if (!greeted_ && std::get_if<service::Hello>(&message) == nullptr) {
      answer(id, fail({ErrorKind::usage, "a request before the hello", "protocol",
                       "{\"type\":\"hello\",...}", ""}));
      return;
    }
    std::visit([&](auto& one) { request(one); }, message);
  }

  void request(const service::Hello& hello) {
    if (hello.protocol != service::kProtocol) {
      answer(hello.id,
             fail({ErrorKind::usage, fmt::format("protocol {} is not spoken here", hello.protocol),
                   "hello", fmt::format("protocol {}", service::kProtocol),
                   "Install the same version on both sides"}));
      return;
    }
    greeted_ = true;
    const nlohmann::ordered_json json = {
        {"protocol", service::kProtocol},
        {"program", std::string("shardscope ") + SHARDSCOPE_VERSION},
        {"jobs", {"run", "compare", "train", "calibrate", "plan"}},
        {"environment", nlohmann::ordered_json::parse(environment_json(this_machine()))}};
    answer(hello.id, json.dump());
  }

  void request(const service::OpenSessionFile& open) {
    if (!workers_.empty()) {
      answer(open.id, fail({ErrorKind::usage, "jobs are running in the open session", "open", "",
                            "Cancel them first"}));
      return;
    }
    answer(open.id, desk_.open(open.path));
  }

  void request(const service::Query& query) {
    if (query.what != "machine") {
      answer(query.id, desk_.query(query));
      return;
    }
    auto inquiry = MachineInquiry::start([this, id = query.id](const Result<std::string>& found) {
      queue_.push({kInquiries, found ? Message(service::Reply{id, *found})
                                     : Message(service::Failure{id, found.error()})});
    });
    if (inquiry) {
      inquiries_.push_back(std::move(*inquiry));
    } else {
      answer(query.id, fail(inquiry.error()));
    }
  }
  void request(const service::Edit& edit) { answer(edit.id, desk_.edit(edit)); }

  void request(const service::StartJob& job) {
    if (const Status started = start(job); !started) answer(job.id, fail(started.error()));
  }

  void request(const service::ApplyLayout& apply) { pass_on(apply.id, apply.job, apply); }

  void request(const service::PauseJob& pause) {
    if (pass_on(pause.id, pause.job, pause)) answer(pause.id, std::string("{}"));
  }

  void request(const service::CancelJob& cancel) {
    if (!pass_on(cancel.id, cancel.job, cancel)) return;
    workers_.at(cancel.job).kill_at = Clock::now() + kCancelGrace;
    answer(cancel.id, std::string("{}"));
  }

  /// What only engines and workers say.
  template <class Other>
  void request(const Other& other) {
    answer(other.id, fail({ErrorKind::usage, "this message is no request", "protocol", "", ""}));
  }

  Status start(const service::StartJob& job) {
    if (job.kind != service::JobKind::calibrate && job.kind != service::JobKind::plan) {
      if (Status open = desk_.require_open(); !open) return open;
    }
    if (job.id <= 0 || workers_.contains(job.id)) {
      return fail({ErrorKind::usage, fmt::format("job {} cannot be started", job.id), "start",
                   "an id above 0 that no running job has", ""});
    }
    Result<service::ChildProcess> process = service::ChildProcess::start(
        {"/proc/self/exe", "worker"}, service::ChildErrors::inherited, /*dies_with_us=*/true);
    if (!process) return fail(process.error());
    auto channel = service::Channel::open(std::move(process->output()), std::move(process->input()),
                                          {}, handlers_for(queue_, job.id));
    if (!channel) return fail(channel.error());
    const Status sent = (*channel)->send(job);
    workers_.emplace(job.id,
                     Worker{std::move(*process), std::move(*channel), {}, 0, false, false, {}});
    return sent;
  }

  /// Sends a request on to the job's worker; answers it itself where there is none.
  bool pass_on(std::int64_t id, std::int64_t job, const Message& message) {
    const auto worker = workers_.find(job);
    if (worker == workers_.end()) {
      answer(id,
             fail({ErrorKind::usage, fmt::format("job {} does not run", job), "protocol", "", ""}));
      return false;
    }
    if (const Status sent = worker->second.channel->send(message); !sent) {
      answer(id, fail(sent.error()));
      return false;
    }
    return true;
  }

  void part_from_desktop(const std::optional<Error>& error) {
    desktop_gone_ = true;
    if (error) {
      broken_ = error;
      broken_->expected = "the messages of a desktop (docs/protocol.md)";
      broken_->cure = "shardscope-gui starts this program itself, here or through ssh";
    }
    for (auto& [job, worker] : workers_) {
      [[maybe_unused]] const Status sent = worker.channel->send(service::CancelJob{0, job});
      worker.kill_at = Clock::now() + kFarewellGrace;
    }
  }

  // ---- workers

  void from_worker(std::int64_t job, Message message) {
    Worker& worker = workers_.at(job);
    std::visit([&](auto& one) { record(job, worker, one); }, message);
  }

  void record(std::int64_t job, Worker& worker, const service::BeginRun& begin) {
    const Result<std::int64_t> run = desk_.records().begin_run(begin.info);
    if (!run) {
      tell_worker(worker, service::Failure{begin.id, run.error()});
      return;
    }
    worker.open_runs.insert(*run);
    tell(service::RunBegun{job, *run, worker.runs_begun++, to_string(begin.info.mode)});
    tell_worker(worker, service::Reply{begin.id, nlohmann::json{{"run", *run}}.dump()});
  }

  void record(std::int64_t, Worker& worker, const service::RecordSpans& spans) {
    if (worker.open_runs.contains(spans.run)) desk_.records().spans(spans.run, spans.spans);
  }

  void record(std::int64_t job, Worker& worker, const service::RecordIterations& iterations) {
    if (!worker.open_runs.contains(iterations.run)) return;
    desk_.records().iterations(iterations.run, iterations.iterations);
    desktop_->send_samples({job, iterations.run, iterations.iterations});
  }

  void record(std::int64_t, Worker& worker, const service::RecordActivities& some) {
    if (!worker.open_runs.contains(some.run)) return;
    desk_.records().activities(some.run, some.activities);
  }

  void record(std::int64_t, Worker& worker, const service::RecordDropped& dropped) {
    if (worker.open_runs.contains(dropped.run)) {
      desk_.records().dropped(dropped.run, dropped.records);
    }
  }

  void record(std::int64_t, Worker& worker, const service::EndRun& end) {
    Status ended = fail({ErrorKind::usage, "the run is not open", "end_run", "", ""});
    if (worker.open_runs.erase(end.run) > 0) ended = desk_.records().end_run(end.run, end.summary);
    confirm(worker, end.id, ended);
  }

  void record(std::int64_t job, Worker& worker, const service::RecordResult& result) {
    const Status kept = desk_.record(result);
    if (kept && result.what == "curve") tell_of_curve(job, result.json);
    confirm(worker, result.id, kept);
  }

  void tell_of_curve(std::int64_t job, const std::string& json) {
    const auto curve = curve_from_json(json);
    if (!curve) return;
    for (const storage::CurvePoint& point : curve->points) {
      tell(service::CurveSample{job, curve->run, point.split, point.iteration, point.samples,
                                point.loss, point.auc});
    }
  }

  void record(std::int64_t, Worker&, const service::JobProgress& progress) { tell(progress); }

  void record(std::int64_t job, Worker& worker, const service::Reply& reply) {
    worker.answered = worker.answered || reply.id == job;
    tell(reply);
  }

  void record(std::int64_t job, Worker& worker, const service::Failure& failure) {
    worker.answered = worker.answered || failure.id == job;
    tell(failure);
  }

  /// What workers never say.
  template <class Other>
  void record(std::int64_t, Worker&, const Other&) {}

  void confirm(Worker& worker, std::int64_t id, const Status& status) {
    if (status) {
      tell_worker(worker, service::Reply{id});
    } else {
      tell_worker(worker, service::Failure{id, status.error()});
    }
  }

  /// A worker is gone: its runs are closed, its job is answered.
  void bury(std::int64_t job) {
    auto node = workers_.extract(job);
    Worker& worker = node.mapped();
    std::optional<std::string> how = worker.process.ended(kReapWithin);
    if (!how) {
      worker.process.kill(SIGKILL);
      how = worker.process.ended(kReapWithin);
    }
    const std::string what = "the worker ended: " + how.value_or("not to be reaped");
    RunSummary summary;
    summary.complete = false;
    summary.message = what;
    for (const std::int64_t run : worker.open_runs) {
      [[maybe_unused]] const Status ended = desk_.records().end_run(run, summary);
    }
    if (!worker.answered) {
      answer(job, fail({ErrorKind::runtime, what, fmt::format("job {}", job), "",
                        "What it recorded until then is in the session"}));
    }
  }

  /// A full disk: workers end their jobs rather than measure for nobody.
  void tell_of_lost_records() {
    const Status kept = desk_.status();
    if (kept) return;
    for (auto& [job, worker] : workers_) {
      if (std::exchange(worker.told_of_losses, true)) continue;
      tell_worker(worker, service::Failure{service::kRecordsLost, kept.error()});
    }
  }

  void kill_late_workers() {
    for (auto& [job, worker] : workers_) {
      if (worker.kill_at && Clock::now() >= *worker.kill_at) worker.process.kill(SIGKILL);
    }
  }

  // ---- answers

  void tell(const Message& message) {
    if (const Status sent = desktop_->send(message); !sent) {
      [[maybe_unused]] const Status told =
          desktop_->send(service::Failure{service::id_of(message), sent.error()});
    }
  }

  void tell_worker(Worker& worker, const Message& message) {
    [[maybe_unused]] const Status sent = worker.channel->send(message);
  }

  void answer(std::int64_t id, const Result<std::string>& result) {
    result ? tell(service::Reply{id, *result}) : tell(service::Failure{id, result.error()});
  }

  EventQueue queue_;
  SessionDesk desk_;
  bool greeted_ = false;
  bool desktop_gone_ = false;
  std::optional<Error> broken_;  ///< why the conversation could not go on
  std::unique_ptr<service::Channel> desktop_;
  std::map<std::int64_t, Worker> workers_;  ///< by job
  std::vector<std::unique_ptr<MachineInquiry>> inquiries_;
};

}  // namespace

Status serve() {
  return Engine().run();
}

}  // namespace shardscope::app
