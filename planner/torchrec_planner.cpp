#include "planner/torchrec_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "layout/dense_sizes.hpp"

namespace shardscope {

namespace {

constexpr double kBytesInGib = 1024.0 * 1024.0 * 1024.0;

// HeuristicalStorageReservation of torchrec/distributed/planner/storage_reservations.py.
constexpr double kReservedShare = 0.15;
constexpr double kDenseCopies = 6;
constexpr double kIdCopies = 20;

/// Product of options up to which every combination is tried (GridSearchProposer).
constexpr double kMostCombinations = 1e4;

using Options = std::vector<std::vector<TorchRecChoice>>;  ///< by table

double largest_shard_bytes(const TorchRecChoice& choice) {
  double most = 0;
  for (const TorchRecShard& shard : choice.shards) most = std::max(most, shard.hbm_bytes);
  return most;
}

double longest_shard_ms(const TorchRecChoice& choice) {
  double most = 0;
  for (const TorchRecShard& shard : choice.shards) most = std::max(most, shard.total_ms());
  return most;
}

Options enumerate(const std::vector<TorchRecTable>& tables, const TorchRecMachine& machine) {
  const bool several_hosts = machine.world > machine.local_world;
  Options options;
  for (const TorchRecTable& table : tables) {
    std::vector<TorchRecChoice>& choices = options.emplace_back();
    std::vector<TorchRecForm> forms = {TorchRecForm::data_parallel, TorchRecForm::table_wise,
                                       TorchRecForm::column_wise, TorchRecForm::row_wise};
    if (several_hosts && table.pooled) {
      forms.push_back(TorchRecForm::table_row_wise);
      forms.push_back(TorchRecForm::table_column_wise);
    }
    for (const TorchRecForm form : forms) {
      TorchRecChoice choice{form, torchrec_shards(table, form, machine), {}};
      const bool columns =
          form == TorchRecForm::column_wise || form == TorchRecForm::table_column_wise;
      if (columns && choice.shards.size() < 2) continue;  // the same as table_wise
      choices.push_back(std::move(choice));
    }
  }
  return options;
}

/// What the proposers ask of an option again and again.
struct OptionTotals {
  double everywhere_ms = 0, everywhere_bytes = 0;  ///< over all ranks
  double ms = 0, bytes = 0;                        ///< over its shards
  double longest_ms = 0, largest_bytes = 0;        ///< shard
};

OptionTotals totals_of(const TorchRecChoice& choice, std::int32_t world) {
  OptionTotals totals{.ms = choice.total_ms(),
                      .bytes = choice.total_hbm_bytes(),
                      .longest_ms = longest_shard_ms(choice),
                      .largest_bytes = largest_shard_bytes(choice)};
  const bool copied = choice.form == TorchRecForm::data_parallel;
  totals.everywhere_ms = copied ? world * choice.shards.front().total_ms() : totals.ms;
  totals.everywhere_bytes = copied ? world * choice.shards.front().hbm_bytes : totals.bytes;
  return totals;
}

/// Keeps the best complete placement of all that the proposers try.
class Proposals {
 public:
  Proposals(const TorchRecMachine& machine, const Options& options)
      : machine_(machine), options_(options) {
    for (const std::vector<TorchRecChoice>& choices : options) {
      std::vector<OptionTotals>& totals = totals_.emplace_back();
      for (const TorchRecChoice& choice : choices)
        totals.push_back(totals_of(choice, machine.world));
    }
  }

  void consider(const std::vector<std::size_t>& chosen) {
    if (is_hopeless(chosen)) return;
    TorchRecPlacement placement;
    for (std::size_t t = 0; t < options_.size(); ++t)
      placement.tables.push_back(options_[t][chosen[t]]);
    if (!torchrec_partition(machine_, placement)) return;
    if (found_ && placement.max_ms() >= best_.max_ms()) return;
    found_ = true;
    best_ = std::move(placement);
  }

