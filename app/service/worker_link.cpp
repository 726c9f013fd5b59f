#include "app/service/worker_link.hpp"

#include <algorithm>
#include <utility>

#include "app/service/record_json.hpp"
#include "layout/json_reader.hpp"
#include "layout/json_value.hpp"

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenProgress{100};
constexpr std::chrono::seconds kFlushWithin{5};
constexpr std::size_t kRecordsAMessage = 65536;

Error engine_went_away() {
  return {ErrorKind::runtime, "the engine that holds the session went away", "worker", "", ""};
}

Error cannot_move(bool moving) {
  return {
      ErrorKind::usage,
      moving ? "the job is about to move to another layout" : "this job moves to no other layout",
      "apply", "a run or train job", moving ? "Ask again once it has moved" : ""};
}

Result<std::int64_t> run_of(const Result<std::string>& answer) {
  if (!answer) return fail(answer.error());
  const Result<JsonValue> root = parse_json(*answer, "begin_run");
  if (!root) return fail(root.error());
  JsonErrors errors("begin_run");
  std::int64_t run = 0;
  JsonFields json(errors, *root, "");
  json.whole("run", run, Need::required, 1, kMostInt64);
  if (errors.any()) return fail(errors.first());
  return run;
}

Status done(const Result<std::string>& answer) {
  if (!answer) return fail(answer.error());
  return {};
}

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::open(service::Descriptor in,
                                                     service::Descriptor out) {
  std::unique_ptr<WorkerLink> link(new WorkerLink);
  service::ChannelConfig config;
  config.when_full = service::WhenFull::block;
  auto channel = service::Channel::open(
      std::move(in), std::move(out), config,
      {[raw = link.get()](service::Message message) { raw->receive(std::move(message)); },
       [raw = link.get()](std::int64_t id, const Error& error) { raw->refuse(id, error); },
       [raw = link.get()](const std::optional<Error>&) { raw->note_end(); }});
  if (!channel) return fail(channel.error());
  link->channel_ = std::move(*channel);
  return link;
}

Status WorkerLink::save_comparison(const storage::ComparisonRecord& comparison) {
  return done(ask(service::RecordResult{0, "comparison", to_json(comparison)}));
}

Status WorkerLink::save_curve(std::int64_t run, std::span<const storage::CurvePoint> points) {
  return done(ask(service::RecordResult{0, "curve", curve_to_json(run, points)}));
}

Result<std::int64_t> WorkerLink::begin_run(const RunInfo& info) {
  return run_of(ask(service::BeginRun{0, info}));
}

void WorkerLink::spans(std::int64_t run, std::span<const Span> batch) {
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kRecordsAMessage));
    tell(service::RecordSpans{0, run, {part.begin(), part.end()}});
    batch = batch.subspan(part.size());
  }
}

void WorkerLink::iterations(std::int64_t run, std::span<const Iteration> batch) {
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kRecordsAMessage));
    tell(service::RecordIterations{0, run, {part.begin(), part.end()}});
    batch = batch.subspan(part.size());
  }
}

void WorkerLink::activities(std::int64_t run, std::span<const ActivityRecord> batch) {
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kRecordsAMessage));
    tell(service::RecordActivities{0, run, {part.begin(), part.end()}});
    batch = batch.subspan(part.size());
  }
}

void WorkerLink::codec_work(std::int64_t run, std::span<const CodecWork> batch) {
  constexpr std::size_t kMostOfJson = 4096;
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kMostOfJson));
    const auto kept = ask(service::RecordResult{0, "codec_work", codec_work_to_json(run, part)});
    if (!kept) dropped(run, static_cast<std::int64_t>(part.size()));
    batch = batch.subspan(part.size());
  }
}

void WorkerLink::dropped(std::int64_t run, std::int64_t count) {
  tell(service::RecordDropped{0, run, count});
}

Status WorkerLink::status() const {
  const std::lock_guard lock(mutex_);
  return records_status_;
}

Status WorkerLink::end_run(std::int64_t run, const RunSummary& summary) {
  return done(ask(service::EndRun{0, run, summary}));
}

std::optional<service::StartJob> WorkerLink::wait_for_job() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return job_ || ended_; });
  return job_;
}

bool WorkerLink::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

std::optional<service::ApplyLayout> WorkerLink::take_layout() {
  const std::lock_guard lock(mutex_);
  return std::exchange(layout_, std::nullopt);
}

bool WorkerLink::layout_wanted() const {
  const std::lock_guard lock(mutex_);
  return layout_.has_value();
}

void WorkerLink::wait_while_paused() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !paused_ || cancelled_; });
}

void WorkerLink::progress(std::int64_t job, double share, const std::string& detail,
                          double best_s) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (now - progress_at_ < kBetweenProgress) return;
    progress_at_ = now;
  }
  tell(service::JobProgress{job, share, detail, best_s});
}

void WorkerLink::reply(std::int64_t id, const Result<std::string>& result_json) {
  if (!result_json) {
    tell(service::Failure{id, result_json.error()});
  } else if (const Status sent = channel_->send(service::Reply{id, *result_json}); !sent) {
    tell(service::Failure{id, sent.error()});
  }
}

void WorkerLink::flush() {
  channel_->flush(kFlushWithin);
}

void WorkerLink::receive(service::Message message) {
  const std::lock_guard lock(mutex_);
  if (auto* job = std::get_if<service::StartJob>(&message)) {
    job_ = std::move(*job);
  } else if (std::get_if<service::CancelJob>(&message) != nullptr) {
    cancelled_ = true;
  } else if (const auto* pause = std::get_if<service::PauseJob>(&message)) {
    paused_ = pause->paused;
  } else if (auto* apply = std::get_if<service::ApplyLayout>(&message)) {
    const bool moves =
        job_ && (job_->kind == service::JobKind::run || job_->kind == service::JobKind::train);
    if (moves && !layout_) {
      layout_ = std::move(*apply);
    } else {
      reply(apply->id, fail(cannot_move(moves)));
    }
  } else if (auto* answer = std::get_if<service::Reply>(&message)) {
    asked_[answer->id] = Result<std::string>(std::move(answer->result_json));
  } else if (auto* failure = std::get_if<service::Failure>(&message)) {
    if (failure->id == service::kRecordsLost) {
      records_status_ = fail(std::move(failure->error));
    } else {
      asked_[failure->id] = Result<std::string>(fail(std::move(failure->error)));
    }
  }
  changed_.notify_all();
}

void WorkerLink::refuse(std::int64_t id, const Error& error) {
  const std::lock_guard lock(mutex_);
  asked_[id] = Result<std::string>(fail(error));
  changed_.notify_all();
}

void WorkerLink::note_end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  cancelled_ = true;
  changed_.notify_all();
}

Result<std::string> WorkerLink::ask(service::Message request) {
  std::unique_lock lock(mutex_);
  const std::int64_t id = next_id_++;
  std::visit([&](auto& one) { one.id = id; }, request);
  asked_[id] = std::nullopt;
  lock.unlock();
  if (const Status sent = channel_->send(request); !sent) return fail(sent.error());
  lock.lock();
  changed_.wait(lock, [&] { return asked_[id] || ended_; });
  const auto answer = std::exchange(asked_[id], std::nullopt);
  asked_.erase(id);
  if (!answer) return fail(engine_went_away());
  return *answer;
}

void WorkerLink::tell(const service::Message& message) {
  // Only what holds whole documents can be too large, and those are asked, not told.
  [[maybe_unused]] const Status sent = channel_->send(message);
}

}  // namespace shardscope::app
