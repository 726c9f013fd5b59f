#pragma once
// Runs a layout for real: a set of ranks with their tables, streams and communicators.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/codec/bound_decay.hpp"
#include "engine/comm/wire_throttle.hpp"
#include "engine/pipeline/faults.hpp"
#include "engine/pipeline/initial_weights.hpp"
#include "engine/stream.hpp"
#include "layout/bytes.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/layout.hpp"
#include "layout/memory.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "profiler/codec_work.hpp"
#include "profiler/span.hpp"

namespace shardscope {
class Recorder;
class WorkTracer;
}  // namespace shardscope

namespace shardscope::engine {

class Communicator;
class Device;

enum class CommKind : std::uint8_t { threads, loopback, nccl };

struct EngineConfig {
  Workload workload;
  Topology topology;
  Layout layout;
  ScheduleKind schedule = ScheduleKind::serial;
  CommKind comm = CommKind::threads;
  WireThrottle wire;
  std::uint64_t seed = 0;
  std::int32_t batches = 4;  ///< global batches generated ahead and cycled through
  double loss_scale = 1;     ///< power of two; for 16-bit wires
  BoundDecay decay;          ///< of the bounds of the layout's codecs
  InitialWeights initial = InitialWeights::uniform;
  bool deferred_streams = false;       ///< debug: StreamMode::deferred
  std::shared_ptr<Device> device;      ///< null: the cpu device
  std::shared_ptr<WorkTracer> tracer;  ///< hears of every step; may be null
  Fault fault = Fault::none;           ///< tests only
  /// Puts something between a rank and its communicators; null: nothing. Tests only.
  std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)> wrap_communicator;
};

/// Times of a block of iterations.
struct Block {
  /// threads, nccl: start is the end of the iteration before (of the first: when its first step
  /// began), end is when the slowest rank was done. loopback: as the simulator composes them, one
  /// after the other from when the block began. ns since the recorder's epoch, or the engine's
  /// without one.
  std::vector<Iteration> iterations;
  /// Per iteration: the longest chain of steps (order of streams and waits), each taking the busy
  /// time of its slowest rank. What an iteration would take if ranks did not share cores and wires
  /// cost nothing.
  std::vector<double> critical_path_ms;
  /// What codecs did, where the block was traced.
  std::vector<CodecWork> codec_work;
};

/// Gradient of the loss with respect to every feature's output, given instead of the dense part
/// (tests). Filled by the caller: samples x output width of the feature, one vector a feature.
using GivenGradients =
    std::function<void(std::int64_t iteration, std::int32_t rank, const RankBatch& batch,
                       std::vector<std::vector<float>>& gradients)>;

/// All ranks of one run in this process. Not thread-safe; abort() may come from any thread.
class Engine {
 public:
  /// Checks the layout, generates batches, allocates every arena, fills the tables.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> create(
      EngineConfig config, std::shared_ptr<const BatchSource> source,
      GivenGradients given = nullptr);

  virtual ~Engine() = default;

  /// Runs `iterations` iterations; with a recorder, spans go there (traced). The recorder's cost is
  /// nothing when null.
  [[nodiscard]] virtual Result<Block> run(std::int32_t iterations, Recorder* recorder) = 0;

  /// Moves shards to a new layout keeping weights and optimizer state.
  [[nodiscard]] virtual Status apply(const Layout& layout) = 0;

  /// Weights of a table assembled from its shards, rows x dim, fp32.
  [[nodiscard]] virtual std::vector<float> weights(std::int32_t table) const = 0;
  /// Forward output of a feature on a rank after the last iteration (samples x output width).
  [[nodiscard]] virtual std::vector<float> output(std::int32_t feature,
                                                  std::int32_t rank) const = 0;

  /// Loss and AUC on the first `batches` batches of an evaluation source, no update. Outputs then
  /// are those of the last evaluated batch.
  struct Evaluation {
    double loss = 0;
    double auc = 0;
    std::int64_t samples = 0;
  };
  [[nodiscard]] virtual Result<Evaluation> evaluate(const BatchSource& source,
                                                    std::int32_t batches) = 0;

  /// Bytes each rank's communicators counted in the last iteration.
  [[nodiscard]] virtual std::vector<RankTraffic> traffic() const = 0;
  /// What codecs made of each rank's messages in the last iteration, by [cluster][direction].
  using CodedTraffic = std::array<std::array<CodedBytes, 2>, kClusterTypes>;
  [[nodiscard]] virtual std::vector<CodedTraffic> coded() const { return {}; }
  /// What ran as graphs, all ranks since the last layout was applied.
  [[nodiscard]] virtual GraphCounts graph_counts() const { return {}; }
  /// Largest use of each rank's arena so far.
  [[nodiscard]] virtual std::vector<std::int64_t> arena_peak_bytes() const = 0;
  [[nodiscard]] virtual const EngineConfig& config() const = 0;
  /// steady_ns() that untraced blocks' times count from: a recorder with this epoch puts the traced
  /// ones on the same axis.
  [[nodiscard]] virtual std::int64_t epoch_ns() const = 0;
  /// measured, or emulated under a throttle or loopback.
  [[nodiscard]] virtual Mode mode() const = 0;

  /// Ends a running run() within 1 s with an error that carries the reason.
  virtual void abort(const Error& reason) = 0;
};

}  // namespace shardscope::engine