  /// From the fastest option of every table on: the table with most storage gives way first.
  void greedy(bool by_longest_shard) {
    std::vector<std::vector<std::size_t>> order;
    for (const std::vector<OptionTotals>& totals : totals_) {
      std::vector<std::size_t>& sorted = order.emplace_back(totals.size());
      std::iota(sorted.begin(), sorted.end(), std::size_t{0});
      std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
        return by_longest_shard ? totals[a].longest_ms < totals[b].longest_ms
                                : totals[a].ms < totals[b].ms;
      });
    }
    std::vector<std::size_t> step(options_.size(), 0), chosen(options_.size());
    while (true) {
      for (std::size_t t = 0; t < options_.size(); ++t) chosen[t] = order[t][step[t]];
      consider(chosen);
      std::size_t largest = options_.size();
      std::pair<double, double> most{-1, -1};
      for (std::size_t t = 0; t < options_.size(); ++t) {
        if (step[t] + 1 >= order[t].size()) continue;
        const OptionTotals& now = totals_[t][chosen[t]];
        const std::pair<double, double> storage{now.largest_bytes, now.bytes};
        if (storage > most) {
          most = storage;
          largest = t;
        }
      }
      if (largest == options_.size()) return;
      ++step[largest];
    }
  }

  /// One sharding type for all tables that have it.
  void uniform() {
    for (const TorchRecForm form :
         {TorchRecForm::data_parallel, TorchRecForm::table_wise, TorchRecForm::column_wise,
          TorchRecForm::row_wise, TorchRecForm::table_row_wise, TorchRecForm::table_column_wise}) {
      std::vector<std::size_t> chosen;
      for (const std::vector<TorchRecChoice>& choices : options_) {
        const auto found =
            std::find_if(choices.begin(), choices.end(),
                         [&](const TorchRecChoice& choice) { return choice.form == form; });
        if (found != choices.end())
          chosen.push_back(static_cast<std::size_t>(found - choices.begin()));
      }
      if (chosen.size() == options_.size()) consider(chosen);
    }
  }

  void grid() {
    double product = 1;
    for (const std::vector<TorchRecChoice>& choices : options_)
      product *= static_cast<double>(choices.size());
    if (product > kMostCombinations) return;
    std::vector<std::size_t> chosen(options_.size(), 0);
    while (true) {
      consider(chosen);
      std::size_t t = 0;
      while (t < chosen.size() && ++chosen[t] == options_[t].size()) chosen[t++] = 0;
      if (t == chosen.size()) return;
    }
  }

  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] TorchRecPlacement& best() { return best_; }

 private:
  /// Even a perfect spread would be no faster than the best, or would not fit.
  [[nodiscard]] bool is_hopeless(const std::vector<std::size_t>& chosen) const {
    constexpr double kRounding = 1e-9;
    double ms = 0, bytes = 0;
    for (std::size_t t = 0; t < chosen.size(); ++t) {
      ms += totals_[t][chosen[t]].everywhere_ms;
      bytes += totals_[t][chosen[t]].everywhere_bytes;
    }
    if (bytes > machine_.world * std::max(0.0, machine_.hbm_bytes) * (1 + kRounding)) return true;
    return found_ && ms >= machine_.world * best_.max_ms() * (1 + kRounding);
  }

  const TorchRecMachine& machine_;
  const Options& options_;
  std::vector<std::vector<OptionTotals>> totals_;  ///< as options
  TorchRecPlacement best_;
  bool found_ = false;
};

Result<TorchRecMachine> machine_of(const Workload& workload, const Topology& topology,
                                   const PlanSettings& settings) {
  TorchRecMachine machine = torchrec_machine(topology, workload.global_batch);
  const std::pair<const char*, double*> rates[] = {{"hbm_cap_gib", &machine.hbm_bytes},
                                                   {"hbm_bw_gib", &machine.hbm_bytes_per_s},
                                                   {"intra_bw_gib", &machine.intra_bytes_per_s},
                                                   {"inter_bw_gib", &machine.inter_bytes_per_s}};
  for (const auto& [key, value] : rates) {
    const Result<double> given = number_setting(settings, key, *value / kBytesInGib);
    if (!given) return fail(given.error());
    *value = *given * kBytesInGib;
  }
  const Result<double> reserve = number_setting(settings, "reserve", kReservedShare);
  if (!reserve) return fail(reserve.error());
  double ids = 0;
  for (const Feature& feature : workload.features)
    ids += feature.num_poolings * feature.hotness.mean() * machine.batch;
  const double dense = 4.0 * static_cast<double>(dense_sizes(workload, 0).parameters);
  machine.hbm_bytes =
      machine.hbm_bytes * (1 - *reserve) - kDenseCopies * dense - kIdCopies * 8 * ids;
  return machine;
}

/// Sorted distinct bounds of `values`, from 0 to `end`.
template <class T>
std::vector<T> bounds(std::set<T> values, T end) {
  values.insert(0);
  values.insert(end);
  return {values.begin(), values.end()};
}

}  // namespace

