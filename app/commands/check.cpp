#include "layout/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/fit_report.hpp"
#include "app/inputs.hpp"
#include "app/planning_codecs.hpp"
#include "app/recorded_stats.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "layout/memory.hpp"
#include "planner/layout_warnings.hpp"

namespace shardscope::app {
namespace {

/// Text output shows this many ranks of the memory table: the fullest.
constexpr std::size_t kRanksShown = 8;

nlohmann::ordered_json memory_json(const MemoryUse& use) {
  return {{"total", use.total()},
          {"weights", use.weights},
          {"optimizer_state", use.optimizer_state},
          {"transients", use.transients},
          {"communication", use.communication},
          {"indices", use.indices},
          {"sort", use.sort},
          {"wgrad", use.wgrad},
          {"tier_overhead", use.tier_overhead},
          {"dense", use.dense},
          {"reserve", use.reserve}};
}

void print_check_json(const Inputs& inputs, const Layout& layout, Executor executor,
                      const std::vector<Violation>& violations, const MemoryAccount& memory,
                      const std::optional<LayoutShortage>& shortage) {
  nlohmann::ordered_json json = {{"valid", !has_errors(violations)},
                                 {"executor", to_string(executor)},
                                 {"workload", inputs.workload.name},
                                 {"rows_cap", inputs.workload.rows_cap},
                                 {"topology", inputs.topology.name},
                                 {"layout", layout.name},
                                 {"violations", nlohmann::ordered_json::array()},
                                 {"memory", nlohmann::ordered_json::array()},
                                 {"host_memory", nlohmann::ordered_json::array()}};
  for (const Violation& violation : violations) {
    json["violations"].push_back(violation_json(violation, inputs.workload));
  }
  for (const MemoryUse& use : memory.gpus) json["memory"].push_back(memory_json(use));
  for (const MemoryUse& use : memory.hosts) json["host_memory"].push_back(memory_json(use));
  if (shortage) json["shortage"] = shortage_json(inputs, *shortage);
  fmt::print("{}\n", json.dump(2));
}

std::string bytes_cell(std::int64_t bytes) {
  return bytes == 0 ? "-" : bytes_text(static_cast<double>(bytes));
}

void print_memory(const Inputs& inputs, const MemoryAccount& memory) {
  std::vector<std::size_t> ranks(memory.gpus.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
  std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
    return memory.gpus[a].total() > memory.gpus[b].total();
  });
  const bool all = ranks.size() <= kRanksShown;
  if (!all) ranks.resize(kRanksShown);
  std::sort(ranks.begin(), ranks.end());
  const double limit = inputs.topology.gpu.memory_bytes.value;
  fmt::print("Memory of {} ({} on each):\n",
             all ? "every rank"
                 : fmt::format("the {} fullest of {} ranks", kRanksShown, memory.gpus.size()),
             bytes_text(limit));
  TextTable table({{"rank"},
                   {"total"},
                   {"full", Align::left},
                   {"weights"},
                   {"state"},
                   {"transients"},
                   {"exchange"},
                   {"ids"},
                   {"sort"},
                   {"gradients"},
                   {"tiers"},
                   {"dense"},
                   {"reserve"}});
  for (const std::size_t rank : ranks) {
    const MemoryUse& use = memory.gpus[rank];
    const double share = limit > 0 ? static_cast<double>(use.total()) / limit : 0;
    table.row({std::to_string(rank), bytes_cell(use.total()),
               fmt::format("{} {:.0f} %", bar(share, 10), share * 100), bytes_cell(use.weights),
               bytes_cell(use.optimizer_state), bytes_cell(use.transients),
               bytes_cell(use.communication), bytes_cell(use.indices), bytes_cell(use.sort),
               bytes_cell(use.wgrad), bytes_cell(use.tier_overhead), bytes_cell(use.dense),
               bytes_cell(use.reserve)});
  }
  fmt::print("{}", table.text(2));
}

/// The same rule broken by the same amount with the same cure, on one rank after another.
bool differ_in_rank_alone(const Violation& a, const Violation& b) {
  return a.rule == b.rule && a.severity == b.severity && a.table == b.table && a.row == b.row &&
         a.column == b.column && a.amount == b.amount && a.cure == b.cure && a.rank >= 0 &&
         b.rank == a.rank + 1;
}

/// Every violation once: a row of ranks that differ in nothing else is one entry.
void print_violations(const std::vector<Violation>& violations) {
  const Console console = Console::of_stdout();
  for (std::size_t i = 0; i < violations.size(); ++i) {
    const Violation& violation = violations[i];
    std::size_t last = i;
    while (last + 1 < violations.size() &&
           differ_in_rank_alone(violations[last], violations[last + 1])) {
      ++last;
    }
    const bool error = violation.severity == Severity::error;
    const std::string word = to_string(violation.severity);
    fmt::print("{}  {}\n         {}\n", error ? console.red(word) : console.yellow(word),
               console.bold(violation.rule), violation.message);
    if (last > i) {
      fmt::print("         The same on GPU{}\n",
                 last == i + 1
                     ? fmt::format(" {}", violations[last].rank)
                     : fmt::format("s {} to {}", violation.rank + 1, violations[last].rank));
    }
    fmt::print("         Cure: {}\n", violation.cure);
    i = last;
  }
}

/// Accounting needs a sound geometry: rules about memory are the only ones it may break.
bool geometry_is_sound(const std::vector<Violation>& violations) {
  return std::none_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.severity == Severity::error && !violation.rule.starts_with("memory.");
  });
}

}  // namespace

