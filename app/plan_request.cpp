#include "app/plan_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>

#include "layout/names.hpp"
#include "planner/bound.hpp"
#include "planner/codec_search.hpp"
#include "planner/executor_form.hpp"
#include "planner/planners.hpp"

namespace shardscope::app {
namespace {

constexpr double kMostEffort = 1000;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Error bad_option(const char* option, const std::string& text, std::string expected) {
  return {ErrorKind::usage, fmt::format("'{}' is not a value", text), option, std::move(expected),
          ""};
}

Result<std::int32_t> rank_number(const std::string& text, const Inputs& inputs,
                                 const char* option) {
  std::int32_t rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || rank < 0 ||
      rank >= inputs.topology.ranks())
    return fail(
        bad_option(option, text, fmt::format("a rank from 0 to {}", inputs.topology.ranks() - 1)));
  return rank;
}

constexpr const char* kPinForms =
    "TABLE=DP, TABLE=RB, TABLE=UB or TABLE=RANK[,RANK...] with ranks from 0 to ";

std::string in_capitals(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

Status add_pin(const std::string& text, const Inputs& inputs, PlanConstraints& constraints) {
  const std::string expected = fmt::format("{}{}", kPinForms, inputs.topology.ranks() - 1);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return fail(bad_option("--pin", text, expected));
  const Result<std::int32_t> table =
      table_by_name(text.substr(0, equals), inputs.workload, "--pin");
  if (!table) return fail(table.error());
  const std::string value = text.substr(equals + 1);
  if (const auto cluster = parse_name<ClusterType>(in_capitals(value))) {
    constraints.clusters.emplace_back(*table, *cluster);
    return {};
  }
  std::vector<std::int32_t> ranks;
  for (const std::string& part : split(value, ',')) {
    const Result<std::int32_t> rank = rank_number(part, inputs, "--pin");
    if (!rank) return fail(bad_option("--pin", text, expected));
    ranks.push_back(*rank);
  }
  constraints.only_ranks.emplace_back(*table, std::move(ranks));
  return {};
}

Error contradiction(const std::string& what, const char* options) {
  return {ErrorKind::usage, what, options, "wishes that one layout can fulfil", "Drop one of them"};
}

/// Two wishes about one table that no layout can fulfil together.
Status require_consistent(const PlanConstraints& wish, const Inputs& inputs) {
  const auto name = [&](std::int32_t table) {
    return inputs.workload.tables[static_cast<std::size_t>(table)].name;
  };
  std::map<std::int32_t, ClusterType> clusters;
  std::map<std::int32_t, std::vector<std::int32_t>> ranks;
  for (const auto& [table, cluster] : wish.clusters) {
    const auto [known, fresh] = clusters.emplace(table, cluster);
    if (!fresh && known->second != cluster)
      return fail(contradiction(fmt::format("table {} is pinned to {} and to {}", name(table),
                                            to_string(known->second), to_string(cluster)),
                                "--pin"));
  }
  for (const auto& [table, only] : wish.only_ranks) {
    const auto [known, fresh] = ranks.emplace(table, only);
    if (!fresh && known->second != only)
      return fail(contradiction(
          fmt::format("table {} is pinned to two different sets of ranks", name(table)), "--pin"));
    const auto cluster = clusters.find(table);
    if (cluster != clusters.end() && cluster->second == ClusterType::DP)
      return fail(contradiction(
          fmt::format("table {} is pinned to DP, on every rank, and to some ranks", name(table)),
          "--pin"));
    const bool all_forbidden = std::all_of(only.begin(), only.end(), [&](std::int32_t rank) {
      return std::find(wish.forbidden_ranks.begin(), wish.forbidden_ranks.end(), rank) !=
             wish.forbidden_ranks.end();
    });
    if (all_forbidden)
      return fail(contradiction(
          fmt::format("every rank that table {} is pinned to is forbidden", name(table)),
          "--pin, --forbid"));
  }
  std::set<std::int32_t> forbidden(wish.forbidden_ranks.begin(), wish.forbidden_ranks.end());
  if (static_cast<std::int32_t>(forbidden.size()) == inputs.topology.ranks())
    return fail(contradiction("every rank is forbidden", "--forbid"));
  std::set<std::int32_t> grouped;
  for (const auto& group : wish.together)
    for (const std::int32_t table : group) {
      if (!grouped.insert(table).second)
        return fail(
            contradiction(fmt::format("table {} is named twice", name(table)), "--together"));
      const auto cluster = clusters.find(table);
      if (cluster != clusters.end() && cluster->second == ClusterType::DP)
        return fail(contradiction(
            fmt::format("table {} is pinned to DP and kept whole on one rank", name(table)),
            "--pin, --together"));
    }
  return {};
}

Result<PlanSettings> settings_of(const PlanOptions& options) {
  PlanSettings settings;
  for (const std::string& text : options.settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(bad_option("--set", text, "KEY=VALUE"));
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

bool asks_nothing(const PlanOptions& options) {
  return options.pins.empty() && options.forbidden.empty() && options.together.empty();
}

Result<PlannedLayout> optimized(const PlanOptions& options, const Inputs& inputs,
                                const PredictOptions& how, const PlanSettings& settings,
                                const std::function<bool(const OptimizeProgress&)>& progress) {
  if (Status known = only_settings(settings, {"effort"}, "optimize"); !known)
    return fail(known.error());
  const Result<double> effort = number_setting(settings, "effort", 1);
  if (!effort) return fail(effort.error());
  if (*effort > kMostEffort)
    return fail(bad_option("--set effort", settings.at("effort"),
                           fmt::format("a number from 0 to {}", kMostEffort)));
  Result<PlanConstraints> constraints = plan_constraints(options, inputs);
  if (!constraints) return fail(constraints.error());
  OptimizeOptions request;
  request.predict = how;
  request.constraints = std::move(*constraints);
  request.seed = options.seed;
  request.effort = static_cast<int>(*effort);
  request.time_limit_s = options.time_limit_s;
  request.progress = progress;
  Result<OptimizedPlan> plan = optimize(inputs.workload, inputs.topology, request);
  if (!plan) return fail(plan.error());
  PlannedLayout planned;
  planned.planner = "optimize";
  planned.layout = std::move(plan->layout);
  planned.lower_bound_s = plan->lower_bound_s;
  planned.gap = plan->gap;
  planned.seconds = plan->elapsed_s;
  planned.cancelled = plan->cancelled;
  return planned;
}

}  // namespace

Result<PlanConstraints> plan_constraints(const PlanOptions& options, const Inputs& inputs) {
  PlanConstraints constraints;
  for (const std::string& pin : options.pins)
    if (Status added = add_pin(pin, inputs, constraints); !added) return fail(added.error());
  for (const std::string& text : options.forbidden) {
    const Result<std::int32_t> rank = rank_number(text, inputs, "--forbid");
    if (!rank) return fail(rank.error());
    constraints.forbidden_ranks.push_back(*rank);
  }
  for (const std::string& text : options.together) {
    std::vector<std::int32_t>& group = constraints.together.emplace_back();
    for (const std::string& name : split(text, ',')) {
      const Result<std::int32_t> table = table_by_name(name, inputs.workload, "--together");
      if (!table) return fail(table.error());
      group.push_back(*table);
    }
    if (group.size() < 2)
      return fail(bad_option("--together", text, "at least two tables, TABLE,TABLE"));
  }
  if (Status consistent = require_consistent(constraints, inputs); !consistent)
    return fail(consistent.error());
  return constraints;
}

Result<PlannedLayout> plan_layout(const PlanOptions& options, const Inputs& inputs,
                                  const PredictOptions& how,
                                  const std::function<bool(const OptimizeProgress&)>& progress) {
  const Result<PlanSettings> settings = settings_of(options);
  if (!settings) return fail(settings.error());
  if (options.planner == "optimize") return optimized(options, inputs, how, *settings, progress);
  if (!asks_nothing(options))
    return fail({ErrorKind::usage, fmt::format("planner {} takes no constraints", options.planner),
                 "--pin, --forbid, --together", "", "Use --planner optimize"});
  const auto begin = std::chrono::steady_clock::now();
  Result<NamedPlan> plan = named_plan(options.planner, inputs.workload, inputs.topology, *settings);
  if (!plan) return fail(plan.error());
  PlannedLayout planned;
  planned.planner = options.planner;
  planned.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  planned.layout =
      in_executor_form(std::move(plan->layout), inputs.workload, inputs.topology, how.executor);
  planned.cost = plan->cost;
  planned.cost_unit = plan->cost_unit;
  const PlanContext context(inputs.workload, inputs.topology, how);
  planned.layout = with_paying_codecs(context, planned.layout, [] { return true; });
  planned.lower_bound_s = lower_bound(context).seconds;
  const Result<double> seconds =
      predicted_seconds(inputs.workload, inputs.topology, planned.layout, how);
  if (!seconds) return fail(seconds.error());
  if (planned.lower_bound_s > 0) planned.gap = *seconds / planned.lower_bound_s - 1;
  return planned;
}

}  // namespace shardscope::app