Layout layout_of_torchrec(const Workload& workload, std::int32_t ranks,
                          const TorchRecPlacement& placement) {
  Layout layout;
  layout.name = "torchrec";
  layout.ranks = ranks;
  layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = false;
  const std::vector<TorchRecTable> tables = torchrec_tables(workload);
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const TorchRecChoice& choice = placement.tables[t];
    layout.table_names.push_back(table.name);
    if (choice.form == TorchRecForm::data_parallel) {
      layout.tables.push_back(data_parallel(table));
      continue;
    }
    TablePlacement& placed = layout.tables.emplace_back();
    placed.cluster = tables[t].pooled ? ClusterType::RB : ClusterType::UB;
    placed.mapping = RowMapping::block;
    std::set<std::int64_t> rows;
    std::set<std::int32_t> columns;
    for (const TorchRecShard& shard : choice.shards) {
      rows.insert(shard.first_row);
      columns.insert(shard.first_column);
    }
    placed.row_cuts = bounds<std::int64_t>(std::move(rows), table.rows);
    placed.column_cuts = bounds<std::int32_t>(std::move(columns), table.dim);
    placed.row_shards = static_cast<std::int32_t>(placed.row_cuts.size()) - 1;
    placed.owners.resize(static_cast<std::size_t>(placed.row_shards * placed.column_shards()));
    for (std::size_t s = 0; s < choice.shards.size(); ++s) {
      const auto row = std::lower_bound(placed.row_cuts.begin(), placed.row_cuts.end(),
                                        choice.shards[s].first_row) -
                       placed.row_cuts.begin();
      const auto column = std::lower_bound(placed.column_cuts.begin(), placed.column_cuts.end(),
                                           choice.shards[s].first_column) -
                          placed.column_cuts.begin();
      placed.owners[static_cast<std::size_t>(row * placed.column_shards() + column)] =
          choice.ranks[s];
    }
    if (choice.form == TorchRecForm::table_row_wise || choice.form == TorchRecForm::grid_shard)
      placed.exchange = Exchange::hierarchical;
  }
  return layout;
}

Result<NamedPlan> torchrec_plan(const Workload& workload, const Topology& topology,
                                const PlanSettings& settings) {
  if (Status status = only_settings(
          settings,
          {"hbm_cap_gib", "reserve", "hbm_bw_gib", "intra_bw_gib", "inter_bw_gib", "balanced"},
          "torchrec");
      !status)
    return fail(status.error());
  const Result<TorchRecMachine> machine = machine_of(workload, topology, settings);
  if (!machine) return fail(machine.error());
  const Result<bool> balanced = flag_setting(settings, "balanced", false);
  if (!balanced) return fail(balanced.error());

  const std::vector<TorchRecTable> tables = torchrec_tables(workload);
  const Options options = enumerate(tables, *machine);
  Proposals proposals(*machine, options);
  proposals.grid();
  proposals.greedy(true);
  proposals.greedy(false);
  proposals.uniform();
  if (!proposals.found()) {
    return fail({ErrorKind::infeasible, "TorchRec's planner finds no placement that fits", "",
                 fmt::format("at most {:.1f} GiB a rank by its own estimate",
                             machine->hbm_bytes / kBytesInGib),
                 "Use more ranks, a smaller batch, or raise hbm_cap_gib"});
  }
  TorchRecPlacement& best = proposals.best();
  if (*balanced) best = torchrec_balance(tables, *machine, std::move(best));

  NamedPlan plan;
  plan.layout = layout_of_torchrec(workload, topology.ranks(), best);
  if (*balanced) plan.layout.name = "torchrec-balanced";
  plan.cost = best.max_ms();
  plan.cost_unit = "ms by TorchRec's estimate";
  plan.bucket_cost = best.rank_ms;
  plan.matrix.resize(static_cast<std::size_t>(topology.ranks()));
  for (std::size_t t = 0; t < best.tables.size(); ++t) {
    const TorchRecChoice& choice = best.tables[t];
    plan.column_factors.push_back(plan.layout.tables[t].column_shards());
    std::set<std::int32_t> ranks(choice.ranks.begin(), choice.ranks.end());
    if (choice.form == TorchRecForm::data_parallel)
      for (std::int32_t r = 0; r < topology.ranks(); ++r) ranks.insert(r);
    for (const std::int32_t rank : ranks)
      plan.matrix[static_cast<std::size_t>(rank)].push_back(static_cast<std::int32_t>(t));
  }
  return plan;
}

}  // namespace shardscope
