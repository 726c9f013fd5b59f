// What a codec costs in AUC: the same model trained with and without it from the same seeds, on the
// synthetic task, evaluated on fresh samples; the mean of the paired differences with its 95 %
// interval (Student's t).
//
//   accuracy WORKLOAD ROWS_CAP BATCH ITERATIONS SEEDS EVALUATION_BATCHES CODEC BOUND [BACKWARD]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "app/run_setup.hpp"
#include "engine/batches/task.hpp"
#include "engine/codec/codec_kind.hpp"
#include "engine/engine.hpp"
#include "planner/codec_choice.hpp"

namespace shardscope::app {
namespace {

struct AccuracyPlan {
  InputOptions inputs;
  RunOptions run;
  std::int64_t seeds = 10;
  std::int32_t evaluation_batches = 0;
  CodecSlot forward, backward;
};

/// 97.5 % quantile of Student's t (any table of the distribution), by degrees of freedom from 1.
double student_t(std::size_t degrees) {
  constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                   2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                   2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  return kQuantiles[std::min(degrees, std::size(kQuantiles)) - 1];
}

Result<engine::Engine::Evaluation> train_once(const AccuracyPlan& plan, const Inputs& inputs,
                                              const Layout& layout, std::uint64_t seed) {
  RunOptions run = plan.run;
  run.seed = seed;
  auto config = engine_config(run, inputs, layout);
  if (!config) return fail(config.error());
  config->batches = static_cast<std::int32_t>(run.iterations);
  auto source =
      engine::make_batch_source(inputs.workload, seed, run.range_policy, engine::Split::training);
  if (!source) return fail(source.error());
  const auto fresh =
      engine::make_batch_source(inputs.workload, seed, run.range_policy, engine::Split::evaluation);
  if (!fresh) return fail(fresh.error());
  const auto engine = engine::Engine::create(std::move(*config), std::move(*source));
  if (!engine) return fail(engine.error());
  if (auto block = (*engine)->run(static_cast<std::int32_t>(run.iterations), nullptr); !block) {
    return fail(block.error());
  }
  return (*engine)->evaluate(**fresh, plan.evaluation_batches);
}

Status compare_accuracy(const AccuracyPlan& plan) {
  const auto inputs = load_inputs(plan.inputs);
  if (!inputs) return fail(inputs.error());
  const auto raw = load_layout("table_row_wise", *inputs);
  if (!raw) return fail(raw.error());
  const Layout coded = with_one_codec(*raw, plan.forward, plan.backward);
  std::vector<double> differences;
  fmt::print("{:>6} {:>10} {:>10} {:>14}\n", "seed", "AUC raw", "AUC coded", "difference, pp");
  for (std::int64_t s = 0; s < plan.seeds; ++s) {
    const auto seed = static_cast<std::uint64_t>(1000 + s);
    const auto a = train_once(plan, *inputs, *raw, seed);
    if (!a) return fail(a.error());
    const auto b = train_once(plan, *inputs, coded, seed);
    if (!b) return fail(b.error());
    differences.push_back(100 * (b->auc - a->auc));
    fmt::print("{:>6} {:>10.5f} {:>10.5f} {:>14.4f}\n", seed, a->auc, b->auc, differences.back());
    std::fflush(stdout);
    if (s > 0) continue;
    fmt::print("       ({} fresh samples an evaluation)\n", a->samples);
    const auto ceiling = engine::ceiling_auc(inputs->workload, seed, 200'000);
    if (ceiling) fmt::print("       (no model reaches an AUC above {:.4f})\n", *ceiling);
  }
  const auto n = static_cast<double>(differences.size());
  double mean = 0;
  for (const double one : differences) mean += one / n;
  double squares = 0;
  for (const double one : differences) squares += (one - mean) * (one - mean);
  const double half =
      n > 1 ? student_t(differences.size() - 1) * std::sqrt(squares / (n - 1) / n) : NAN;
  fmt::print("mean difference {:+.4f} pp, 95 % interval [{:+.4f}, {:+.4f}], {} pairs\n", mean,
             mean - half, mean + half, differences.size());
  return {};
}

}  // namespace
}  // namespace shardscope::app

int main(int argc, char** argv) {
  namespace app = shardscope::app;
  if (argc < 9) {
    fmt::print(stderr,
               "usage: accuracy WORKLOAD ROWS_CAP BATCH ITERATIONS SEEDS EVALUATION_BATCHES CODEC "
               "BOUND [BACKWARD]\n");
    return 1;
  }
  app::AccuracyPlan plan;
  plan.inputs.workload = argv[1];
  plan.inputs.topology = "host-cpu:2x1";
  plan.inputs.rows_cap = std::atoll(argv[2]);
  plan.inputs.batch = std::atoll(argv[3]);
  plan.run.iterations = std::atoll(argv[4]);
  plan.seeds = std::atoll(argv[5]);
  plan.evaluation_batches = std::atoi(argv[6]);
  plan.forward = {argv[7], std::atof(argv[8]), true};
  plan.backward.name = argc > 9 ? argv[9] : "bf16";
  const shardscope::Status status = app::compare_accuracy(plan);
  if (status) return 0;
  fmt::print(stderr, "accuracy: {}\n", to_string(status.error()));
  return shardscope::exit_code(status.error().kind);
}
