#pragma once
// What a person asked for, as plain values: command_line fills them, the commands read them.
// Names of things (models, topologies, layouts) stay text here; inputs.hpp resolves them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/codec/bound_decay.hpp"
#include "layout/executor.hpp"
#include "layout/schedule.hpp"

namespace shardscope::app {

struct GpuAccess;

/// The model and the machine.
struct InputOptions {
  std::string workload;       ///< NAME or FILE
  std::string topology;       ///< NAME[:NODES[xGPUS]] or FILE; empty: host-cpu with `ranks` ranks
  std::int32_t ranks = 0;     ///< must equal the topology's; 0: the topology decides
  std::int64_t batch = 0;     ///< global; 0: the workload's
  std::int64_t rows_cap = 0;  ///< 0: tables keep their rows
  bool no_dense = false;      ///< embeddings alone
  std::string reuse;          ///< FILE[#BATCH] of reuse histograms that replace the ids' laws
  std::string calibration;    ///< file with this machine's constants; empty: the topology's own
};

/// How it runs.
struct RunOptions {
  std::string backend = "cpu";
  std::string comm = "threads";
  std::string wire;                 ///< GB/s[,GB/s]
  std::string dense_math = "tf32";  ///< cuda: tf32 | bf16 | host
  bool graphs = false;              ///< cuda: iterations as graphs
  ScheduleKind schedule = ScheduleKind::serial;
  std::int64_t iterations = 0;  ///< 0: the command decides
  double budget_s = 0;          ///< 0: the command decides
  std::uint64_t seed = 1;
  engine::RangePolicy range_policy = engine::RangePolicy::wrap;
  engine::BoundDecay decay;              ///< of the bounds of the layout's codecs
  std::shared_ptr<const GpuAccess> gpu;  ///< null: this machine's
};

/// Who will train, for predictions.
struct PredictHow {
  Executor executor = Executor::engine;
  std::optional<ScheduleKind> schedule;  ///< none: the executor's usual one
};

struct ModelsOptions {
  std::string name;  ///< empty: the list
  bool json = false;
};

struct TopologiesOptions {
  std::string name;
  bool json = false;
};

struct StatsOptions {
  InputOptions inputs;
  std::int64_t iterations = 8;  ///< global batches looked at
  std::uint64_t seed = 1;
  engine::RangePolicy range_policy = engine::RangePolicy::wrap;
  std::string session;
  bool compression = false;  ///< what each codec makes of each table
  bool json = false;
};

struct CheckOptions {
  InputOptions inputs;
  std::string layout;
  Executor executor = Executor::engine;
  std::string save;  ///< file to write the layout to; empty: none
  bool json = false;
};

/// Codecs in place of the layout's own.
struct CodecRequest {
  std::string codec;  ///< of all tables between fast domains; "auto": chosen for each table and
                      ///< hop; empty: the layout's own
  double bound = 0.03;
  bool absolute = false;
  std::string backward_codec = "bf16";
};

struct ProfileOptions {
  InputOptions inputs;
  RunOptions run;
  Executor executor = Executor::engine;  ///< others: backend sim alone
  bool schedule_given = false;           ///< else a simulated executor keeps its usual one
  std::string layout;
  CodecRequest codecs;
  std::string session;
  bool json = false;
  bool no_gpu_trace = false;  ///< cuda: no second process records the GPU's activity
  std::string trace_into;     ///< this is that process: the session to write to
};

struct PredictCommandOptions {
  InputOptions inputs;
  PredictHow how;
  std::string layout;
  bool json = false;
};

struct ExplainOptions {
  InputOptions inputs;
  PredictHow how;
  std::string layout;
  std::string table;    ///< its arithmetic; empty: the costliest of the critical rank
  CodecRequest codecs;  ///< whose arithmetic is shown besides those in place
  std::string wire;     ///< GB/s[,GB/s] in place of the topology's links; empty: its own
  bool json = false;
};

struct PlanOptions {
  InputOptions inputs;
  PredictHow how;
  std::string planner = "optimize";
  std::vector<std::string> settings;   ///< KEY=VALUE
  std::vector<std::string> pins;       ///< TABLE=CLUSTER or TABLE=RANK[,RANK...]
  std::vector<std::string> forbidden;  ///< ranks
  std::vector<std::string> together;   ///< TABLE,TABLE[,...]
  double time_limit_s = 0;             ///< 0: none
  std::uint64_t seed = 1;
  CodecRequest codecs;  ///< that it may choose
  std::string wire;     ///< GB/s[,GB/s] in place of the topology's links; empty: its own
  std::string out;      ///< layout file; empty: none
  bool json = false;
};

struct SweepOptions {
  InputOptions inputs;
  PredictHow how;
  std::vector<std::int32_t> nodes;
  std::vector<std::int64_t> batches;
  std::vector<std::string> planners, optimizers, dtypes, wires;
  std::string csv;  ///< file; empty: none
  bool json = false;
};

struct DiffOptions {
  InputOptions inputs;
  PredictHow how;
  std::vector<std::string> layouts;  ///< A, B
  bool json = false;
};

struct CompareOptions {
  InputOptions inputs;
  RunOptions run;
  std::vector<std::string> layouts;  ///< A, B
  CodecRequest codecs;               ///< of B
  double target = 0;                 ///< half width as a share; 0: none
  std::string session;
  bool json = false;
};

struct TrainOptions {
  InputOptions inputs;
  RunOptions run;
  std::string layout;
  std::int64_t evaluate_every = 0;  ///< iterations; 0: 20 points in all
  std::int64_t evaluation_batches = 8;
  CodecRequest codecs;
  std::string curve;  ///< CSV file to write; empty: none
  std::string session;
  bool json = false;
};

struct InspectOptions {
  std::string session;
  std::int64_t run = 0;  ///< 0: all runs
  bool json = false;
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string from;          ///< kind; empty: by content
  std::string workload;      ///< sizes for files without; empty: none
  std::string topology;      ///< empty: from the file
  std::string kernel_map;    ///< rules before the built-in ones; empty: none
  std::int64_t plan = 0;     ///< which of the file's plans --out writes; 0: the first
  std::string out;           ///< layout file
  std::string workload_out;  ///< workload file
  std::string topology_out;
  std::string session;
  bool json = false;
};

struct ExportOptions {
  std::string input;  ///< session or layout file
  std::string to;
  std::int64_t run = 0;     ///< of a session
  std::int64_t layout = 0;  ///< of a session; 0: the run's, else the starred, else the latest
  InputOptions inputs;      ///< for layout files
  std::string format;       ///< hugectr: python | json
  std::string out;          ///< empty: stdout
  bool json = false;
};

struct TuneBoundsOptions {
  InputOptions inputs;
  std::string layout;
  std::uint64_t seed = 1;
  engine::RangePolicy range_policy = engine::RangePolicy::wrap;
  double tight = 0.01;  ///< bounds of the classes, as shares of the range
  double base = 0.03;
  double loose = 0.05;
  std::string wire;  ///< GB/s[,GB/s] in place of the topology's links; empty: its own
  std::string save;  ///< file to write the layout to; empty: none
  bool json = false;
};

struct CodecOptions {
  std::string file;  ///< fp32, little-endian, rows x dim
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::string codec = "all";
  double bound = 0.03;
  bool absolute = false;  ///< else the bound is a share of the values' range
  bool json = false;
};

struct CalibrateOptions {
  std::vector<std::string> files;  ///< of another's measurements; empty: this machine is measured
  std::string from;                ///< their kind
  std::string kernel_map;          ///< rules before the built-in ones; empty: none
  std::string backend = "cpu";
  std::string comm = "threads";
  std::string topology;           ///< empty: host-cpu
  std::int32_t ranks = 0;         ///< 0: the topology's, else 2
  std::vector<std::string> only;  ///< parts; empty: all
  double budget_s = 30;
  std::uint64_t seed = 1;
  std::string out;           ///< calibration file
  std::string topology_out;  ///< topology file with the constants in it
  bool json = false;
};

struct ReportOptions {
  std::string session;
  std::int64_t run = 0;  ///< 0: all
  std::string out;
  bool json = false;
};

struct DoctorOptions {
  bool json = false;
};

}  // namespace shardscope::app
