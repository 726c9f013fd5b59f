#pragma once
// One layout trained for a number of iterations, with loss and AUC on held-out samples on the way.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "engine/engine.hpp"

namespace shardscope::app {

/// Layouts that a training is asked to move to while it runs.
class LayoutRequests {
 public:
  virtual ~LayoutRequests() = default;

  [[nodiscard]] virtual bool wanted() const = 0;
  /// Moves the engine to the layout that is asked for. Empty: refused, and whoever asked was told.
  [[nodiscard]] virtual std::optional<Layout> move(engine::Engine& engine) = 0;
  /// The records after the move go to another run.
  virtual void moved() = 0;
};

struct TrainJob {
  const RunOptions& run;  ///< iterations 0: 1000
  const Inputs& inputs;
  const Layout& layout;
  std::int64_t evaluate_every = 0;  ///< iterations; 0: 20 points in all
  std::int64_t evaluation_batches = 8;
  LayoutRequests* requests = nullptr;  ///< asked between blocks; null: it keeps its layout
};

/// One evaluation with the training loss since the one before.
struct CurveRow {
  std::int64_t iteration = 0;
  std::int64_t samples = 0;  ///< seen in training
  std::int64_t time_ns = 0;  ///< since the run's start
  double train_loss = 0;     ///< NaN where nothing was computed
  engine::Engine::Evaluation held_out;
};

struct Trained {
  std::vector<CurveRow> curve;        ///< at least one row
  std::optional<double> ceiling;      ///< AUC that no model can exceed on a synthetic task
  std::int64_t distinct_batches = 0;  ///< after which they repeat
  double iteration_ms = 0;
  bool interrupted = false;
  Mode mode = Mode::measured;
  std::int64_t run = 0;  ///< the last one, where it moved to other layouts
};

/// Trains; every evaluation is in the output before the next iteration begins.
[[nodiscard]] Result<Trained> run_training(const TrainJob& job, JobOutput& output, JobWatch& watch);

/// The figures of `train --json`, without the session.
[[nodiscard]] nlohmann::ordered_json training_json(const TrainJob& job, const Trained& done);

}  // namespace shardscope::app
