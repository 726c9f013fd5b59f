// Predicted beside measured for published systems: MLPerf DLRM-DCNv2 on HugeCTR, and NVIDIA's
// synthetic models on TensorFlow. Run it as `validate [DIRECTORY of plans]`; see docs/planner.md.
// `validate cpu` compares random layouts on this machine instead (bench/validate/cpu.hpp).
// --fit fits the shared constants again and prints what the presets should hold; --leave-out fits
// once for each group of systems without it; --stages NAME prints the stages of matching systems.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/validate/cpu.hpp"
#include "bench/validate/merlin.hpp"
#include "layout/models.hpp"
#include "planner/cost_model.hpp"
#include "planner/fit.hpp"
#include "planner/hugectr_planners.hpp"
#include "planner/id_law.hpp"
#include "planner/uncertainty.hpp"

namespace {

using nlohmann::json;
using shardscope::Layout;
using shardscope::Origin;
using shardscope::Quantity;
using shardscope::Topology;
using shardscope::Workload;

/// MLPerf's rules: 89.1 M evaluation samples after every 5 % of 4.195 G training samples.
constexpr double kEvaluationSamples = 0.425;
/// Cost of an evaluation sample over that of a training sample; a value near 1 means that neither
/// GPU work nor gradients matter: the input sets the pace.
constexpr double kEvaluationCost = 0.44;
constexpr double kInputBoundCost = 0.8;
/// Ids of MLPerf's multi-hot data: a single id, Zipf of this exponent, stands for a fixed list.
constexpr double kAlpha = 1.1;

struct System {
  std::string name;
  std::string group;  ///< hardware and shape
  Topology topology;
  Workload workload;
  Layout layout;
  std::vector<shardscope::TableStats> stats;
  bool throughput = false;  ///< measured over training and evaluation
  double measured_s = 0;    ///< an iteration, or batch / throughput
  double weight = 1;
  std::optional<double> evaluation_cost;  ///< where both figures are published

