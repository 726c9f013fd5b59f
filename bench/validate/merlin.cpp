#include "bench/validate/merlin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "planner/cost_model.hpp"
#include "planner/fit.hpp"

namespace shardscope::bench {

namespace {

/// What TensorFlow adds to the kernels: a step's fixed cost, one a feature on its owner (its ops
/// are not fused), memory traffic a looked-up id (ids pass through several ops). The priors are
/// wide guesses; another framework needs constants of its own.
const std::vector<FitParameter> kFramework = {
    {"step_s", 2e-3, 0.7, 0}, {"local_feature_s", 100e-6, 1.0, 0}, {"bytes_per_key", 1000, 0.7, 0}};

struct MerlinRun {
  std::string model;
  std::int32_t gpus = 1;
  double measured_s = 0;
  double kernels_s = 0;       ///< our prediction without the framework
  double local_features = 0;  ///< on the rank with most
  double local_keys = 0;      ///< likewise, an iteration
  double bytes_per_s = 1;     ///< of a GPU's memory

  [[nodiscard]] double predicted_s(const std::vector<double>& framework) const {
    return kernels_s + framework[0] + local_features * framework[1] +
           local_keys * framework[2] / bytes_per_s;
  }
};

/// Largest sums over a rank's whole tables.
void add_local_work(const Workload& workload, const Layout& layout, MerlinRun& run) {
  std::vector<double> features(static_cast<std::size_t>(layout.ranks));
  std::vector<double> keys = features;
  for (const Feature& feature : workload.features) {
    for (const std::int32_t owner : layout.tables[static_cast<std::size_t>(feature.table)].owners) {
      features[static_cast<std::size_t>(owner)] += 1;
      keys[static_cast<std::size_t>(owner)] += feature.hotness.mean();
    }
  }
  run.local_features = *std::max_element(features.begin(), features.end());
  run.local_keys =
      *std::max_element(keys.begin(), keys.end()) * static_cast<double>(workload.global_batch);
}

std::vector<MerlinRun> runs_of(const std::filesystem::path& specs, const std::string& size) {
  std::vector<MerlinRun> runs;
  std::ifstream in(specs / ("merlin_de_" + size + ".json"));
  if (!in) return runs;
  const auto facts = nlohmann::json::parse(in);
  const auto workload = model_by_name("merlin-" + size);
  if (!workload) return runs;
  for (const auto& [gpus, ms] : facts.at("measured_ms_dgx_a100").items()) {
    MerlinRun run;
    run.model = "merlin " + size;
    run.gpus = std::stoi(gpus);
    run.measured_s = ms.get<double>() * 1e-3;
    const std::string machine = run.gpus < 8 ? fmt::format("dgx-a100:1x{}", run.gpus)
                                             : fmt::format("dgx-a100:{}x8", run.gpus / 8);
    const auto topology = topology_by_name(machine);
    if (!topology) continue;
    // distributed-embeddings places whole tables by size.
    const auto layout = baseline("table_wise", *workload, *topology);
    if (!layout) continue;
    const auto seconds =
        predicted_seconds(*workload, *topology, *layout,
                          {.executor = Executor::hugectr, .schedule = ScheduleKind::serial});
    if (!seconds) continue;
    run.kernels_s = *seconds;
    run.bytes_per_s = topology->gpu.memory_bytes_per_s.value;
    add_local_work(*workload, *layout, run);
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const MerlinRun& a, const MerlinRun& b) { return a.gpus < b.gpus; });
  return runs;
}

std::vector<double> framework_of(const std::vector<MerlinRun>& runs) {
  std::vector<FitPoint> points;
  for (const MerlinRun& run : runs) {
    points.push_back({run.measured_s, 1, [&run](const std::vector<double>& values) {
                        return run.predicted_s(values);
                      }});
  }
  return fit(kFramework, points, {.noise_log_sd = 0.05}).values;
}

}  // namespace

void print_merlin(const std::filesystem::path& specs) {
  const std::vector<MerlinRun> tiny = runs_of(specs, "tiny"), small = runs_of(specs, "small");
  if (tiny.empty() || small.empty()) {
    fmt::print("\nmerlin tiny and small: {} has no merlin_de_*.json\n", specs.string());
    return;
  }
  fmt::print(
      "\nmerlin tiny and small on A100, TensorFlow; its constants are fitted to the other model\n"
      "{:<14} {:>5} {:>9} {:>9} {:>7} {:>13}\n",
      "model", "GPUs", "measured", "predicted", "error", "kernels alone");
  std::vector<double> errors;
  for (const auto& [runs, other] : {std::pair{&tiny, &small}, std::pair{&small, &tiny}}) {
    const std::vector<double> framework = framework_of(*other);
    for (const MerlinRun& run : *runs) {
      const double error = run.predicted_s(framework) / run.measured_s - 1;
      errors.push_back(std::abs(error));
      fmt::print("{:<14} {:>5} {:>9.2f} {:>9.2f} {:>+6.1f}% {:>10.2f} ms\n", run.model, run.gpus,
                 run.measured_s * 1e3, run.predicted_s(framework) * 1e3, error * 100,
                 run.kernels_s * 1e3);
    }
    fmt::print("  with {:.2f} ms a step, {:.0f} us a feature of a rank, {:.0f} B an id\n",
               framework[0] * 1e3, framework[1] * 1e6, framework[2]);
  }
  std::sort(errors.begin(), errors.end());
  fmt::print("merlin, the other model's constants: median {:.1f} %, worst {:.1f} %\n",
             100 * errors[errors.size() / 2], 100 * errors.back());
}

}  // namespace shardscope::bench
