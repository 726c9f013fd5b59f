#include "planner/shortage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layout/check.hpp"
#include "layout/memory.hpp"
#include "planner/memory_packing.hpp"
#include "planner/table_memory.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kLargestShown = 5;
constexpr std::int32_t kMostHosts = 1024;

std::vector<std::size_t> largest_first(const Workload& workload) {
  std::vector<std::size_t> order(workload.tables.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stored_bytes(workload.tables[a]) > stored_bytes(workload.tables[b]);
  });
  return order;
}

/// What a model needs on a machine, and whether a layout passes the executor's rules.
struct Trial {
  double needed_bytes = HUGE_VAL;
  bool fits = false;
  std::string why_not;                 ///< a rule other than memory's
  std::vector<std::size_t> left_over;  ///< tables without room
};

Trial try_model(const PlanContext& context) {
  MemoryPacking packing = pack_by_memory(context);
  Trial trial;
  trial.needed_bytes = packing.needed_bytes;
  trial.left_over = std::move(packing.left_over);
  if (packing.layout.tables.empty()) {
    trial.why_not = "the executor has no form for some table";
    return trial;
  }
  trial.fits = packing.fits(context.memory.capacity());
  if (!check_is_cheap(context)) return trial;
  for (const Violation& violation :
       check(context.workload, context.topology, packing.layout, context.options.executor)) {
    if (violation.severity != Severity::error) continue;
    // The smallest table everywhere cures it (planner/optimize.hpp does so).
    if (violation.rule == "hugectr.empty_gpu") continue;
    trial.fits = false;
    if (violation.rule.starts_with("memory.")) {
      trial.needed_bytes = std::max(
          trial.needed_bytes, context.memory.capacity() + static_cast<double>(violation.amount));
    } else if (trial.why_not.empty()) {
      trial.why_not = violation.message;
    }
  }
  return trial;
}

Trial try_model(const Workload& workload, const Topology& topology, const PredictOptions& options) {
  return try_model(PlanContext(workload, topology, options));
}

class ShortageFinder {
 public:
  ShortageFinder(const Workload& workload, const Topology& topology, const PredictOptions& options)
      : workload_(workload), topology_(topology), options_(options) {}

  std::optional<Shortage> run() {
    const PlanContext context(workload_, topology_, options_);
    const Trial now = try_model(context);
    found_.capacity_bytes = context.memory.capacity();
    if (now.needed_bytes <= found_.capacity_bytes) return std::nullopt;
    found_.needed_bytes = now.needed_bytes;
    found_.short_bytes = std::max(0.0, now.needed_bytes - found_.capacity_bytes);
    found_.fixed_bytes = context.memory.empty().common;
    describe_tables(now.left_over);
    Workload fewest = workload_;
    fewest.global_batch = topology_.ranks();
    found_.table_bound = !try_model(fewest, topology_, options_).fits;
    if (!found_.table_bound) try_batches();
    try_wire();
    try_tables(Relief::half_weights);
    try_tables(Relief::rowwise_state);
    try_tables(Relief::no_state);
    try_tables(Relief::half_and_state);
    try_hosts();
    choose_least();
    return found_;
  }

 private:
  void describe_tables(const std::vector<std::size_t>& left_over) {
    for (const Table& table : workload_.tables) found_.table_bytes += stored_bytes(table);
    for (const std::size_t t : largest_first(workload_)) {
      const TableBytes one{static_cast<std::int32_t>(t), stored_bytes(workload_.tables[t])};
      if (found_.largest.size() < kLargestShown) found_.largest.push_back(one);
      if (std::find(left_over.begin(), left_over.end(), t) != left_over.end())
        found_.left_over.push_back(one);
    }
  }

  ReliefEffect& add(Relief relief, const Trial& trial, std::int64_t amount) {
    ReliefEffect& effect = found_.reliefs.emplace_back();
    effect.relief = relief;
    effect.legal = trial.why_not.empty();
    effect.why_not = trial.why_not;
    effect.fits = trial.fits;
    effect.amount = amount;
    effect.needed_bytes = trial.needed_bytes;
    effect.freed_bytes = found_.needed_bytes - trial.needed_bytes;
    return effect;
  }

  /// The largest whole number of samples a GPU that fits; one does.
  void try_batches() {
    const std::int64_t ranks = topology_.ranks();
    std::int64_t fits = 1, fails = std::max<std::int64_t>(2, workload_.global_batch / ranks);
    Workload other = workload_;
    const auto trial_of = [&](std::int64_t samples) {
      other.global_batch = samples * ranks;
      return try_model(other, topology_, options_);
    };
    // To 2 %: nobody trains at a batch chosen to the sample.
    while (fails - fits > std::max<std::int64_t>(1, fits / 50)) {
      const std::int64_t middle = (fits + fails) / 2;
      (trial_of(middle).fits ? fits : fails) = middle;
    }
    add(Relief::smaller_batch, trial_of(fits), fits * ranks);
  }

