#include "ui/desktop/engine_link.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <variant>

namespace shardscope::ui {

std::vector<std::string> local_engine() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "shardscope";
  if (!error && std::filesystem::is_regular_file(beside, error)) return {beside.string(), "serve"};
  return {"shardscope", "serve"};
}

std::vector<std::string> engine_of_line(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

EngineLink::EngineLink(std::vector<std::string> arguments, std::function<void()> wake)
    : arguments_(std::move(arguments)),
      client_({.arguments = arguments_,
               .program = "shardscope-gui",
               .wake = wake ? std::move(wake) : [] {}}) {}

EngineLink::~EngineLink() {
  const std::shared_ptr<EnginePlan> plan = plan_.lock();
  if (plan == nullptr || plan->finished()) return;
  plan->when_cancelled({});
  plan->take_error({ErrorKind::runtime, "another engine was chosen", "plan", "", "Plan again"});
}

Status EngineLink::start_engine() {
  if (client_.state() != service::EngineState::stopped) return {};
  session_.clear();
  machine_request_ = 0;
  return client_.start();
}

Status EngineLink::ask_machine() {
  if (Status started = start_engine(); !started) return started;
  if (machine_request_ == 0 && !machine_.known) {
    machine_request_ = client_.send(service::Query{.what = "machine"});
  }
  return {};
}

Status EngineLink::start_job(const std::string& session, service::StartJob job) {
  if (Status started = start_engine(); !started) return started;
  if (!session.empty() && session_ != session) {
    open_request_ = client_.send(service::OpenSessionFile{.path = session});
    session_ = session;
  }
  LiveJob live;
  live.kind = job.kind;
  live.id = client_.send(std::move(job));
  job_ = std::move(live);
  stopping_.reset();
  apply_request_ = 0;
  moved_.reset();
  return {};
}

void EngineLink::pause(bool paused) {
  if (!job_) return;
  job_->paused = paused;
  client_.send(service::PauseJob{.job = job_->id, .paused = paused});
}

void EngineLink::apply(std::string layout_json) {
  if (!job_ || moving()) return;
  apply_request_ =
      client_.send(service::ApplyLayout{.job = job_->id, .layout_json = std::move(layout_json)});
}

void EngineLink::stop() {
  if (!job_) return;
  if (stopping_) {
    client_.abandon("it was asked to stop twice");
    return;
  }
  stopping_ = std::chrono::steady_clock::now();
  client_.send(service::CancelJob{.job = job_->id});
}

std::chrono::milliseconds EngineLink::silence() const {
  if (!job_ || job_->paused || client_.state() == service::EngineState::stopped) return {};
  return client_.silence();
}

bool EngineLink::holds(const std::string& session) const {
  return session_ == session && client_.state() != service::EngineState::stopped &&
         arguments_.front() != "ssh";
}

std::int64_t EngineLink::send_edit(service::Edit edit) {
  const std::int64_t id = client_.send(std::move(edit));
  edits_.insert(id);
  return id;
}

void EngineLink::take_answer(const service::Message& message) {
  EditAnswer answer;
  answer.id = service::id_of(message);
  if (const auto* failure = std::get_if<service::Failure>(&message)) {
    answer.row = fail(failure->error);
  } else if (const auto* reply = std::get_if<service::Reply>(&message)) {
    const auto json = nlohmann::json::parse(reply->result_json, nullptr, false);
    const auto row = json.is_object() ? json.find("row") : json.end();
    if (json.is_object() && row != json.end() && row->is_number_integer()) {
      answer.row = row->get<std::int64_t>();
    }
  } else {
    return;
  }
  edits_.erase(answer.id);
  answers_.push_back(std::move(answer));
}

Result<std::shared_ptr<EnginePlan>> EngineLink::start_plan(service::StartJob job,
                                                           PlanRequest request) {
  if (Status started = start_engine(); !started) return fail(started.error());
  auto plan = std::make_shared<EnginePlan>(std::move(request));
  plan_request_ = client_.send(std::move(job));
  plan->when_cancelled([this, id = plan_request_] { client_.send(service::CancelJob{.job = id}); });
  plan_ = plan;
  return plan;
}

void EngineLink::take_plan(const service::Message& message) {
  const std::shared_ptr<EnginePlan> plan = plan_.lock();
  if (plan == nullptr) return;
  if (const auto* progress = std::get_if<service::JobProgress>(&message)) {
    plan->take_progress(progress->detail, progress->best_s);
    return;
  }
  plan_request_ = 0;
  plan->when_cancelled({});
  if (const auto* reply = std::get_if<service::Reply>(&message)) {
    plan->take_result(reply->result_json);
  } else if (const auto* failure = std::get_if<service::Failure>(&message)) {
    plan->take_error(failure->error);
  }
}

void EngineLink::take_machine(const service::Message& message) {
  const auto* reply = std::get_if<service::Reply>(&message);
  if (reply == nullptr) return;  // an engine of another version: nothing is known
  if (auto found = engine_machine(reply->result_json)) machine_ = std::move(*found);
}

void EngineLink::take(const service::Message& message, std::optional<EndedJob>& ended) {
  const std::int64_t id = service::id_of(message);
  if (id == machine_request_) {
    take_machine(message);
    return;
  }
  if (id == plan_request_ && id != 0) {
    take_plan(message);
    return;
  }
  if (id == apply_request_ && id != 0) {
    const auto* refused = std::get_if<service::Failure>(&message);
    moved_ = refused != nullptr ? Status(fail(refused->error)) : Status();
    apply_request_ = 0;
    return;
  }
  if (edits_.contains(id)) {
    take_answer(message);
    return;
  }
  if (const auto* failure = std::get_if<service::Failure>(&message)) {
    // A session that cannot be opened fails the job that waits for it.
    const bool opening = id == open_request_;
    if (opening) session_.clear();
    if (job_ && (id == job_->id || opening))
      ended = EndedJob{job_->kind, job_->runs, {}, failure->error};
    return;
  }
  if (!job_ || id != job_->id) return;
  if (const auto* reply = std::get_if<service::Reply>(&message)) {
    ended = EndedJob{job_->kind, job_->runs, reply->result_json, std::nullopt};
  } else if (const auto* progress = std::get_if<service::JobProgress>(&message)) {
    job_->share = progress->share;
    job_->detail = progress->detail;
  } else if (const auto* begun = std::get_if<service::RunBegun>(&message)) {
    job_->side_of_run[begun->run] = begun->side;
    job_->mode_of_run[begun->run] = begun->mode;
    job_->runs.push_back(begun->run);
  } else if (const auto* samples = std::get_if<service::Samples>(&message)) {
    const auto side = job_->side_of_run.find(samples->run);
    if (side != job_->side_of_run.end()) {
      job_->fresh.emplace_back(side->second, samples->iterations);
    }
  } else if (const auto* point = std::get_if<service::CurveSample>(&message)) {
    job_->fresh_points.push_back(*point);
  } else if (const auto* dropped = std::get_if<service::SamplesDropped>(&message)) {
    job_->dropped += dropped->iterations;
  }
}

std::optional<EndedJob> EngineLink::poll() {
  std::optional<EndedJob> ended;
  if (job_ && stopping_ && std::chrono::steady_clock::now() - *stopping_ > kStopsWithin) {
    client_.abandon(fmt::format("it did not stop within {} s", kStopsWithin.count()));
  }
  for (const service::Message& message : client_.poll()) take(message, ended);
  if (ended) job_.reset();
  return ended;
}

std::string EngineLink::state_words() const {
  switch (client_.state()) {
    case service::EngineState::starting:
      return "engine: starting";
    case service::EngineState::ready:
      if (silence() > patience_) {
        return fmt::format("engine: no word for {} s", silence().count() / 1000);
      }
      if (job_ && stopping_) return "engine: stopping";
      if (job_) return fmt::format("engine: {}", job_->paused ? "paused" : "running");
      return arguments_.front() == "ssh" ? "engine: idle, remote" : "engine: idle, local";
    case service::EngineState::stopped:
      break;
  }
  const std::string how = client_.ended();
  if (how.empty()) return "engine: idle, local";
  return "engine stopped (" + how + "). Edits are safe; it starts again with the next run.";
}

}  // namespace shardscope::ui
