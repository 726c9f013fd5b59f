#pragma once
// One rank: its memory, streams, channels and clusters, and the walk along the Schedule.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/comm/fabric.hpp"
#include "engine/device.hpp"
#include "engine/engine.hpp"
#include "engine/pipeline/cluster.hpp"
#include "engine/pipeline/dense_stage.hpp"
#include "engine/pipeline/graph_segments.hpp"
#include "engine/pipeline/probed_communicator.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "engine/pipeline/staged_batches.hpp"
#include "engine/pipeline/step_times.hpp"

namespace shardscope {
class Recorder;
}

namespace shardscope::engine {

/// The batches of a run, generated ahead: [batch][rank]; iteration i runs batch i % size.
using BatchRing = std::vector<std::vector<RankBatch>>;

[[nodiscard]] inline std::size_t slot_of(std::int64_t iteration) {
  return static_cast<std::size_t>(iteration) % kBatchSlots;
}

/// Whether the step exchanges vectors that may be coded: equal on all ranks.
[[nodiscard]] bool codes(const RunPlan& plan, const ScheduleStep& step);

/// One block of iterations.
struct BlockRequest {
  std::int64_t first_iteration = 0;
  std::int32_t iterations = 0;
  Recorder* recorder = nullptr;  ///< gets a span as each step ends; null: none
  bool traced = false;           ///< spans are recorded, as the steps end or behind the block
};

class RankRunner {
 public:
  /// `batches` outlive the runner; on a device they are copied there.
  [[nodiscard]] static Result<std::unique_ptr<RankRunner>> create(const RunPlan& plan,
                                                                  std::int32_t rank, Fabric& fabric,
                                                                  StreamMode mode, Ops& ops,
                                                                  const BatchRing& batches,
                                                                  const GivenGradients* given);
  ~RankRunner();
  RankRunner(const RankRunner&) = delete;
  RankRunner& operator=(const RankRunner&) = delete;

  /// Runs the block on the calling thread, the rank's host thread.
  [[nodiscard]] Status run(const BlockRequest& request);
  /// Spans of the last block, where its times are known only now (has_device_clock()): iteration
  /// first_iteration + n.
  void record_iteration(const BlockRequest& request, std::int32_t n, Recorder& recorder) const;
  [[nodiscard]] bool has_device_clock() const { return streams_.front()->has_device_clock(); }

  /// Forward pass of a batch that is not trained on. Between blocks.
  [[nodiscard]] Status evaluate(const RankBatch& batch, std::int64_t iteration);
  /// The dense part; null without one.
  [[nodiscard]] DenseStage* dense() { return dense_.get(); }

  /// Sum of the loss over the rank's samples, by iteration of the last block.
  [[nodiscard]] const std::vector<double>& loss_sums() const { return loss_sums_; }
  /// Times of the last block's steps, [iteration * steps + step].
  [[nodiscard]] const std::vector<StepTimes>& times() const { return times_; }
  /// Bytes sent for the batch of the last iteration.
  [[nodiscard]] RankTraffic traffic() const;
  /// Of all streams since they were made.
  [[nodiscard]] GraphCounts graph_counts() const;
  /// What codecs made of the last iteration's messages.
  [[nodiscard]] Engine::CodedTraffic coded() const;
  /// What codecs did in the last block, by stream; empty where it was not traced.
  [[nodiscard]] const std::vector<std::vector<CodecWork>>& codec_work() const {
    return codec_work_;
  }
  /// Returns when the streams have run everything.
  void settle();
  /// A prefetched batch must not be used any more (its tables or batches have changed).
  void forget_prefetch() { prefetched_iteration_ = -1; }

  [[nodiscard]] RankMemory& memory() { return *memory_; }
  [[nodiscard]] const RankMemory& memory() const { return *memory_; }

 private:
  /// What create() has made.
  struct Parts {
    std::unique_ptr<RankMemory> memory;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Stream>> helpers;
    std::unique_ptr<DenseStage> dense;  ///< computes on the streams
    StagedBatches staged;
  };

