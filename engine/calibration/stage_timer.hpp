#pragma once
// Times the stages of an engine block by block: what a calibration fits and a validation compares.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "layout/result.hpp"
#include "layout/schedule.hpp"

namespace shardscope {
class Recorder;
}

namespace shardscope::engine {

/// Which clock a stage's time is taken from.
enum class StageClock : std::uint8_t {
  thread_cpu,  ///< CPU time of the rank's threads: ranks may share cores with anybody
  wall,        ///< waiting for peers left out
};

/// Stages of one block; seconds an iteration.
struct StageBlock {
  /// [rank][stage], embeddings and dense part together.
  std::vector<std::array<double, kStages>> rank_s;
  /// Each step's slowest rank, summed over the steps of a stage.
  std::array<double, kStages> slowest_s{};
  /// The sum of those: the iteration of a serial schedule whose ranks have a core each.
  double iteration_s = 0;

  [[nodiscard]] double mean_s(Stage stage) const;
};

class StageTimer {
 public:
  /// The engine outlives the timer.
  StageTimer(Engine& engine, StageClock clock);
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

  /// Runs and times one block.
  [[nodiscard]] Result<StageBlock> run_block(std::int32_t iterations);

 private:
  class Sink;

  Engine& engine_;
  StageClock clock_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<Recorder> recorder_;  ///< hands its records to sink_; goes first
};

}  // namespace shardscope::engine
