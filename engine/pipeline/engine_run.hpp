#pragma once
// The Engine of one process: all ranks as threads (or emulated ones) over one fabric.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/comm/fabric.hpp"
#include "engine/device.hpp"
#include "engine/engine.hpp"
#include "engine/pipeline/rank_runner.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "engine/pipeline/table_images.hpp"

namespace shardscope::engine {

class EngineRun final : public Engine {
 public:
  EngineRun(EngineConfig config, std::shared_ptr<const BatchSource> source, GivenGradients given);
  ~EngineRun() override;

  /// The rest of create(): batches, plan, ranks, first weights.
  [[nodiscard]] Status open();

  [[nodiscard]] Result<Block> run(std::int32_t iterations, Recorder* recorder) override;
  [[nodiscard]] Status apply(const Layout& layout) override;
  [[nodiscard]] std::vector<float> weights(std::int32_t table) const override;
  [[nodiscard]] std::vector<float> output(std::int32_t feature, std::int32_t rank) const override;
  [[nodiscard]] Result<Evaluation> evaluate(const BatchSource& source,
                                            std::int32_t batches) override;
  [[nodiscard]] std::vector<RankTraffic> traffic() const override;
  [[nodiscard]] std::vector<CodedTraffic> coded() const override;
  [[nodiscard]] GraphCounts graph_counts() const override;
  [[nodiscard]] std::vector<std::int64_t> arena_peak_bytes() const override;
  [[nodiscard]] const EngineConfig& config() const override { return config_; }
  [[nodiscard]] std::int64_t epoch_ns() const override { return epoch_ns_; }
  [[nodiscard]] Mode mode() const override;
  void abort(const Error& reason) override;

 private:
  /// Dense parameters and optimizer state.
  struct DenseImage {
    std::vector<std::byte> parameters;
    std::vector<std::byte> state;
  };

  /// What error feedback keeps of every table, by rank; empty where it keeps nothing.
  using FeedbackImage = std::vector<std::vector<std::vector<float>>>;

  [[nodiscard]] Result<std::vector<RankBatch>> parts_of(const BatchSource& source,
                                                        std::int64_t iteration) const;
  [[nodiscard]] Status make_batches();
  [[nodiscard]] std::unique_ptr<RunPlan> make_plan(const Layout& layout) const;
  [[nodiscard]] Status make_ranks();
  void clear_ranks();
  void fill_tables();
  void record_behind(const BlockRequest& request, Recorder& recorder) const;
  [[nodiscard]] std::vector<TableImage> read_tables() const;
  void write_tables(const std::vector<TableImage>& images);
  [[nodiscard]] DenseImage read_dense() const;
  void write_dense(const DenseImage& image);
  [[nodiscard]] FeedbackImage read_feedback() const;
  void write_feedback(const FeedbackImage& image);
  [[nodiscard]] Status rebuild(const Layout& layout);
  [[nodiscard]] Status make_room(const std::vector<RankBatch>& parts);
  [[nodiscard]] Status evaluate_batch(const std::vector<RankBatch>& parts);
  template <class Work>
  [[nodiscard]] Status on_turns(const Work& work);

  EngineConfig config_;
  std::shared_ptr<const BatchSource> source_;
  GivenGradients given_;
  BatchRing batches_;
  std::vector<std::vector<RankBatch>> evaluation_parts_;  ///< larger than any training batch
  std::int64_t iteration_ = 0;                            ///< of the next block
  std::int64_t epoch_ns_ = 0;
  std::int64_t virtual_ns_ = 0;  ///< loopback: where the last block ended
  std::unique_ptr<RunPlan> plan_;
  std::unique_ptr<Ops> cpu_ops_;
  Ops* ops_;                 ///< of the device
  std::mutex fabric_mutex_;  ///< guards the pointer against abort() during apply()
  std::shared_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<RankRunner>> runners_;
};

}  // namespace shardscope::engine