  [[nodiscard]] double predicted_s(const Topology& machine, double evaluation_cost_guess) const {
    const auto seconds = shardscope::predicted_seconds(workload, machine, layout,
                                                       {.executor = shardscope::Executor::hugectr,
                                                        .schedule = shardscope::ScheduleKind::inter,
                                                        .stats = stats});
    return *seconds * (throughput ? 1 + kEvaluationSamples * evaluation_cost_guess : 1);
  }
};

std::string machine_of(const std::string& device) {
  const auto has = [&](const char* text) { return device.find(text) != std::string::npos; };
  if (has("GB200")) return "gb200";
  if (has("B200")) return "dgx-b200";
  if (has("H200")) return "dgx-h200";
  if (has("H100")) return has("PCIe") ? "h100-pcie" : "dgx-h100";
  if (has("A100")) return "dgx-a100";
  if (has("L40S")) return "l40s-pcie";
  if (has("L40")) return "l40-pcie";
  if (has("A40")) return "a40-pcie";
  return "";
}

/// A table's list of `hotness` ids grows out of one id: distinct rows and popular rows come in
/// lists.
std::vector<shardscope::TableStats> expanded_stats(const Workload& workload) {
  std::vector<shardscope::TableStats> all;
  for (const shardscope::Feature& feature : workload.features) {
    const shardscope::Table& table = workload.tables[static_cast<std::size_t>(feature.table)];
    const double hotness = feature.hotness.mean();
    const shardscope::IdLaw law(table.rows, {.alpha = kAlpha});
    shardscope::TableStats& stats = all.emplace_back();
    stats.table = table.name;
    const auto rows = static_cast<double>(table.rows);
    for (double lists = 1; lists < 4e6; lists *= 1.5)
      stats.unique.push_back({lists * hotness, std::min(rows, hotness * law.unique(lists))});
    for (double lists = 1; lists * hotness <= rows; lists *= 2)
      stats.top_mass.push_back({lists * hotness, law.mass(lists)});
    if (stats.top_mass.empty()) stats.top_mass.push_back({rows, 1});
  }
  return all;
}

std::optional<System> make_system(const std::string& name, const std::string& device,
                                  std::int32_t nodes, std::int32_t gpus, std::int64_t batch) {
  const std::string machine = machine_of(device);
  if (machine.empty()) return std::nullopt;
  auto topology = shardscope::topology_by_name(fmt::format("{}:{}x{}", machine, nodes, gpus));
  auto workload = shardscope::model_by_name("dcnv2");
  if (!topology || !workload) return std::nullopt;
  System system;
  system.name = name;
  system.group = fmt::format("{} {}x{}", machine, nodes, gpus);
  system.topology = *topology;
  system.workload = *workload;
  system.workload.global_batch = batch;
  system.workload.wire = shardscope::DType::fp16;
  system.stats = expanded_stats(system.workload);
  return system;
}

/// The plan that HugeCTR's MLPerf planner makes with the settings of the submission's round.
bool plan_system(System& system, bool first_round) {
  const bool several = system.topology.domains() > 1;
  shardscope::PlanSettings settings = {{"mem_comm_bw_ratio", several ? "67" : "7"}};
  if (!first_round) settings["dp_threshold_gb"] = several ? "0.0125" : "0.008";
  if (system.topology.gpu.memory_bytes.value < 60e9) settings["memory_cap_gib"] = "40";
  auto plan = shardscope::mlperf_plan(system.workload, system.topology, several, settings);
  if (!plan) return false;
  system.layout = plan->layout;
  return true;
}

bool use_logged_plan(System& system, const json& logged) {
  std::vector<std::vector<std::int32_t>> matrix;
  for (const auto& rank : logged.at("shard_matrix"))
    matrix.push_back(rank.get<std::vector<std::int32_t>>());
  std::vector<bool> replicated(system.workload.tables.size());
  for (const std::size_t table :
       logged.at("shard_strategy").at("dp").get<std::vector<std::size_t>>())
    replicated[table] = true;
  auto layout =
      shardscope::layout_of_matrix(system.workload, system.topology.ranks(), matrix,
                                   std::vector<std::int32_t>(system.workload.tables.size(), 1),
                                   replicated, std::vector<bool>(system.workload.tables.size()));
  if (!layout) return false;
  system.layout = *layout;
  return true;
}

/// Later rounds, never fitted to: batch over the median throughput between evaluations, which is a
/// pure iteration time. Origin: raw logs of mlcommons/training_results_v4.0 and v5.0, read 2024-11
/// and 2025-06.
struct LaterSystem {
  const char* name;
  const char* device;
  std::int32_t nodes, gpus;
  std::int64_t batch;
  double msamples_per_s;
};

constexpr LaterSystem kLater[] = {
    {"4.0 Eos H100", "H100", 1, 8, 55296, 15.7},      {"4.0 Eos H100", "H100", 8, 8, 135168, 56.1},
    {"4.0 Eos H100", "H100", 16, 8, 135168, 74.4},    {"4.0 H200", "H200", 1, 8, 55296, 17.0},
    {"4.0 Juniper A100", "A100", 8, 8, 135168, 26.8}, {"5.0 B200", "B200", 1, 8, 55296, 25.7},
    {"5.0 GB200", "GB200", 2, 4, 55296, 26.6},        {"5.0 HPE H200", "H200", 1, 8, 65536, 17.7},
    {"5.0 HPE H200", "H200", 2, 8, 65536, 19.6},      {"5.0 HPE H200", "H200", 4, 8, 131200, 36.9},
};

std::vector<System> later_systems() {
  std::vector<System> systems;
  for (const LaterSystem& later : kLater) {
    auto system = make_system(later.name, later.device, later.nodes, later.gpus, later.batch);
    if (!system || !plan_system(*system, false)) continue;
    system->measured_s = static_cast<double>(later.batch) / (later.msamples_per_s * 1e6);
    systems.push_back(std::move(*system));
  }
  return systems;
}

std::vector<System> read_systems(const std::filesystem::path& directory) {
  std::vector<System> systems;
  std::map<std::string, double> throughput_of;  // by submitter/system
  const json throughput = json::parse(std::ifstream(directory / "mlperf_dcnv2_throughput.json"));
  for (const auto& row : throughput.at("results")) {
    throughput_of[row.at("round").get<std::string>() + row.at("system").get<std::string>()] =
        row.at("throughput_samples_s_median");
  }
  std::map<std::string, double> evaluation_cost_of;
  for (const auto& logged : json::parse(std::ifstream(directory / "mlperf_measured_plans.json"))) {
    const std::string log = logged.at("example_log");
    const std::string round =
        logged.at("repo").get<std::string>().ends_with("v3.0") ? "3.0" : "3.1";
    const std::string label =
        log.substr(log.find("results/") + 8, log.find("/dlrm") - log.find("results/") - 8);
    const auto gpus = static_cast<std::int32_t>(logged.at("shard_matrix").size());
    auto system = make_system(fmt::format("{} {} iteration", round, label), logged.at("device"), 1,
                              gpus, logged.at("global_batch_size"));
    if (!system || !use_logged_plan(*system, logged)) continue;
    system->measured_s = logged.at("iter_ms").get<double>() * 1e-3;
    const auto both = throughput_of.find(round + label);
    if (both != throughput_of.end()) {
      const double whole = static_cast<double>(system->workload.global_batch) / both->second;
      system->evaluation_cost = (whole / system->measured_s - 1) / kEvaluationSamples;
      evaluation_cost_of[round + label] = *system->evaluation_cost;
    }
    systems.push_back(std::move(*system));
  }
  for (const auto& row : throughput.at("results")) {
    const std::string round = row.at("round"), label = row.at("system");
    auto system = make_system(fmt::format("{} {}", round, label), row.at("accelerator_model_name"),
                              std::stoi(row.at("number_of_nodes").get<std::string>()),
                              std::stoi(row.at("accelerators_per_node").get<std::string>()),
                              row.at("global_batch_size"));
    if (!system || !plan_system(*system, round == "3.0")) continue;
    system->throughput = true;
    system->measured_s = static_cast<double>(system->workload.global_batch) /
                         row.at("throughput_samples_s_median").get<double>();
    const auto both = evaluation_cost_of.find(round + label);
    if (both != evaluation_cost_of.end()) system->evaluation_cost = both->second;
    systems.push_back(std::move(*system));
  }
  // Repeats of one configuration share one vote.
  std::map<std::string, double> repeats;
  const auto key = [](const System& s) {
    return fmt::format("{} {} {} {}", s.group, s.workload.global_batch, s.throughput,
                       s.name.substr(0, 3));
  };
  for (const System& system : systems) ++repeats[key(system)];
  for (System& system : systems) system.weight = 1 / repeats[key(system)];
  return systems;
}

/// The constants that all systems share, with their priors. That of launch_s (a kernel's fixed
/// cost with its tail and the dependency behind it) was raised from 3 to 8 us when H200 and B200
/// turned out to gain less than their bandwidths: the later rounds have been seen, if not fitted.
struct SharedConstant {
  shardscope::FitParameter parameter;
  Quantity* (*of)(Topology&);
};

const std::vector<SharedConstant> kShared = {
    {{"gemm_efficiency", 0.65, 0.25, 1}, [](Topology& t) { return &t.gpu.gemm_efficiency; }},
    {{"reduce_efficiency", 0.5, 0.25, 1}, [](Topology& t) { return &t.gpu.reduce_efficiency; }},
    {{"gather_efficiency", 0.65, 0.25, 1}, [](Topology& t) { return &t.gpu.gather_efficiency; }},
    {{"stream_efficiency", 0.78, 0.15, 1}, [](Topology& t) { return &t.gpu.stream_efficiency; }},
    {{"overlap_cost", 0.5, 0.4, 1}, [](Topology& t) { return &t.gpu.overlap_cost; }},
    {{"launch_s", 8e-6, 0.3, 0}, [](Topology& t) { return &t.gpu.launch_s; }},
    {{"intra.latency_s", 25e-6, 0.4, 0}, [](Topology& t) { return &t.intra.latency_s; }},
    {{"intra.efficiency", 0.75, 0.15, 1}, [](Topology& t) { return &t.intra.efficiency; }},
    {{"inter.latency_s", 20e-6, 0.5, 0}, [](Topology& t) { return &t.inter.latency_s; }},
    {{"inter.latency_per_doubling_s", 20e-6, 0.5, 0},
     [](Topology& t) { return &t.inter.latency_per_doubling_s; }},
    {{"inter.efficiency", 0.75, 0.2, 1}, [](Topology& t) { return &t.inter.efficiency; }},
};

bool by_pcie(const System& system) {
  return system.group.find("pcie") != std::string::npos;
}

/// Topology with the shared constants replaced; the exchange of PCIe boxes stays their own.
Topology with_constants(const System& system, const std::vector<double>& values) {
  Topology topology = system.topology;
  for (std::size_t i = 0; i < kShared.size(); ++i) {
    if (by_pcie(system) && kShared[i].parameter.name == "intra.efficiency") continue;
    kShared[i].of(topology)->value = values[i];
  }
  return topology;
}

shardscope::FitResult fit_without(const std::vector<System>& systems, const std::string& group) {
  std::vector<shardscope::FitParameter> parameters;
  for (const SharedConstant& constant : kShared) parameters.push_back(constant.parameter);
  parameters.push_back({"evaluation_cost", 0.42, 0.1, 0});
  std::vector<shardscope::FitPoint> points;
  for (const System& system : systems) {
    const bool input_bound = system.evaluation_cost.value_or(0) > kInputBoundCost;
    const bool used = system.group != group && !by_pcie(system) && !input_bound;
    points.push_back(
        {system.measured_s, used ? system.weight : 0, [&system](const std::vector<double>& values) {
           return system.predicted_s(with_constants(system, values), values.back());
         }});
  }
  return shardscope::fit(parameters, points, {.noise_log_sd = 0.05, .robust_limit = 2});
}

struct ErrorSummary {
  std::vector<double> errors;  ///< absolute

