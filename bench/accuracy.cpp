// What a codec costs in AUC: the same model trained with and without it from the same seeds, on the
// synthetic task, evaluated on fresh samples; the mean of the paired differences with its 95 %
// interval (Student's t).
//
//   accuracy WORKLOAD ROWS_CAP BATCH ITERATIONS SEEDS EVALUATION_BATCHES CODEC BOUND
//            [BACKWARD [FILE]]
//
// Every pair goes to FILE as it is done; pairs of the same settings that stand there already are
// not trained again, so that a long measurement may be cut into pieces.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
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

constexpr std::uint64_t kFirstSeed = 1000;

struct AccuracyPlan {
  InputOptions inputs;
  RunOptions run;
  std::int64_t seeds = 10;
  std::int32_t evaluation_batches = 0;
  CodecSlot forward, backward;
  std::string settings;  ///< first line of the file
  std::string file;      ///< empty: none
};

/// AUC without and with the codec.
struct AucPair {
  double raw = 0;
  double coded = 0;

  [[nodiscard]] double difference_pp() const { return 100 * (coded - raw); }
};
using AucPairs = std::map<std::uint64_t, AucPair>;  ///< by seed

/// Pairs that the file has; nothing where there is none yet.
Result<AucPairs> read_pairs(const AccuracyPlan& plan) {
  AucPairs pairs;
  std::ifstream file(plan.file);
  std::string line;
  if (plan.file.empty() || !std::getline(file, line)) return pairs;
  if (line != plan.settings) {
    return fail({ErrorKind::usage, fmt::format("the file holds pairs of \"{}\"", line), plan.file,
                 plan.settings, "Name another file"});
  }
  while (std::getline(file, line)) {
    std::istringstream text(line);
    std::uint64_t seed = 0;
    AucPair pair;
    if (text >> seed >> pair.raw >> pair.coded) pairs[seed] = pair;
  }
  return pairs;
}

Status keep_pair(const AccuracyPlan& plan, std::uint64_t seed, const AucPair& pair, bool first) {
  if (plan.file.empty()) return {};
  std::ofstream file(plan.file, std::ios::app);
  if (first) file << plan.settings << '\n';
  file << fmt::format("{} {:.9f} {:.9f}\n", seed, pair.raw, pair.coded) << std::flush;
  if (file) return {};
  return fail({ErrorKind::runtime, "the pairs cannot be written", plan.file, "", ""});
}

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

Result<AucPair> train_pair(const AccuracyPlan& plan, const Inputs& inputs, const Layout& raw,
                           std::uint64_t seed) {
  const auto without = train_once(plan, inputs, raw, seed);
  if (!without) return fail(without.error());
  const auto with =
      train_once(plan, inputs, with_one_codec(raw, plan.forward, plan.backward), seed);
  if (!with) return fail(with.error());
  return AucPair{without->auc, with->auc};
}

void print_interval(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  double mean = 0;
  for (const double one : differences) mean += one / n;
  double squares = 0;
  for (const double one : differences) squares += (one - mean) * (one - mean);
  const double half =
      n > 1 ? student_t(differences.size() - 1) * std::sqrt(squares / (n - 1) / n) : NAN;
  fmt::print("mean difference {:+.4f} pp, 95 % interval [{:+.4f}, {:+.4f}], {} pairs\n", mean,
             mean - half, mean + half, differences.size());
}

Status compare_accuracy(const AccuracyPlan& plan) {
  const auto inputs = load_inputs(plan.inputs);
  if (!inputs) return fail(inputs.error());
  const auto raw = load_layout("table_row_wise", *inputs);
  if (!raw) return fail(raw.error());
  auto known = read_pairs(plan);
  if (!known) return fail(known.error());
  const auto ceiling = engine::ceiling_auc(inputs->workload, kFirstSeed, 200'000);
  if (ceiling) fmt::print("(no model reaches an AUC above {:.4f} on the first task)\n", *ceiling);
  std::vector<double> differences;
  fmt::print("{:>6} {:>10} {:>10} {:>14}\n", "seed", "AUC raw", "AUC coded", "difference, pp");
  for (std::int64_t s = 0; s < plan.seeds; ++s) {
    const std::uint64_t seed = kFirstSeed + static_cast<std::uint64_t>(s);
    if (!known->contains(seed)) {
      const auto pair = train_pair(plan, *inputs, *raw, seed);
      if (!pair) return fail(pair.error());
      const Status kept = keep_pair(plan, seed, *pair, known->empty());
      if (!kept) return kept;
      known->emplace(seed, *pair);
    }
    const AucPair& pair = known->at(seed);
    differences.push_back(pair.difference_pp());
    fmt::print("{:>6} {:>10.5f} {:>10.5f} {:>14.4f}\n", seed, pair.raw, pair.coded,
               differences.back());
    std::fflush(stdout);
  }
  print_interval(differences);
  return {};
}

}  // namespace
}  // namespace shardscope::app

int main(int argc, char** argv) {
  namespace app = shardscope::app;
  if (argc < 9) {
    fmt::print(stderr,
               "usage: accuracy WORKLOAD ROWS_CAP BATCH ITERATIONS SEEDS EVALUATION_BATCHES CODEC "
               "BOUND [BACKWARD [FILE]]\n");
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
  plan.file = argc > 10 ? argv[10] : "";
  plan.settings =
      fmt::format("{} rows<={} batch {} x {} evaluation {} batches {} {} backward {}", argv[1],
                  argv[2], argv[3], argv[4], argv[6], argv[7], argv[8], plan.backward.name);
  const shardscope::Status status = app::compare_accuracy(plan);
  if (status) return 0;
  fmt::print(stderr, "accuracy: {}\n", to_string(status.error()));
  return shardscope::exit_code(status.error().kind);
}