  /// Steps that run as one graph, or as they come.
  struct Segment {
    GraphSegment steps;
    std::vector<Stream*> joined;  ///< to the stream that launches
    bool exchanges = false;       ///< holds collectives: all ranks launch it or none
    std::string label;            ///< of its stages, in errors
  };

  RankRunner(const RunPlan& plan, Parts parts, Fabric& fabric, StreamMode mode, Ops& ops,
             const BatchRing& batches, const GivenGradients* given);

  [[nodiscard]] static Status make_streams(const RunPlan& plan, std::int32_t rank, StreamMode mode,
                                           Parts& parts);
  [[nodiscard]] const BatchView& batch(std::int64_t iteration) const;
  [[nodiscard]] Status prefetch_first(std::int64_t iteration);
  /// The rank's part fits the buffers it goes into.
  [[nodiscard]] Status admit_batch(const BatchView& batch) const;
  [[nodiscard]] Status run_iteration(std::int64_t iteration, StepTimes* times);
  [[nodiscard]] Status run_step(std::size_t index, const BatchView& batch, std::int64_t iteration,
                                StepTimes* times, bool waits);
  [[nodiscard]] Status run_steps(const GraphSegment& segment, std::int64_t iteration,
                                 StepTimes* times);
  [[nodiscard]] Status run_graph(std::size_t number, std::int64_t iteration, StepTimes* times);
  void make_segments();
  /// No host waits in it, and its sizes are those of every iteration.
  [[nodiscard]] bool goes_into_graph(const ScheduleStep& step) const;
  [[nodiscard]] std::size_t graph_key(std::size_t segment, std::int64_t iteration) const;
  [[nodiscard]] Status run_stage(const ScheduleStep& step, const StageCall& call);
  [[nodiscard]] Cluster* cluster_of(Work work) const;
  void await_slot(std::int64_t iteration);
  void begin_iteration(std::int64_t iteration);
  void give_gradients(std::int64_t iteration);
  void end_iteration(std::int64_t iteration);
  void end_step(Stream& stream, StepTimes* times, std::size_t index, std::int64_t iteration);
  void record(std::size_t index, std::int64_t iteration, const StepTimes& times,
              Recorder& recorder) const;
  void record_codecs(std::size_t index, std::int64_t iteration);

  const RunPlan& plan_;
  std::unique_ptr<RankMemory> memory_;
  const BatchRing& batches_;
  StagedBatches staged_;      ///< of the ring, this rank's parts
  StagedBatches evaluation_;  ///< the batch of the last evaluate()
  const GivenGradients* given_;
  StreamMode mode_;
  std::vector<std::string> labels_;  ///< by step; outlive the communicators
  std::vector<std::unique_ptr<ProbedCommunicator>> communicators_;  ///< by stream
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Stream>> helpers_;  ///< by stream: for codecs; null: none needed
  std::vector<Stream*> step_helpers_;             ///< by step
  std::array<std::unique_ptr<Cluster>, kClusterTypes> clusters_;
  std::unique_ptr<DenseStage> dense_;
  std::vector<Segment> segments_;
  std::vector<Event> step_events_;
  std::array<std::vector<Event>, 2> ends_;  ///< by iteration % 2: one a stream
  std::vector<StepTimes> times_;
  std::vector<double> loss_sums_;
  std::vector<StepTimes> prefetch_times_;       ///< of the steps that prepared the next batch
  std::vector<StepTimes> used_prefetch_times_;  ///< of the last iteration's batch
  std::vector<std::vector<float>> given_values_;
  std::vector<std::vector<CodecWork>> codec_work_;  ///< by stream: its tasks append to it
  std::int64_t prefetched_iteration_ = -1;
  bool traced_ = false;           ///< the block
  Recorder* recorder_ = nullptr;  ///< of the block
};

}  // namespace shardscope::engine
