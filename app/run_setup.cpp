#include "app/run_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>

#include "app/gpu_access.hpp"
#include "app/machine.hpp"
#include "app/text_table.hpp"
#include "app/values.hpp"
#include "layout/bytes.hpp"
#include "layout/json.hpp"

namespace shardscope::app {
namespace {

/// Power of two that keeps small gradients above fp16's smallest normal value.
constexpr double kHalfLossScale = 1024;

/// Wires on which one iteration takes longer are refused: no run of them ever ends.
constexpr double kLongestWireSeconds = 600;
/// Wires on which one iteration takes longer are announced.
constexpr double kLongWireSeconds = 5;

/// Seconds that the busiest rank needs at least to send its bytes of an iteration over throttled
/// wires, before codecs; 0 without a throttle, and on loopback, whose wires keep nobody waiting.
double wire_seconds(const engine::EngineConfig& config) {
  if (!config.wire.any() || config.comm != engine::CommKind::threads) return 0;
  double most_s = 0;
  for (const RankTraffic& rank : traffic_of(config.workload, config.topology, config.layout,
                                            expected_counts(config.workload, config.layout))) {
    const LinkBytes bytes = rank.total();
    most_s = std::max({most_s, static_cast<double>(bytes.intra) / config.wire.intra_bytes_per_s,
                       static_cast<double>(bytes.inter) / config.wire.inter_bytes_per_s});
  }
  return most_s;
}

Status require_wire(const RunOptions& options, const engine::EngineConfig& config) {
  const double seconds = wire_seconds(config);
  if (seconds <= kLongestWireSeconds) return {};
  return fail(
      {ErrorKind::usage,
       fmt::format("on wires this slow one iteration of {} takes {} at least", config.layout.name,
                   duration_text(seconds)),
       "--wire " + options.wire,
       fmt::format("GB/s that carry an iteration within {}", duration_text(kLongestWireSeconds)),
       "Give faster wires, or a smaller batch (--batch N)"});
}

/// A slow wire's run is silent for long: says so before it begins.
void announce_slow_wire(const RunOptions& options, const engine::EngineConfig& config) {
  const double seconds = wire_seconds(config);
  if (seconds < kLongWireSeconds) return;
  fmt::print(stderr, "shardscope: on --wire {} one iteration of {} takes {} at least\n",
             options.wire, config.layout.name, duration_text(seconds));
}

}  // namespace

std::string default_session_path(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[32];
  std::strftime(date, sizeof date, "%Y%m%d-%H%M%S", &local);
  return fmt::format("./{}-{}.shardscope", command, date);
}

Result<std::unique_ptr<OpenSession>> OpenSession::open(const std::string& path,
                                                       const std::string& command) {
  std::string where = path.empty() ? default_session_path(command) : path;
  std::error_code error;
  const bool created = !std::filesystem::exists(where, error);
  Result<storage::Session> session = storage::Session::open_or_create(where);
  if (!session) return fail(session.error());
  std::unique_ptr<OpenSession> open(
      new OpenSession(std::move(*session), std::move(where), created));
  open->writer_ = std::make_unique<storage::SessionWriter>(open->session_);
  return open;
}

OpenSession::~OpenSession() {
  if (!closed_) (void)close();
  std::error_code error;
  if (created_ && !used_) std::filesystem::remove(path_, error);
}

storage::SessionWriter& OpenSession::records() {
  used_ = true;
  return *writer_;
}

Status OpenSession::save_comparison(const storage::ComparisonRecord& comparison) {
  if (const auto saved = storage::save_comparison(session_, comparison); !saved) {
    return fail(saved.error());
  }
  return {};
}

Status OpenSession::save_curve(std::int64_t run, std::span<const storage::CurvePoint> points) {
  return storage::save_curve(session_, run, points);
}

Status OpenSession::close() {
  closed_ = true;
  const Status written = writer_->flush();
  writer_.reset();
  const Status closed = session_.close();
  return written ? closed : written;
}

Result<engine::EngineConfig> engine_config(const RunOptions& options, const Inputs& inputs,
                                           const Layout& layout) {
  const Result<engine::CommKind> comm = parse_comm(options.backend, options.comm);
  if (!comm) return fail(comm.error());
  const Result<engine::WireThrottle> wire = parse_wire(options.wire);
  if (!wire) return fail(wire.error());
  if (Status status = require_valid(inputs, layout, Executor::engine); !status) {
    return fail(status.error());
  }
  auto device = open_device(options, inputs.topology);
  if (!device) return fail(device.error());
  engine::EngineConfig config;
  config.device = std::move(*device);
  config.workload = inputs.workload;
  config.topology = inputs.topology;
  config.layout = layout;
  config.schedule = options.schedule;
  config.comm = *comm;
  config.wire = *wire;
  config.seed = options.seed;
  config.decay = options.decay;
  config.loss_scale = inputs.workload.wire == DType::fp16 ? kHalfLossScale : 1;
  if (Status wires = require_wire(options, config); !wires) return fail(wires.error());
  return config;
}

std::int64_t process_bytes(const Inputs& inputs, const Layout& layout) {
  std::int64_t bytes = 0;
  for (MemoryUse use : memory_of(inputs.workload, inputs.topology, layout, Executor::engine).gpus) {
    use.reserve = 0;
    bytes = saturating_add(bytes, use.total());
  }
  return bytes;
}

Status require_memory(std::int64_t bytes, engine::Device* device) {
  std::int64_t available = 0;
  if (device != nullptr) {
    const Result<std::int64_t> free_bytes = device->available_bytes();
    if (!free_bytes) return fail(free_bytes.error());
    available = *free_bytes;
  } else {
    available = this_machine().memory_available_bytes;
    if (available == 0) return {};
  }
  if (bytes <= available) return {};
  return fail({ErrorKind::infeasible,
               fmt::format("all ranks together need {}, {} {} available",
                           bytes_text(static_cast<double>(bytes)),
                           device != nullptr ? "their GPUs have" : "this machine has",
                           bytes_text(static_cast<double>(available))),
               "memory", "", "Shrink the tables with --rows-cap N or the batch with --batch N"});
}

Result<std::unique_ptr<engine::Engine>> make_engine(const RunOptions& options, const Inputs& inputs,
                                                    const Layout& layout,
                                                    std::shared_ptr<WorkTracer> tracer) {
  Result<engine::EngineConfig> config = engine_config(options, inputs, layout);
  if (!config) return fail(config.error());
  config->tracer = std::move(tracer);
  const std::int64_t bytes = process_bytes(inputs, layout);
  if (Status fits = require_memory(bytes, config->device.get()); !fits) return fail(fits.error());
  announce_preparation(bytes);
  announce_slow_wire(options, *config);
  Result<std::unique_ptr<engine::BatchSource>> source =
      engine::make_batch_source(inputs.workload, options.seed, options.range_policy);
  if (!source) return fail(source.error());
  return engine::Engine::create(std::move(*config), std::move(*source));
}

RunInfo run_info(const RunOptions& options, const Inputs& inputs, const Layout& layout) {
  RunInfo info;
  info.label = layout.name;
  info.executor = Executor::engine;
  info.schedule = to_string(options.schedule);
  info.workload_json = to_json(inputs.workload);
  info.topology_json = to_json(inputs.topology);
  info.layout_json = to_json(layout);
  info.environment_json = environment_json(this_machine());
  info.seed = options.seed;
  info.global_batch = inputs.workload.global_batch;
  info.rows_cap = inputs.workload.rows_cap;
  info.ranks = inputs.topology.ranks();
  return info;
}

RunInfo run_info(const RunOptions& options, const Inputs& inputs, const Layout& layout,
                 const engine::Engine& engine) {
  RunInfo info = run_info(options, inputs, layout);
  info.mode = engine.mode();
  info.backend = options.backend;
  info.comm = options.comm;
  info.wire = options.wire;
  info.epoch_ns = engine.epoch_ns();
  info.gpus = gpus_of(options, inputs.topology);
  return info;
}

void announce_preparation(std::int64_t bytes) {
  if (bytes < (std::int64_t{256} << 20)) return;
  fmt::print(stderr, "shardscope: generating batches and filling {} of tables and buffers\n",
             bytes_text(static_cast<double>(bytes)));
}

std::string mode_word(Mode mode) {
  std::string word = to_string(mode);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return word;
}

std::string run_line(const RunOptions& options, const Inputs& inputs) {
  const Topology& topology = inputs.topology;
  std::string line = fmt::format(
      "{}, batch {}, {} as {}x{} ({}), {}/{}", inputs.workload.name,
      grouped(inputs.workload.global_batch), counted(topology.ranks(), "rank"), topology.hosts,
      topology.gpus_per_host, topology.name, options.backend, options.comm);
  if (!options.wire.empty()) line += fmt::format(", wire {} GB/s", options.wire);
  line += fmt::format(", schedule {}, seed {}", to_string(options.schedule), options.seed);
  const bool dense = inputs.workload.dense.interaction != Interaction::none;
  if (!dense) line += ", no dense part";
  if (options.backend == "cuda" && dense) line += ", dense part in " + options.dense_math;
  if (options.backend == "cuda" && options.graphs) line += ", graphs";
  if (inputs.workload.rows_cap > 0) {
    line += fmt::format(", rows capped at {}", grouped(inputs.workload.rows_cap));
  }
  return line;
}

}  // namespace shardscope::app
