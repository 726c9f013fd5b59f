#pragma once
// One run of an engine as the sink sees it: blocks of iterations, traced or not, warm-up or
// measured, with the stage costs folded on the way.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "profiler/recorder.hpp"
#include "profiler/stage_profile.hpp"

namespace shardscope::engine {

/// What a block is for.
enum class BlockUse : std::uint8_t {
  warm_up,   ///< excluded from every figure
  measured,  ///< untraced: throughput comes from these
  traced,    ///< spans are recorded: stage times come from these
};

/// A finished block.
struct TimedBlock {
  BlockUse use = BlockUse::measured;
  std::vector<double> iteration_ms;
  std::vector<double> critical_path_ms;
  std::vector<double> losses;  ///< by iteration; NaN without a dense part
  bool emulated = false;       ///< iteration_ms are of a virtual clock (loopback)
  double taken_s = 0;          ///< of this machine's time, by the block

  /// What an iteration takes of this machine's time; `ms` is what the block's iterations say.
  [[nodiscard]] double host_s(double ms) const {
    return emulated ? taken_s / static_cast<double>(iteration_ms.size()) : ms / 1e3;
  }
};

class RunRecorder {
 public:
  /// Opens a run of that engine in the sink, which outlives the recorder.
  [[nodiscard]] static Result<std::unique_ptr<RunRecorder>> begin(RecordSink& sink,
                                                                  const RunInfo& info,
                                                                  const Engine& engine);
  ~RunRecorder();

  /// Runs one block on the engine and records it: the engine of begin(), or another one that then
  /// has a layout of the same schedule.
  [[nodiscard]] Result<TimedBlock> run_block(Engine& engine, std::int32_t iterations, BlockUse use);

  /// Stage costs of the traced blocks so far.
  [[nodiscard]] StageProfile profile();

  /// What codecs did in the traced blocks so far.
  [[nodiscard]] std::vector<CodecTotals> codecs() const { return codecs_.totals(); }

  /// Hands everything over and closes the run.
  [[nodiscard]] Status end(const RunSummary& summary);

  [[nodiscard]] std::int64_t run() const { return run_; }
  /// Spans lost before they reached the sink.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  class FoldingSink;

  RunRecorder(RecordSink& sink, std::int64_t run, const Engine& engine);

  std::int64_t run_;
  std::int32_t ranks_;
  std::int32_t block_ = 0;
  CodecSum codecs_;
  std::unique_ptr<FoldingSink> folding_;
  std::unique_ptr<Recorder> recorder_;  ///< hands its records to folding_; goes first
};

}  // namespace shardscope::engine
