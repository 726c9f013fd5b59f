#include "engine/service/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace shardscope::service {
namespace {

constexpr std::size_t kLastWordsBytes = std::size_t{64} << 10;
constexpr std::chrono::seconds kEndsWithin{3};
constexpr int kErrorsPollMs = 100;

/// About what a message holds beside its own size.
std::size_t bytes_of(const Message& message) {
  std::size_t bytes = sizeof message;
  if (const auto* reply = std::get_if<Reply>(&message)) bytes += reply->result_json.size();
  if (const auto* samples = std::get_if<Samples>(&message)) {
    bytes += samples->iterations.size() * sizeof samples->iterations.front();
  }
  if (const auto* progress = std::get_if<JobProgress>(&message)) bytes += progress->detail.size();
  if (const auto* failure = std::get_if<Failure>(&message)) bytes += failure->error.what.size();
  return bytes;
}

Error engine_gone(const std::string& how) {
  return {ErrorKind::runtime, how.empty() ? "no engine is running" : "the engine ended: " + how,
          "engine", "", "Start it again; edits are safe"};
}

}  // namespace

Client::Client(ClientConfig config) : config_(std::move(config)) {}

Client::~Client() {
  let_go();
  channel_.reset();
  {
    const std::lock_guard lock(mutex_);
    stop_errors_ = true;
  }
  if (errors_reader_.joinable()) errors_reader_.join();
}

Status Client::start() {
  let_go();
  channel_.reset();
  if (errors_reader_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_errors_ = true;
    }
    errors_reader_.join();
  }
  Result<ChildProcess> child =
      ChildProcess::start(config_.arguments, ChildErrors::piped, /*dies_with_us=*/false);
  if (!child) {
    const std::lock_guard lock(mutex_);
    ended_ = child.error().what;
    return fail(child.error());
  }
  child_ = std::make_unique<ChildProcess>(std::move(*child));
  errors_ = std::move(child_->errors());
  {
    const std::lock_guard lock(mutex_);
    state_ = EngineState::starting;
    stop_errors_ = letting_go_ = abandoned_ = false;
    heard_ = std::chrono::steady_clock::now();
    ended_.clear();
    last_words_.clear();
    engine_json_.clear();
    hello_ = next_id_++;
  }
  errors_reader_ = std::thread([this] { read_errors(errors_.get()); });
  ChannelConfig config;
  config.expect_greeting = true;
  Result<std::unique_ptr<Channel>> channel =
      Channel::open(std::move(child_->output()), std::move(child_->input()), config,
                    {[this](Message message) { receive(std::move(message)); },
                     [this](std::int64_t id, const Error& error) {
                       receive(Failure{id, error});
                     },
                     [this](const std::optional<Error>& error) { note_end(error); }});
  if (!channel) return fail(channel.error());
  channel_ = std::move(*channel);
  return channel_->send(Hello{hello_, kProtocol, config_.program});
}

std::int64_t Client::send(Message request) {
  const std::int64_t id = next_id_++;
  std::visit([&](auto& one) { one.id = id; }, request);
  bool running = false;
  {
    const std::lock_guard lock(mutex_);
    running = channel_ != nullptr && state_ != EngineState::stopped;
    if (running) {
      open_.insert(id);
    } else {
      hold(Failure{id, engine_gone(ended_)});
    }
  }
  if (running) {
    if (const Status sent = channel_->send(request); !sent) {
      // Not through receive(), which waits where a flood stands in the way.
      const std::lock_guard lock(mutex_);
      open_.erase(id);
      hold(Failure{id, sent.error()});
    }
  }
  return id;
}

void Client::hold(Message message) {
  arrived_bytes_ += bytes_of(message);
  arrived_.push_back(std::move(message));
}

std::vector<Message> Client::poll() {
  std::vector<Message> messages;
  bool late = false, more = false;
  {
    const std::lock_guard lock(mutex_);
    while (!arrived_.empty() && messages.size() < kMostPolled) {
      arrived_bytes_ -= bytes_of(arrived_.front());
      messages.push_back(std::move(arrived_.front()));
      arrived_.pop_front();
    }
    more = !arrived_.empty();
    late = state_ == EngineState::starting && !abandoned_ &&
           std::chrono::steady_clock::now() - heard_ > config_.answers_within;
  }
  polled_.notify_all();
  if (more) config_.wake();
  if (late) {
    abandon(fmt::format("it did not answer within {} s",
                        std::chrono::duration<double>(config_.answers_within).count()));
  }
  return messages;
}

void Client::abandon(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == EngineState::stopped || abandoned_) return;
    abandoned_ = true;
    ended_ = why;
  }
  polled_.notify_all();
  if (channel_ != nullptr) channel_->close();
}

std::chrono::milliseconds Client::silence() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               heard_);
}

void Client::let_go() {
  {
    const std::lock_guard lock(mutex_);
    letting_go_ = true;
  }
  polled_.notify_all();
}

EngineState Client::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string Client::engine_json() const {
  const std::lock_guard lock(mutex_);
  return engine_json_;
}

std::string Client::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::string Client::last_words() const {
  const std::lock_guard lock(mutex_);
  return last_words_;
}

void Client::receive(Message message) {
  bool first = true;
  {
    std::unique_lock lock(mutex_);
    heard_ = std::chrono::steady_clock::now();
    // A flood waits in the pipe, where it holds up the engine instead of this process.
    polled_.wait(lock, [&] {
      return letting_go_ || abandoned_ ||
             (arrived_.size() < kMostHeld && arrived_bytes_ < kMostHeldBytes);
    });
    if (letting_go_ || abandoned_) return;
    first = arrived_.empty();
    const std::int64_t id = id_of(message);
    const auto* reply = std::get_if<Reply>(&message);
    const auto* failure = std::get_if<Failure>(&message);
    if (reply != nullptr && id == hello_) {
      state_ = EngineState::ready;
      engine_json_ = reply->result_json;
    } else {
      if (failure != nullptr && id == hello_) ended_ = to_string(failure->error);
      if (reply != nullptr || failure != nullptr) open_.erase(id);
      hold(std::move(message));
    }
  }
  if (first) config_.wake();
}

void Client::note_end(const std::optional<Error>& error) {
  bool given_up = false;
  {
    const std::lock_guard lock(mutex_);
    given_up = abandoned_;
  }
  // One that does not answer will not see its end of the pipe close either.
  if (given_up) child_->kill(SIGKILL);
  std::optional<std::string> how = child_->ended(kEndsWithin);
  if (!how) {
    child_->kill(SIGKILL);
    how = child_->ended(kEndsWithin);
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = EngineState::stopped;
    if (ended_.empty()) {
      ended_ = error ? fmt::format("{} ({})", error->what, how.value_or("still there"))
                     : how.value_or("still there");
    }
    for (const std::int64_t id : std::exchange(open_, {})) {
      hold(Failure{id, engine_gone(ended_)});
    }
  }
  config_.wake();
}

void Client::read_errors(int descriptor) {
  std::string piece(4096, '\0');
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_errors_) return;
    }
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, kErrorsPollMs) <= 0) continue;
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got <= 0) return;
    const std::lock_guard lock(mutex_);
    last_words_.append(piece, 0, static_cast<std::size_t>(got));
    if (last_words_.size() > kLastWordsBytes) {
      last_words_.erase(0, last_words_.size() - kLastWordsBytes);
    }
  }
}

}  // namespace shardscope::service
