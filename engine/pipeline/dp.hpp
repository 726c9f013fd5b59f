#pragma once
// The DP cluster of one rank: a replica of every table, local lookups, gradients all-reduced.
//
// All tables share one all-reduce over one fp32 buffer: of each table the gradients of all rows,
// then a touch mark a row, so that every replica knows which rows the global batch read.

#include <array>
#include <cstdint>
#include <vector>

#include "engine/device.hpp"
#include "engine/pipeline/cluster.hpp"
#include "engine/pipeline/lookup_lists.hpp"
#include "engine/pipeline/owned_rows.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"

namespace shardscope::engine {

class DpCluster final : public Cluster {
 public:
  DpCluster(const RunPlan& plan, RankMemory& memory, Ops& ops);

  /// DP has no such stage in a schedule; begin() stands in for it.
  [[nodiscard]] Status input_dist(const StageCall& /*call*/) override { return {}; }
  void begin(std::size_t slot, const BatchView& batch) override;
  void model_forward(const StageCall& call) override;
  void network_forward(const StageCall& /*call*/) override {}
  void index_calculation(const StageCall& call) override;
  void network_backward(const StageCall& /*call*/) override {}
  void local_reduce(const StageCall& call) override;
  void allreduce(const StageCall& call) override;
  void update(const StageCall& call) override;
  [[nodiscard]] std::int64_t rows(std::size_t slot) const override { return batches_[slot].ids; }

 private:
  struct TableState {
    std::int32_t table = 0;
    bool weighted = false;  ///< occurrences carry weights (ids' own or the mean's)
    SortedIndex index;
    float* gradients = nullptr;  ///< rows x dim in the shared buffer
    float* touched = nullptr;    ///< rows, behind them
    std::int64_t* touched_rows = nullptr;
    std::int64_t* touched_count = nullptr;
  };

  struct Batch {
    std::int64_t ids = 0;
    LookupLists lookups;
    std::vector<std::vector<CopyBytes>> index_copies;  ///< by table
    std::vector<std::vector<ExpandBags>> index_expands;
    std::vector<SortIndex> sorts;
  };

  void place_table(std::int32_t table, std::int64_t& offset);
  void begin_index(Batch& batch, const BatchView& input, std::size_t i);

  const RunPlan& plan_;
  RankMemory& memory_;
  Ops& ops_;
  std::int32_t rank_;
  std::int64_t key_bytes_;
  IndexStaging staging_;
  float* wgrad_ = nullptr;      ///< reduced gradients of one table, compact
  float* gradients_ = nullptr;  ///< the all-reduced buffer
  float* square_sums_ = nullptr;
  std::int64_t elements_ = 0;
  std::vector<TableState> tables_;
  std::array<Batch, kBatchSlots> batches_;
  FillZero clear_;
  std::vector<SegmentReduce> reductions_;  ///< by table, as all below
  std::vector<ScatterRows> scatters_;
  std::vector<CompactRows> compactions_;
  std::vector<SquareSum> squares_;
  std::vector<OptimizerUpdate> updates_;
};

}  // namespace shardscope::engine
