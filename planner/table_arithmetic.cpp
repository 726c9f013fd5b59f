#include "planner/table_arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "planner/plan_context.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

std::string amount(double value) {
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [unit, name] : kUnits)
    if (value >= unit) return fmt::format("{:.3g}{}", value / unit, name);
  return fmt::format("{:.3g}", value);
}

class Arithmetic {
 public:
  Arithmetic(const PlanContext& context, std::size_t table)
      : context_(context), facts_(context.facts.tables[table]), gpu_(context.topology.gpu) {}

  /// Lines of a table whose loads on its busiest owner are these.
  void owner_lines(const OwnerLoad& load, FormArithmetic& form) const {
    const double memory = gpu_.memory_bytes_per_s.value;
    memory_line(form, "lookup", load.gather_bytes, gpu_.gather_efficiency.value,
                fmt::format("{} ids, {} distinct, of its shards", amount(load.keys),
                            amount(std::min(load.keys, facts_.batch_unique))));
    form.lines.push_back({"index",
                          fmt::format("{} ids x {:.0f} B / {}B/s", amount(load.keys),
                                      gpu_.sort_bytes_per_key.value, amount(memory)),
                          load.keys * gpu_.sort_bytes_per_key.value / memory, "s"});
    memory_line(form, "local reduce", load.reduce_bytes, gpu_.reduce_efficiency.value,
                "a gradient row an id, a reduced row a distinct id");
    memory_line(form, "update", load.update_bytes,
                gpu_.update_bytes_per_s() / gpu_.memory_bytes_per_s.value,
                "weights and state of distinct rows, read and written");
  }

  void exchange_lines(const LayoutLoads& loads, const OwnerLoad& owner,
                      FormArithmetic& form) const {
    const Topology& topology = context_.topology;
    const double samples = context_.facts.rank_batch;
    const double all = topology.ranks(), g = topology.fast_domain, n = topology.domains();
    if (form.exchange == Exchange::hierarchical && form.cluster == ClusterType::RB) {
      const double inside = owner.domain_bytes[0] + owner.domain_bytes[1];
      wire_line(form, "inside the domain", topology.intra, samples * n * (g - 1) * inside,
                fmt::format("{} samples x {} rails x {}B, both ways", amount(samples * n),
                            amount(g - 1), amount(inside)));
      double rail = 0;
      for (const DomainLoad& domain : loads.domains)
        rail = std::max(rail, domain.rail_bytes[0] + domain.rail_bytes[1]);
      if (n > 1)
        wire_line(form, "along the rails", topology.inter, samples * (n - 1) * rail,
                  fmt::format("{} samples x {} domains x {}B, both ways", amount(samples),
                              amount(n - 1), amount(rail)));
      return;
    }
    const auto& flat = owner.flat_bytes;
    const double near = flat[kForwardIntra] + flat[kBackwardIntra];
    const double far = flat[kForwardInter] + flat[kBackwardInter];
    wire_line(form, "inside the domain", topology.intra, samples * (g - 1) * near,
              fmt::format("{} samples x {} ranks x {}B, both ways", amount(samples), amount(g - 1),
                          amount(near)));
    if (n > 1)
      wire_line(form, "between domains", topology.inter, samples * (all - g) * far,
                fmt::format("{} samples x {} ranks x {}B, both ways", amount(samples),
                            amount(all - g), amount(far)));
  }

  void replicated_lines(FormArithmetic& form) const {
    const ReplicatedLoad load = context_.loads.replicated(facts_);
    const Topology& topology = context_.topology;
    memory_line(form, "lookup", load.gather_bytes, gpu_.gather_efficiency.value,
                fmt::format("{} ids of the rank's own samples", amount(load.keys)));
    memory_line(form, "local reduce", load.reduce_bytes, gpu_.reduce_efficiency.value,
                "into a dense gradient of the whole table");
    memory_line(form, "update", load.update_bytes,
                gpu_.update_bytes_per_s() / gpu_.memory_bytes_per_s.value,
                "weights and state, on every rank");
    const double bytes = load.allreduce_elements * context_.facts.wire_bytes;
    const double n = topology.domains(), g = topology.fast_domain;
    wire_line(form, "all-reduce inside", topology.intra, 2 * bytes * (g - 1) / g,
              fmt::format("2 x {}B x {:.0f}/{:.0f}", amount(bytes), g - 1, g));
    if (n > 1)
      wire_line(form, "all-reduce between", topology.inter, 2 * bytes / g * (n - 1) / n,
                fmt::format("2 x {}B / {:.0f} x {:.0f}/{:.0f}", amount(bytes), g, n - 1, n));
  }

