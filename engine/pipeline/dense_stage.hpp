#pragma once
// The dense part's stages on one rank: between the clusters' outputs and their gradients.
//
// dense_forward top_mlp begins by writing the outputs into the interaction's input (sequences as
// the mean of their rows), dense_backward top_mlp ends by handing the gradients back.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/batches/batch_view.hpp"
#include "engine/dense/dense_network.hpp"
#include "engine/device.hpp"
#include "engine/pipeline/cluster.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"

namespace shardscope::engine {

class DenseStage {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DenseStage>> create(const RunPlan& plan,
                                                                  RankMemory& memory, Ops& ops);

  /// Before the first step: a device may compute the dense part on its streams, which outlive this.
  [[nodiscard]] Status use_streams(std::span<const std::unique_ptr<Stream>> streams);

  /// Before a block's first iteration, with idle streams: room for its losses.
  /// Computes on the device alone: no task of the host in its stages.
  [[nodiscard]] bool is_on_device() const { return !maths_.empty(); }
  [[nodiscard]] Status begin_block(std::int64_t first_iteration, std::int32_t iterations);

  /// Fills the host's lists of a batch.
  void begin(std::size_t slot, const BatchView& batch);

  /// Stages dense_forward and dense_backward of bottom_mlp and top_mlp, allreduce and update.
  void enqueue(Stage stage, Work work, const StageCall& call);

  /// Sum of the loss over the rank's samples in the block's n-th iteration, once the streams have
  /// run it.
  [[nodiscard]] double loss_sum(std::int32_t n) const { return losses_.get()[n]; }
  [[nodiscard]] const float* logits() const { return network_.logits(); }
  [[nodiscard]] DenseNetwork& network() { return network_; }

 private:
  struct Batch {
    std::vector<CopyColumns> outputs;    ///< pooled and concat features into x0
    std::vector<MeanBags> means;         ///< sequences
    std::vector<CopyColumns> gradients;  ///< the way back of both
    std::vector<SpreadBags> spreads;
  };

  DenseStage(const RunPlan& plan, RankMemory& memory, Ops& ops, DenseNetwork network);
  void begin_feature(Batch& batch, const BatchView& input, std::int32_t f, std::int64_t column);
  void forward_top(const StageCall& call);
  void backward_top(const StageCall& call);
  /// Calls work(DenseMath&): at once where the device computes, else in a task of the stream.
  template <class Function>
  void compute(Stream& stream, const Function& work);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  std::int64_t samples_;
  DenseNetwork network_;
  std::array<Batch, kBatchSlots> batches_;
  std::vector<std::pair<Stream*, std::shared_ptr<DenseMath>>> maths_;  ///< of the device
  /// Where graphs read the batch's dense features; null: where the batch has them.
  std::shared_ptr<std::byte> dense_;
  CopyBytes copy_dense_;
  std::shared_ptr<double> losses_;  ///< by iteration of the block, where the stream's work writes
  std::int32_t loss_room_ = 0;
  std::int64_t first_iteration_ = 0;  ///< of the block
};

}  // namespace shardscope::engine