  void print(const std::string& what) const {
    if (errors.empty()) return;
    std::vector<double> sorted = errors;
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double quantile) {
      return 100 * sorted[static_cast<std::size_t>(
                       std::ceil(quantile * static_cast<double>(sorted.size())) - 1)];
    };
    fmt::print("{}: {} systems, median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} %\n", what,
               sorted.size(), at(0.5), at(0.9), at(1.0));
  }
};

void print_table(const std::vector<System>& systems) {
  ErrorSummary ok, other;
  int inside = 0, trusted = 0;
  fmt::print("{:<46} {:<18} {:>7} {:>9} {:>9} {:>15} {:>7}  {}\n", "system", "machine", "batch",
             "measured", "predicted", "90 % interval", "error", "trust");
  for (const System& system : systems) {
    const auto prediction = shardscope::predict(system.workload, system.topology, system.layout,
                                                {.executor = shardscope::Executor::hugectr,
                                                 .schedule = shardscope::ScheduleKind::inter,
                                                 .stats = system.stats});
    if (!prediction) continue;
    const double scale = system.throughput ? 1 + kEvaluationSamples * kEvaluationCost : 1;
    const double predicted = prediction->iteration_s * scale;
    const double error = predicted / system.measured_s - 1;
    shardscope::Trust trust = prediction->trust;
    // An evaluation sample as dear as a training sample: the reader sets the pace.
    if (system.evaluation_cost.value_or(0) > kInputBoundCost)
      trust = shardscope::Trust::input_bound;
    fmt::print("{:<46} {:<18} {:>7} {:>8.2f}  {:>8.2f}  {:>6.2f} ..{:>6.2f} {:>+6.1f}%  {}\n",
               system.name, system.group, system.workload.global_batch, system.measured_s * 1e3,
               predicted * 1e3, prediction->low_s * scale * 1e3, prediction->high_s * scale * 1e3,
               error * 100, to_string(trust));
    const bool is_ok = trust == shardscope::Trust::ok;
    (is_ok ? ok : other).errors.push_back(std::abs(error));
    trusted += is_ok ? 1 : 0;
    inside += is_ok && prediction->low_s * scale <= system.measured_s &&
                      system.measured_s <= prediction->high_s * scale
                  ? 1
                  : 0;
  }
  ok.print("trust ok");
  other.print("other trust");
  fmt::print("inside the 90 % interval: {} of {} (trust ok)\n", inside, trusted);
}

