#pragma once
// The desktop's side of the protocol: starts an engine (here, or on another machine through ssh),
// talks to it without ever blocking, starts it again after it died.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/service/channel.hpp"
#include "engine/service/child_process.hpp"
#include "engine/service/message.hpp"
#include "layout/result.hpp"

namespace shardscope::service {

struct ClientConfig {
  /// {"shardscope", "serve"} or {"ssh", "HOST", "shardscope", "serve"}.
  std::vector<std::string> arguments;
  std::string program;  ///< how the desktop calls itself
  /// Called from another thread when poll() has something new (wakes the window).
  std::function<void()> wake = [] {};
  /// An engine that has not answered the hello by then counts as dead. Long enough to type a
  /// passphrase for ssh.
  std::chrono::milliseconds answers_within = std::chrono::seconds(60);
};

enum class EngineState : std::uint8_t {
  stopped,   ///< never started, or ended: see ended()
  starting,  ///< no answer to the hello yet; requests wait for it
  ready,
};

/// All functions belong to one thread.
class Client {
 public:
  explicit Client(ClientConfig config);
  /// Ends the engine: it commits what it has and goes within 2 s.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Starts the engine, also after it ended. Error: the program cannot be run.
  [[nodiscard]] Status start();

  /// Sends a request (its id is filled in) and returns the id. A request to a stopped engine, or
  /// one that is too large, is answered with a Failure at the next poll().
  std::int64_t send(Message request);

  /// What arrived since the last call, in order, at most kMostPolled messages; the rest waits. The
  /// engine is not read while more than kMostHeld or kMostHeldBytes wait to be polled. A request
  /// that the engine's end left open is answered with a Failure.
  [[nodiscard]] std::vector<Message> poll();
  static constexpr std::size_t kMostPolled = 1024;
  static constexpr std::size_t kMostHeld = 8192;
  static constexpr std::size_t kMostHeldBytes = std::size_t{64} << 20;

  /// Gives up an engine that does not answer: it is killed, open requests fail with that reason.
  void abandon(const std::string& why);
  /// Since the engine last said anything; since its start where it never did.
  [[nodiscard]] std::chrono::milliseconds silence() const;

  [[nodiscard]] EngineState state() const;
  /// What the engine said of itself: {"protocol", "version", "machine", ...}; empty until ready.
  [[nodiscard]] std::string engine_json() const;
  /// "signal 9", "exit code 3", "no engine answered; ..."; empty while it runs.
  [[nodiscard]] std::string ended() const;
  /// The last lines it wrote to its standard error, at most 64 KiB.
  [[nodiscard]] std::string last_words() const;

 private:
  void receive(Message message);
  /// Keeps it until the next poll(). Under the lock.
  void hold(Message message);
  void note_end(const std::optional<Error>& error);
  void read_errors(int descriptor);
  /// The reading thread no longer waits for poll().
  void let_go();

  ClientConfig config_;
  std::int64_t next_id_ = 1;

  mutable std::mutex mutex_;  ///< guards the members down to channel_
  EngineState state_ = EngineState::stopped;
  std::int64_t hello_ = 0;
  std::set<std::int64_t> open_;  ///< requests without a reply
  std::deque<Message> arrived_;
  std::size_t arrived_bytes_ = 0;
  std::condition_variable polled_;
  bool letting_go_ = false;  ///< what arrives now is dropped
  bool abandoned_ = false;
  std::chrono::steady_clock::time_point heard_ = {};
  std::string engine_json_;
  std::string ended_;
  std::string last_words_;
  bool stop_errors_ = false;

  std::unique_ptr<ChildProcess> child_;
  Descriptor errors_;
  std::thread errors_reader_;
  std::unique_ptr<Channel> channel_;  ///< its handlers use the members above
};

}  // namespace shardscope::service