Status check_layout(const CheckOptions& options) {
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<Layout> layout =
      load_layout(options.layout, *inputs, predict_options({options.executor, {}}));
  if (!layout) return fail(layout.error());
  if (Status saved = save_layout_file(options.save, *layout); !saved) return saved;
  std::vector<Violation> violations =
      check(inputs->workload, inputs->topology, *layout, options.executor);
  MemoryAccount memory;
  std::optional<LayoutShortage> shortage;
  if (geometry_is_sound(violations)) {
    PredictOptions how = measured_options(*inputs, {options.executor, {}});
    if (Status known = measure_codecs_of(*inputs, *layout, how); !known) return known;
    memory = memory_of(inputs->workload, inputs->topology, *layout, options.executor);
    for (Violation& warning : layout_warnings(inputs->workload, inputs->topology, *layout, how))
      violations.push_back(std::move(warning));
    shortage = find_layout_shortage(inputs->workload, inputs->topology, *layout, how);
  }
  if (options.json) {
    print_check_json(*inputs, *layout, options.executor, violations, memory, shortage);
  } else {
    fmt::print("{} on {} with layout {}, executor {}{}\n\n", inputs->workload.name,
               inputs->topology.name, layout->name, to_string(options.executor),
               inputs->workload.rows_cap > 0
                   ? fmt::format(", rows capped at {}", grouped(inputs->workload.rows_cap))
                   : "");
    print_violations(violations);
    if (!violations.empty()) fmt::print("\n");
    if (!memory.gpus.empty()) print_memory(*inputs, memory);
    if (shortage) fmt::print("\n{}", shortage_text(*inputs, *shortage));
  }
  const auto errors = std::count_if(
      violations.begin(), violations.end(),
      [](const Violation& violation) { return violation.severity == Severity::error; });
  if (errors == 0) {
    if (!options.json) fmt::print("\nValid for {}.\n", to_string(options.executor));
    return {};
  }
  std::fflush(stdout);
  return fail({ErrorKind::infeasible,
               fmt::format("the layout breaks rules of {} in {} place{}",
                           to_string(options.executor), errors, errors == 1 ? "" : "s"),
               "layout " + layout->name, "", ""});
}

}  // namespace shardscope::app