/// Stage table of the systems whose name contains `pattern`.
void print_stages(const std::vector<System>& systems, const std::string& pattern) {
  for (const System& system : systems) {
    if (system.name.find(pattern) == std::string::npos) continue;
    const auto prediction = shardscope::predict(system.workload, system.topology, system.layout,
                                                {.executor = shardscope::Executor::hugectr,
                                                 .schedule = shardscope::ScheduleKind::inter,
                                                 .stats = system.stats});
    if (!prediction) continue;
    fmt::print("{}: {:.3f} ms\n", system.name, prediction->iteration_s * 1e3);
    for (std::size_t i = 0; i < prediction->stages.size(); ++i) {
      const shardscope::PredictedStage& stage = prediction->stages[i];
      const auto& step = prediction->simulation.at(i, prediction->critical_rank);
      fmt::print("  {:<18} {:<10} max {:.3f} mean {:.3f} ms, {:.3f} .. {:.3f} on rank {}\n",
                 to_string(stage.stage), to_string(stage.work), stage.max_s * 1e3,
                 stage.mean_s * 1e3, step.start_s * 1e3, step.end_s * 1e3,
                 prediction->critical_rank);
    }
  }
}

void print_fit(const std::vector<System>& systems) {
  const shardscope::FitResult fitted = fit_without(systems, "");
  for (std::size_t i = 0; i < fitted.values.size(); ++i)
    fmt::print("{:<30} {:.4g} (log sd {:.2f}){}\n",
               i < kShared.size() ? kShared[i].parameter.name : "evaluation_cost", fitted.values[i],
               fitted.log_sd[i], fitted.limited[i] ? " at its bound" : "");
  for (const System& later : later_systems())
    fmt::print(
        "{:<46} {:<18} {:+.1f} % (not fitted)\n", later.name, later.group,
        100 * (later.predicted_s(with_constants(later, fitted.values), 0) / later.measured_s - 1));
  for (std::size_t p = 0; p < systems.size(); ++p)
    fmt::print(
        "{:<46} {:<18} {:+.1f} %\n", systems[p].name, systems[p].group,
        100 * std::expm1(std::log(systems[p].predicted_s(with_constants(systems[p], fitted.values),
                                                         fitted.values.back()) /
                                  systems[p].measured_s)));
}

