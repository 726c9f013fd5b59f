#pragma once
// The engine behind the desktop: started when first needed, restarted after a crash, here or at the
// other end of an ssh. Jobs are asked for, followed live and stopped; nothing here blocks.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/service/client.hpp"
#include "layout/result.hpp"
#include "profiler/span.hpp"
#include "ui/model/capabilities.hpp"
#include "ui/model/plan_job.hpp"

namespace shardscope::ui {

/// What a job tells while it runs.
struct LiveJob {
  std::int64_t id = 0;
  service::JobKind kind = service::JobKind::run;
  bool paused = false;
  double share = 0;
  std::string detail;
  std::map<std::int64_t, std::int64_t> side_of_run;  ///< 0 A, 1 B
  std::map<std::int64_t, std::string> mode_of_run;
  std::vector<std::int64_t> runs;                                      ///< in the order they began
  std::vector<service::CurveSample> fresh_points;                      ///< of a training
  std::vector<std::pair<std::int64_t, std::vector<Iteration>>> fresh;  ///< side and iterations
  std::int64_t dropped = 0;
  bool told_silent = false;  ///< the person knows that nothing is heard of it
};

/// How a job ended.
struct EndedJob {
  service::JobKind kind = service::JobKind::run;
  std::vector<std::int64_t> runs;  ///< that it recorded, in order
  std::string result_json;
  std::optional<Error> error;
};

/// The engine's answer to an edit: the row of a new layout, else 0.
struct EditAnswer {
  std::int64_t id = 0;
  Result<std::int64_t> row = 0;
};

class EngineLink {
 public:
  /// `arguments` start the engine; `wake` is called from another thread when something arrived.
  EngineLink(std::vector<std::string> arguments, std::function<void()> wake);
  /// A plan that it still makes fails with that reason.
  ~EngineLink();
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;

  /// Starts a job in the session file at `session`; empty: one that records nothing. Error: no
  /// engine can be started.
  [[nodiscard]] Status start_job(const std::string& session, service::StartJob job);
  void pause(bool paused);
  /// Asks the running job to move to that layout; what comes of it: take_moved().
  void apply(std::string layout_json);
  [[nodiscard]] bool moving() const { return apply_request_ != 0; }
  /// How the last move ended, once.
  [[nodiscard]] std::optional<Status> take_moved() { return std::exchange(moved_, std::nullopt); }
  /// Lets the engine plan, beside what else it does. Error: no engine can be started.
  [[nodiscard]] Result<std::shared_ptr<EnginePlan>> start_plan(service::StartJob job,
                                                               PlanRequest request);
  /// Starts the engine if need be and asks what its machine can do: machine().
  [[nodiscard]] Status ask_machine();
  [[nodiscard]] const EngineMachine& machine() const { return machine_; }
  /// Whether the engine lives here and has that session file, which it alone may write then.
  [[nodiscard]] bool holds(const std::string& session) const;
  /// Asks for a change of the session that it holds; the id of the request.
  [[nodiscard]] std::int64_t send_edit(service::Edit edit);
  [[nodiscard]] std::vector<EditAnswer> take_answers() { return std::exchange(answers_, {}); }
  /// Asks the job to end; what was measured is kept. An engine that has not ended it after
  /// kStopsWithin, or when asked again, is given up.
  void stop();
  /// Kills an engine that does not answer; its job fails with that reason.
  void abandon(const std::string& why) { client_.abandon(why); }
  /// How long a job that should be telling something has told nothing; 0 where none runs.
  [[nodiscard]] std::chrono::milliseconds silence() const;
  static constexpr std::chrono::seconds kStopsWithin{10};
  /// From here on silence is told.
  [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  /// Takes in what arrived. A job that ended comes back once.
  [[nodiscard]] std::optional<EndedJob> poll();

  [[nodiscard]] LiveJob* job() { return job_ ? &*job_ : nullptr; }
  [[nodiscard]] const LiveJob* job() const { return job_ ? &*job_ : nullptr; }
  /// "engine: idle, local", "engine stopped (signal 9). Edits are safe."
  [[nodiscard]] std::string state_words() const;
  [[nodiscard]] std::string last_words() const { return client_.last_words(); }
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  void take(const service::Message& message, std::optional<EndedJob>& ended);
  void take_answer(const service::Message& message);
  void take_machine(const service::Message& message);
  void take_plan(const service::Message& message);
  [[nodiscard]] Status start_engine();

  std::vector<std::string> arguments_;
  service::Client client_;
  std::string session_;
  std::int64_t open_request_ = 0;
  std::int64_t apply_request_ = 0;  ///< unanswered; 0: none
  std::int64_t machine_request_ = 0;
  std::optional<Status> moved_;
  std::int64_t plan_request_ = 0;
  std::weak_ptr<EnginePlan> plan_;
  EngineMachine machine_;
  std::optional<LiveJob> job_;
  std::optional<std::chrono::steady_clock::time_point> stopping_;  ///< asked to, at
  std::chrono::milliseconds patience_ = std::chrono::seconds(20);
  std::set<std::int64_t> edits_;  ///< unanswered
  std::vector<EditAnswer> answers_;
};

/// {"…/shardscope", "serve"} beside this program, else from PATH; "ssh HOST shardscope serve" typed
/// by a person as its words.
[[nodiscard]] std::vector<std::string> local_engine();
[[nodiscard]] std::vector<std::string> engine_of_line(const std::string& line);

}  // namespace shardscope::ui
