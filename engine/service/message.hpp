#pragma once
// The messages of the protocol (docs/protocol.md) as plain values. Every message carries an id: a
// request's id is chosen by who asks and stands in its reply and in every event that follows from
// it. Texts named *_json are the versioned documents of docs/formats.md or results as `--json`
// prints them.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/service/frame.hpp"
#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "profiler/span.hpp"

namespace shardscope::service {

inline constexpr std::int64_t kProtocol = 1;

// ---- desktop to engine

/// Must be the first request.
struct Hello {
  std::int64_t id = 0;
  std::int64_t protocol = kProtocol;
  std::string program;  ///< "shardscope-gui 0.1.0"
};

/// Opens the session that later requests write to; another one is closed before.
struct OpenSessionFile {
  std::int64_t id = 0;
  std::string path;
};

enum class JobKind : std::uint8_t { run, compare, train, calibrate, plan };

/// How a job runs, as the options of the commands of the same names; 0 and "" are their defaults.
struct JobSettings {
  std::string backend = "cpu";
  std::string comm = "threads";
  std::string wire;
  std::string dense_math = "tf32";  ///< cuda: tf32 | bf16 | host
  bool graphs = false;              ///< cuda: stages as graphs
  std::string schedule = "serial";
  std::string range_policy = "wrap";
  std::uint64_t seed = 1;
  std::int64_t iterations = 0;
  double budget_s = 0;
  double target = 0;                ///< compare: half width of the interval, as a share
  std::int64_t evaluate_every = 0;  ///< train: iterations
  bool gpu_trace = false;           ///< run: GPU activity instead of throughput
  std::string parts;                ///< calibrate: names with commas between; empty: all
  std::string planner;              ///< plan: a name; empty: optimize. budget_s is its time limit
  std::string executor;             ///< plan: who will train it; empty: engine
  std::string rules;                ///< plan: planner/plan_rules.hpp
  std::string pinned;               ///< plan: tables that stay as placed, numbers with commas

  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

/// Starts a worker. Events follow; the reply comes at the end with the job's figures.
struct StartJob {
  std::int64_t id = 0;
  JobKind kind = JobKind::run;
  std::string workload_json;
  std::string topology_json;
  std::vector<std::string> layout_jsons;  ///< one; two for compare: A, B; none for calibrate;
                                          ///< plan: the layout in use
  JobSettings settings;
};

/// Moves a running `run` or `train` job to another layout; its records go on as a run of their own.
struct ApplyLayout {
  std::int64_t id = 0;
  std::int64_t job = 0;
  std::string layout_json;
};

/// The job ends at the next good moment and keeps what was measured.
struct CancelJob {
  std::int64_t id = 0;
  std::int64_t job = 0;
};

/// Between blocks; a paused job's time does not count against its budget.
struct PauseJob {
  std::int64_t id = 0;
  std::int64_t job = 0;
  bool paused = true;
};

/// A question; what = machine | session | layouts | layout (row = its id).
struct Query {
  std::int64_t id = 0;
  std::string what;
  std::int64_t row = 0;
};

/// A change of the session's documents. The engine is the one writer.
struct Edit {
  std::int64_t id = 0;
  std::string what;      ///< layout | note | prediction | reference
  std::int64_t row = 0;  ///< the layout changed; 0 for a new one
  std::string workload_json;
  std::string topology_json;
  std::string layout_json;
  std::string text;  ///< the note, or the prediction's JSON
};

// ---- engine to desktop

/// A request that succeeded; what it returned is one JSON object.
struct Reply {
  std::int64_t id = 0;
  std::string result_json = "{}";
};

struct Failure {
  std::int64_t id = 0;
  Error error;
};

/// Id of the Failure that an engine sends a worker unasked when the session refuses its records.
inline constexpr std::int64_t kRecordsLost = 0;

struct JobProgress {
  std::int64_t id = 0;
  double share = 0;  ///< 0..1
  std::string detail;
  double best_s = 0;  ///< plan: the best iteration so far; 0: none
};

/// A job began to record a run of the session; `side` 0 is A, 1 is B.
struct RunBegun {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t side = 0;
  std::string mode;
};

/// Iterations as they happen. Old ones are dropped where the reader is slow.
struct Samples {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::vector<Iteration> iterations;
};

/// Samples that a slow reader lost since the last such message.
struct SamplesDropped {
  std::int64_t id = 0;
  std::int64_t iterations = 0;
};

/// An evaluation of a training job, or the training loss since the one before.
struct CurveSample {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::string split;  ///< train | eval
  std::int64_t iteration = 0;
  std::int64_t samples = 0;  ///< seen in training
  double loss = 0;           ///< NaN where it was not computed
  double auc = 0;            ///< NaN in training
};

// ---- worker to engine: the records of its runs. `run` is the number that BeginRun's reply gave.

struct BeginRun {
  std::int64_t id = 0;
  RunInfo info;
};

struct RecordSpans {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::vector<Span> spans;
};

struct RecordIterations {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::vector<Iteration> iterations;
};

struct RecordActivities {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::vector<ActivityRecord> activities;
};

struct RecordDropped {
  std::int64_t id = 0;
  std::int64_t run = 0;
  std::int64_t records = 0;
};

struct EndRun {
  std::int64_t id = 0;
  std::int64_t run = 0;
  RunSummary summary;
};

/// A comparison or the points of a learning curve; the session's owner knows the JSON.
struct RecordResult {
  std::int64_t id = 0;
  std::string what;  ///< comparison | curve
  std::string json;
};

using Message = std::variant<Hello, OpenSessionFile, StartJob, ApplyLayout, CancelJob, PauseJob,
                             Query, Edit, Reply, Failure, JobProgress, RunBegun, Samples,
                             SamplesDropped, CurveSample, BeginRun, RecordSpans, RecordIterations,
                             RecordActivities, RecordDropped, EndRun, RecordResult>;

[[nodiscard]] std::int64_t id_of(const Message& message);

[[nodiscard]] Frame frame_of(const Message& message);

/// Errors name the message's type and the field; unknown types and fields are refused.
[[nodiscard]] Result<Message> message_of(const Frame& frame);

/// The id of a frame that message_of() refuses, so that its error can be answered; 0 where there is
/// none.
[[nodiscard]] std::int64_t id_of_refused(const Frame& frame);

}  // namespace shardscope::service