void print_leave_out(const std::vector<System>& systems) {
  std::map<std::string, std::vector<const System*>> groups;
  for (const System& system : systems)
    if (!by_pcie(system) && system.evaluation_cost.value_or(0) <= kInputBoundCost)
      groups[system.group].push_back(&system);
  ErrorSummary summary;
  for (const auto& [group, members] : groups) {
    const shardscope::FitResult fitted = fit_without(systems, group);
    for (const System* system : members) {
      const double predicted =
          system->predicted_s(with_constants(*system, fitted.values), fitted.values.back());
      const double error = predicted / system->measured_s - 1;
      summary.errors.push_back(std::abs(error));
      fmt::print("{:<46} {:<18} {:+.1f} %\n", system->name, group, error * 100);
    }
  }
  summary.print("each group left out");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "cpu")
    return shardscope::bench::validate_cpu({argv + 2, argv + argc});
  std::filesystem::path directory =
      std::filesystem::path(__FILE__).parent_path() / "../../shared/data/plans";
  bool fit = false, leave_out = false;
  std::string stages;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--fit") {
      fit = true;
    } else if (argument == "--leave-out") {
      leave_out = true;
    } else if (argument == "--stages" && i + 1 < argc) {
      stages = argv[++i];
    } else {
      directory = argument;
    }
  }
  if (!std::filesystem::exists(directory / "mlperf_measured_plans.json")) {
    fmt::print(stderr, "{} has no mlperf_measured_plans.json: nothing to compare with\n",
               directory.string());
    return 1;
  }
  const std::vector<System> systems = read_systems(directory);
  if (fit) print_fit(systems);
  if (leave_out) print_leave_out(systems);
  if (!stages.empty()) print_stages(systems, stages);
  if (fit || leave_out || !stages.empty()) return 0;
  print_table(systems);
  fmt::print("\nlater rounds, never fitted to\n");
  print_table(later_systems());
  shardscope::bench::print_merlin(directory.parent_path() / "specs");
  return 0;
}