 private:
  void memory_line(FormArithmetic& form, const char* label, double bytes, double efficiency,
                   const std::string& what) const {
    const double rate = gpu_.memory_bytes_per_s.value * efficiency;
    form.lines.push_back({label,
                          fmt::format("{}B / ({}B/s x {:.2f}); {}", amount(bytes),
                                      amount(gpu_.memory_bytes_per_s.value), efficiency, what),
                          bytes / rate, "s"});
  }
  static void wire_line(FormArithmetic& form, const char* label, const LinkModel& link,
                        double bytes, const std::string& what) {
    const double rate = link.large_bytes_per_s();
    form.lines.push_back({label, fmt::format("{} = {}B / {}B/s", what, amount(bytes), amount(rate)),
                          rate > 0 ? bytes / rate : 0, "s"});
  }

  const PlanContext& context_;
  const TableFacts& facts_;
  const Gpu& gpu_;
};

FormArithmetic arithmetic_of(const PlanContext& context, WhatIf& what_if, std::size_t table,
                             ClusterType cluster, Exchange exchange) {
  const Layout& layout = what_if.layout();
  const TablePlacement& now = layout.tables[table];
  FormArithmetic form;
  form.cluster = cluster;
  form.exchange = exchange;
  if (cluster == ClusterType::DP) {
    form.placement = data_parallel(context.workload.tables[table]);
  } else {
    form.placement =
        now.cluster == ClusterType::DP ? table_wise(context.workload.tables[table], 0) : now;
    form.placement.cluster = cluster;
    form.placement.exchange.reset();
    if (cluster == ClusterType::RB) form.placement.exchange = exchange;
  }
  const bool dedup = layout.options(ClusterType::UB).dedup;
  LayoutLoads loads = context.loads.empty();
  context.loads.add(loads, table, form.placement, {exchange, dedup, nullptr}, 1);
  const Arithmetic arithmetic(context, table);
  if (cluster == ClusterType::DP) {
    arithmetic.replicated_lines(form);
  } else {
    const std::vector<OwnerLoad>& owners = cluster == ClusterType::UB ? loads.ub : loads.rb;
    const auto busiest =
        std::max_element(owners.begin(), owners.end(), [](const OwnerLoad& a, const OwnerLoad& b) {
          return a.gather_bytes + a.update_bytes < b.gather_bytes + b.update_bytes;
        });
    arithmetic.owner_lines(*busiest, form);
    arithmetic.exchange_lines(loads, *busiest, form);
  }
  const TableMemory memory = context.memory.of(table, form.placement, exchange, dedup);
  std::map<std::int32_t, double> by_rank;
  for (const auto& [rank, bytes] : memory.ranks) by_rank[rank] += bytes;
  for (const auto& [rank, bytes] : by_rank) form.memory_bytes = std::max(form.memory_bytes, bytes);
  form.memory_bytes += memory.everywhere;
  form.iteration_s = what_if.try_table(table, form.placement);
  const TableForm wanted = cluster == ClusterType::DP   ? TableForm::replicated
                           : cluster == ClusterType::UB ? TableForm::by_unique
                           : exchange == Exchange::flat ? TableForm::flat
                                                        : TableForm::hierarchical;
  form.legal = (legal_forms(context)[table] & form_bit(wanted)) != 0;
  return form;
}

}  // namespace

Result<std::vector<FormArithmetic>> table_arithmetic(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     std::size_t table,
                                                     const PredictOptions& options) {
  Result<WhatIf> what_if = WhatIf::create(workload, topology, layout, options);
  if (!what_if) return fail(what_if.error());
  if (table >= workload.tables.size())
    return fail({ErrorKind::usage, fmt::format("there is no table {}", table), workload.name,
                 fmt::format("0 to {}", workload.tables.size() - 1), ""});
  const PlanContext context(workload, topology, options);
  std::vector<FormArithmetic> forms;
  forms.push_back(arithmetic_of(context, *what_if, table, ClusterType::DP, Exchange::flat));
  if (context.facts.tables[table].unpooled == 0) {
    forms.push_back(arithmetic_of(context, *what_if, table, ClusterType::RB, Exchange::flat));
    if (topology.domains() > 1)
      forms.push_back(
          arithmetic_of(context, *what_if, table, ClusterType::RB, Exchange::hierarchical));
  }
  forms.push_back(arithmetic_of(context, *what_if, table, ClusterType::UB, Exchange::flat));
  return forms;
}

}  // namespace shardscope