  void try_wire() {
    if (workload_.wire != DType::fp32) return;
    Workload other = workload_;
    other.wire = DType::fp16;
    add(Relief::wire_16_bit, try_model(other, topology_, options_), 0);
  }

  static bool change(Table& table, Relief relief) {
    bool changed = false;
    if ((relief == Relief::half_weights || relief == Relief::half_and_state) &&
        table.dtype == DType::fp32) {
      table.dtype = DType::fp16;
      changed = true;
    }
    const Optimizer& optimizer = table.optimizer;
    if (relief == Relief::no_state &&
        (optimizer.words_per_element > 0 || optimizer.words_per_row > 0)) {
      table.optimizer = make_optimizer(OptimizerKind::sgd);
      changed = true;
    }
    if ((relief == Relief::rowwise_state || relief == Relief::half_and_state) &&
        optimizer.words_per_element > 0) {
      table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
      changed = true;
    }
    return changed;
  }

  void try_tables(Relief relief) {
    const std::vector<std::size_t> order = largest_first(workload_);
    const auto changed = [&](std::size_t count, std::vector<std::int32_t>& tables) {
      Workload other = workload_;
      tables.clear();
      for (std::size_t i = 0; i < order.size() && tables.size() < count; ++i)
        if (change(other.tables[order[i]], relief))
          tables.push_back(static_cast<std::int32_t>(order[i]));
      return try_model(other, topology_, options_);
    };
    std::vector<std::int32_t> tables;
    const Trial all = changed(order.size(), tables);
    if (tables.empty()) return;
    ReliefEffect& effect = add(relief, all, static_cast<std::int64_t>(tables.size()));
    if (!all.fits) return;
    std::size_t fails = 0, fits = tables.size();
    while (fits - fails > 1) {
      const std::size_t middle = (fits + fails) / 2;
      (changed(middle, tables).fits ? fits : fails) = middle;
    }
    if (fits == static_cast<std::size_t>(effect.amount)) return;
    (void)changed(fits, tables);
    effect.enough = tables;
  }

  [[nodiscard]] Trial trial_on(std::int32_t hosts) const {
    Topology other = topology_;
    other.hosts = hosts;
    return try_model(workload_, other, options_);
  }

  /// Domains stay whole: hosts grow by as many as one domain spans.
  void try_hosts() {
    const std::int32_t step = std::max(1, topology_.fast_domain / topology_.gpus_per_host);
    std::int32_t fails = topology_.hosts, fits = 0;
    Trial last;
    for (std::int64_t hosts = 2LL * fails;
         hosts <= kMostHosts && hosts * topology_.gpus_per_host <= workload_.global_batch;
         hosts *= 2) {
      last = trial_on(static_cast<std::int32_t>(hosts));
      if (last.fits) {
        fits = static_cast<std::int32_t>(hosts);
        break;
      }
      fails = static_cast<std::int32_t>(hosts);
    }
    if (fits == 0) {
      if (std::isfinite(last.needed_bytes)) add(Relief::more_hosts, last, 0);
      return;
    }
    // A batch may not divide by every number of GPUs: memory alone narrows, then the rules decide.
    while (fits - fails > step) {
      const std::int32_t middle = fails + (fits - fails) / 2 / step * step;
      if (middle == fails) break;
      const Trial trial = trial_on(middle);
      (trial.needed_bytes <= found_.capacity_bytes ? fits : fails) = middle;
    }
    while (!(last = trial_on(fits)).fits && fits < kMostHosts) fits += step;
    add(Relief::more_hosts, last, fits);
  }

  void choose_least() {
    for (const bool some : {true, false}) {
      for (std::size_t i = 0; i < found_.reliefs.size(); ++i) {
        const ReliefEffect& effect = found_.reliefs[i];
        if (!effect.fits || found_.least) continue;
        const bool touches_all = effect.enough.empty() && effect.relief != Relief::smaller_batch &&
                                 effect.relief != Relief::wire_16_bit;
        if (!some || !touches_all) found_.least = i;
      }
    }
  }

  const Workload& workload_;
  const Topology& topology_;
  const PredictOptions& options_;
  Shortage found_;
};

}  // namespace

const char* to_string(Relief value) {
  switch (value) {
    case Relief::smaller_batch:
      return "smaller_batch";
    case Relief::wire_16_bit:
      return "wire_16_bit";
    case Relief::half_weights:
      return "half_weights";
    case Relief::rowwise_state:
      return "rowwise_state";
    case Relief::no_state:
      return "no_state";
    case Relief::half_and_state:
      return "half_and_state";
    case Relief::more_hosts:
      return "more_hosts";
  }
  return "";
}

std::optional<Shortage> find_shortage(const Workload& workload, const Topology& topology,
                                      const PredictOptions& options) {
  return ShortageFinder(workload, topology, options).run();
}

}  // namespace shardscope
