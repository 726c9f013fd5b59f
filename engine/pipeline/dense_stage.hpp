#pragma once
// The dense part's stages on one rank: between the clusters' outputs and their gradients.
//
// dense_forward top_mlp begins by writing the outputs into the interaction's input (sequences as
// the mean of their rows), dense_backward top_mlp ends by handing the gradients back.

#include <array>
#include <cstdint>
#include <memory>
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

  /// Fills the host's lists of a batch.
  void begin(std::size_t slot, const BatchView& batch);

  /// Stages dense_forward and dense_backward of bottom_mlp and top_mlp, allreduce and update.
  void enqueue(Stage stage, Work work, const StageCall& call);

  /// Sum of the loss over the rank's samples; behind the batch's dense_forward of top_mlp.
  [[nodiscard]] double loss_sum(std::size_t slot) const { return batches_[slot].loss_sum; }
  [[nodiscard]] const float* logits() const { return network_.logits(); }
  [[nodiscard]] DenseNetwork& network() { return network_; }

 private:
  struct Batch {
    std::vector<CopyColumns> outputs;    ///< pooled and concat features into x0
    std::vector<MeanBags> means;         ///< sequences
    std::vector<CopyColumns> gradients;  ///< the way back of both
    std::vector<SpreadBags> spreads;
    double loss_sum = 0;
  };

  DenseStage(const RunPlan& plan, RankMemory& memory, Ops& ops, DenseNetwork network);
  void begin_feature(Batch& batch, const BatchView& input, std::int32_t f, std::int64_t column);
  void forward_top(const StageCall& call);
  void backward_top(const StageCall& call);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  std::int64_t samples_;
  DenseNetwork network_;
  std::array<Batch, kBatchSlots> batches_;
};

}  // namespace shardscope::engine
