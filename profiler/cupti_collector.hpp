#pragma once
// Collects GPU activity of this process into a RecordSink, from before its first CUDA call to the
// run's end. One per process and once: CUPTI cannot be enabled a second time without wrong
// correlations.

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "layout/result.hpp"
#include "profiler/cupti_api.hpp"
#include "profiler/cupti_attribution.hpp"
#include "profiler/cupti_decoder.hpp"
#include "profiler/record_sink.hpp"

namespace shardscope::cupti {

struct CollectorConfig {
  std::int64_t run = 0;
  /// steady_ns() that the run's times count from. CUPTI stamps with the same clock.
  std::int64_t epoch_ns = 0;
  std::vector<std::int32_t> rank_of_device;
  std::chrono::milliseconds flush_period{100};
  /// The run captures graphs: their nodes belong to what the capturing thread works on then.
  bool graphs = false;
};

class Collector final : public WorkTracer {
 public:
  /// Enables CUPTI. Errors (no CUPTI, too old a version, another profiler attached, no driver)
  /// leave nothing enabled: the run goes on untraced and says so. `sink` outlives the collector.
  [[nodiscard]] static Result<std::unique_ptr<Collector>> start(const CuptiApi& api,
                                                                RecordSink& sink,
                                                                const CollectorConfig& config);
  /// Flushes what is left, after the devices are idle.
  ~Collector() override;
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Ties the calling thread's calls to what it works on, until the next call or end_work().
  void begin_work(const Attribution& at) override;
  void end_work() override;

  /// Disables, waits for all records and hands them on; what was dropped is told to the sink.
  void stop();
  /// Valid after stop().
  [[nodiscard]] const DecodeCounts& counts() const;

 private:
  struct State;
  explicit Collector(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace shardscope::cupti
