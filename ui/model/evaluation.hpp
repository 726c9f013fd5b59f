#pragma once
// What a layout is predicted to do, in the form the panels show it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/check.hpp"
#include "layout/memory.hpp"
#include "planner/cost_model.hpp"
#include "planner/simulate.hpp"
#include "ui/model/shard_cost.hpp"

namespace shardscope::ui {

/// A stretch of the critical path that one stage fills. `waiting`: for a step of the iteration
/// before, or between kernels.
struct PathPart {
  Stage stage = Stage::input_dist;
  bool waiting = false;
  double seconds = 0;
};

/// A step of the chain of cause, where it ran. Times in ns as in Evaluation::spans.
struct PathPiece {
  std::int32_t rank = 0;
  std::int32_t stream = 0;
  double begin_ns = 0;
  double end_ns = 0;
  Stage stage = Stage::input_dist;
};

/// Work of a stage that lies beside the critical path.
struct HiddenPart {
  Stage stage = Stage::input_dist;
  double start_s = 0;
  double seconds = 0;
};

struct Evaluation {
  std::shared_ptr<const Layout> layout;
  bool priced = false;  ///< false: the geometry is broken, only violations are known
  double iteration_s = 0;
  double samples_per_s = 0;
  double intra_bytes = 0;  ///< sent by all ranks
  double inter_bytes = 0;

  std::vector<Violation> violations;
  int errors = 0;

  std::vector<double> memory_bytes;  ///< by rank, the reserve left out
  std::vector<double> dense_bytes;
  std::vector<double> buffer_bytes;
  double memory_limit = 0;  ///< device - reserve
  double host_bytes = 0;    ///< the fullest host's

  std::vector<double> load_s;  ///< by rank
  double mean_load_s = 0;
  double max_load_s = 0;
  std::int32_t critical_rank = 0;  ///< as predict() names it: the one the others wait for

  std::vector<PathPart> path;  ///< along time, one a stage
  std::vector<PathPiece> path_pieces;
  std::vector<HiddenPart> hidden;         ///< of the critical rank
  std::vector<StageSeconds> rank_stages;  ///< busy seconds by rank
  std::vector<double> rank_waiting_s;
  std::vector<Span> spans;  ///< of the simulated iteration
  double computed_ms = 0;   ///< wall clock of this evaluation

  [[nodiscard]] double path_seconds(Stage stage) const;
  [[nodiscard]] double waiting_seconds() const;
  [[nodiscard]] double busy_seconds(Stage stage) const;  ///< of the slowest rank
  [[nodiscard]] double load_imbalance() const {
    return mean_load_s > 0 ? max_load_s / mean_load_s : 1;
  }
  [[nodiscard]] double memory_imbalance() const;
  bool exact = true;  ///< every rule was checked
};

/// Evaluates layouts of one workload on one topology, one after another; what two of them share is
/// computed once.
class Evaluator {
 public:
  Evaluator(Workload workload, Topology topology, PredictOptions options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  [[nodiscard]] const Workload& workload() const;
  [[nodiscard]] const Topology& topology() const;
  [[nodiscard]] const PredictOptions& options() const;
  [[nodiscard]] const ShardCosts& costs() const;

  [[nodiscard]] Evaluation evaluate(std::shared_ptr<const Layout> layout);
  /// The same within a frame for models of any size: where the exact account would take longer,
  /// memory comes from the planner's sums and only its limit is checked. For layouts that an edit
  /// made from an evaluated one, while the mouse moves.
  [[nodiscard]] Evaluation preview(std::shared_ptr<const Layout> layout);
  /// The iteration alone, of `layout` with one table placed anew; 0 where it cannot be priced.
  [[nodiscard]] double try_table(const Layout& layout, std::size_t table,
                                 const TablePlacement& placement);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardscope::ui
