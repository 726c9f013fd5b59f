#include "planner/layout_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "layout/memory.hpp"
#include "planner/edits.hpp"
#include "planner/plan_context.hpp"
#include "planner/table_memory.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

constexpr double kBytesOfGib = 1 << 30;
constexpr double kMuchReplicated = 0.5;  ///< of a GPU's memory
constexpr double kMuchOfAHost = 0.8;
constexpr double kLopsided = 2;  ///< ids of the busiest block over the mean block's
/// Blocks that see fewer ids than this share of the table's batch are not worth a word.
constexpr double kNoticeableIds = 0.05;
constexpr double kEvenMemory = 1.15;  ///< fullest over mean
constexpr double kUnevenWork = 1.5;   ///< busiest over mean
constexpr double kSmallTable = 2e9;   ///< bytes, weights and state
constexpr std::size_t kMostPriced = 32;
constexpr double kWorthSaying = 0.002;  ///< of the iteration
constexpr std::size_t kNamesShown = 5;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         std::max<double>(1, static_cast<double>(values.size()));
}

class Warnings {
 public:
  Warnings(const Workload& workload, const Topology& topology, const Layout& layout,
           const PredictOptions& options)
      : context_(workload, topology, options), layout_(layout) {}

  std::vector<Violation> run(bool priced) {
    look_at_replication();
    look_at_loading();
    look_at_blocks();
    look_at_ranks();
    look_at_balance();
    look_at_codecs();
    look_at_recorded_ids();
    if (priced) look_at_small_tables();
    return std::move(found_);
  }

 private:
  void say(const char* rule, std::int32_t table, std::int32_t rank, double amount,
           std::string message, std::string cure) {
    Violation one;
    one.rule = rule;
    one.severity = Severity::warning;
    one.table = table;
    one.rank = rank;
    one.amount = static_cast<std::int64_t>(std::min(amount, 9e18));
    one.message = std::move(message);
    one.cure = std::move(cure);
    found_.push_back(std::move(one));
  }
  [[nodiscard]] const Table& table(std::size_t t) const { return context_.workload.tables[t]; }

  /// "a, b, c and 7 more".
  [[nodiscard]] std::string names_of(const std::vector<std::size_t>& tables) const {
    std::string names;
    for (std::size_t i = 0; i < tables.size() && i < kNamesShown; ++i)
      names += fmt::format("{}{}", i > 0 ? ", " : "", table(tables[i]).name);
    if (tables.size() > kNamesShown)
      names += fmt::format(" and {} more", tables.size() - kNamesShown);
    return names;
  }

  void look_at_codecs() {
    const bool near = context_.topology.fast_domain > 1, far = context_.topology.domains() > 1;
    std::vector<std::size_t> unknown;
    for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
      const ClusterType cluster = layout_.tables[t].cluster;
      if (cluster == ClusterType::DP) continue;
      const CodecSlots& slots = layout_.codecs_of(t);
      const auto unpriced = [&](bool exists, const CodecSlot& slot) {
        return exists && slot.name != "raw" &&
               context_.loads.profile_of(t, cluster, slot) == nullptr;
      };
      if (unpriced(near, slots.forward_intra) || unpriced(near, slots.backward_intra) ||
          unpriced(far, slots.forward_inter) || unpriced(far, slots.backward_inter))
        unknown.push_back(t);
    }
    if (unknown.empty()) return;
    say("codec.unpriced", static_cast<std::int32_t>(unknown.front()), -1,
        static_cast<double>(unknown.size()),
        fmt::format("the codecs of {} have not been measured here: predicted as plain wires",
                    names_of(unknown)),
        "predict, plan and explain of the command line measure them");
  }

  void look_at_recorded_ids() {
    std::vector<std::size_t> assumed;
    for (const Feature& feature : context_.workload.features) {
      const auto t = static_cast<std::size_t>(feature.table);
      if (feature.ids.kind != IdDistributionKind::recorded) continue;
      if (!context_.facts.tables[t].stats.unique.empty()) continue;
      if (std::find(assumed.begin(), assumed.end(), t) == assumed.end()) assumed.push_back(t);
    }
    if (assumed.empty()) return;
    say("ids.assumed", static_cast<std::int32_t>(assumed.front()), -1,
        static_cast<double>(assumed.size()),
        fmt::format("recorded ids of {} were not read: predicted as Zipf {} in random order",
                    names_of(assumed), kAssumedZipf),
        "Put the stream's file where the model names it, and predict again");
  }

  void look_at_replication() {
    double sum = 0, most = 0;
    std::size_t largest = 0, count = 0;
    for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
      if (layout_.tables[t].cluster != ClusterType::DP) continue;
      const double bytes = context_.memory.replicated_bytes(t);
      sum += bytes;
      ++count;
      if (bytes <= most) continue;
      most = bytes;
      largest = t;
    }
    const double limit = context_.memory.capacity();
    if (limit <= 0 || context_.topology.ranks() < 2 || sum <= kMuchReplicated * limit) return;
    const std::string tables =
        fmt::format("{} replicated table{} take{} {:.2f} GiB of every GPU", count,
                    count == 1 ? "" : "s", count == 1 ? "s" : "", sum / kBytesOfGib);
    const std::string rest =
        sum > limit ? fmt::format(", {:.2f} GiB more than it has", (sum - limit) / kBytesOfGib)
                    : fmt::format(", {:.0f} % of its memory", sum / limit * 100);
    say("memory.replicated", static_cast<std::int32_t>(largest), -1, sum, tables + rest,
        fmt::format("Shard {} ({:.2f} GiB a GPU)", table(largest).name, most / kBytesOfGib));
  }

  /// Takes long for many ranks: made once, when first asked for.
  const MemoryAccount& memory_account() {
    if (!account_)
      account_ =
          memory_of(context_.workload, context_.topology, layout_, context_.options.executor);
    return *account_;
  }

  /// TorchRec builds whole tables where their module is made, unless on device meta; every executor
  /// brings a rank's largest shard through host memory.
  void look_at_loading() {
    double weights = 0, most = 0;
    std::size_t largest = 0;
    for (std::size_t t = 0; t < context_.workload.tables.size(); ++t) {
      const Table& one = table(t);
      const double bytes =
          static_cast<double>(one.rows) * one.dim * static_cast<double>(bytes_of(one.dtype));
      weights += bytes;
      if (bytes <= most) continue;
      most = bytes;
      largest = t;
    }
    const Topology& topology = context_.topology;
    const double host = topology.host_memory_bytes.value;
    if (context_.options.executor == Executor::torchrec) {
      const auto table_index = static_cast<std::int32_t>(largest);
      if (weights > topology.gpu.memory_bytes.value && topology.gpu.memory_bytes.value > 0)
        say("memory.load", table_index, 0, weights,
            fmt::format("built on GPU 0 before they are sharded, all tables take {:.2f} GiB of its "
                        "{:.2f} GiB",
                        weights / kBytesOfGib, topology.gpu.memory_bytes.value / kBytesOfGib),
            "Build the embedding modules on device meta");
      const double all = weights * topology.gpus_per_host;
      if (host > 0 && all > host)
        say("memory.load", table_index, -1, all,
            fmt::format("built in host memory by {} processes of a host, all tables take {:.2f} "
                        "GiB of its {:.2f} GiB",
                        topology.gpus_per_host, all / kBytesOfGib, host / kBytesOfGib),
            "Build the embedding modules on device meta");
    }
    if (host <= 0) return;
    const MemoryAccount& account = memory_account();
    for (std::size_t h = 0; h < account.hosts.size(); ++h) {
      const auto use = static_cast<double>(account.hosts[h].total());
      if (use <= kMuchOfAHost * host || use > host) continue;
      say("memory.load", -1, static_cast<std::int32_t>(h) * topology.gpus_per_host, use,
          fmt::format("loading takes {:.2f} GiB of host {}'s {:.2f} GiB at once", use / kBytesOfGib,
                      h, host / kBytesOfGib),
          "Load fewer ranks at a time, or cut the largest shards");
      return;
    }
  }

  void look_at_blocks() {
    for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
      const TablePlacement& placement = layout_.tables[t];
      if (placement.cluster == ClusterType::DP || placement.mapping != RowMapping::block ||
          placement.row_shards < 2)
        continue;
      const TableFacts& facts = context_.facts.tables[t];
      double most = 0;
      std::int32_t busiest = 0;
      for (std::int32_t j = 0; j < placement.row_shards; ++j) {
        const double share = LoadModel::row_shape(facts, placement, j).key_share;
        if (share <= most) continue;
        most = share;
        busiest = j;
      }
      const double times = most * placement.row_shards;
      if (times < kLopsided || !counts_much(t, most)) continue;
      say("rows.lopsided_blocks", static_cast<std::int32_t>(t), placement.owner(busiest, 0),
          times * 100,
          fmt::format(
              "table {}: block {} of {} gets {:.0f} % of its ids, {:.1f} times an even share",
              table(t).name, busiest, placement.row_shards, most * 100, times),
          context_.options.executor == Executor::torchrec
              ? "Hash the ids so that popular rows spread, or cut by columns"
              : "Cut by modulo rows, or spread the popular rows");
    }
  }

  /// The block's ids are noticeable beside what a rank receives in all.
  [[nodiscard]] bool counts_much(std::size_t t, double share) const {
    double all = 0;
    for (const TableFacts& facts : context_.facts.tables) all += facts.batch_keys;
    return context_.facts.tables[t].batch_keys * share * context_.topology.ranks() >=
           kNoticeableIds * all;
  }

  void look_at_ranks() {
    const std::int32_t ranks = context_.topology.ranks();
    std::vector<bool> used(static_cast<std::size_t>(ranks), false);
    bool sharded = false;
    for (const TablePlacement& placement : layout_.tables)
      for (const std::int32_t owner : placement.owners) {
        used[static_cast<std::size_t>(owner)] = true;
        sharded = true;
      }
    if (!sharded) return;
    const auto idle = std::count(used.begin(), used.end(), false);
    if (idle == 0) return;
    std::int32_t last = ranks - 1;
    while (last >= 0 && !used[static_cast<std::size_t>(last)]) --last;
    // Fewer shards than ranks: there is no plan of a smaller world behind it.
    const bool smaller_world = last + 1 <= ranks / 2;
    if (!smaller_world && shards_of(layout_).size() < static_cast<std::size_t>(ranks)) return;
    say("layout.idle_ranks", -1, smaller_world ? last + 1 : -1, static_cast<double>(idle),
        smaller_world
            ? fmt::format("ranks {} to {} own nothing: the plan looks made for {} of {} ranks",
                          last + 1, ranks - 1, last + 1, ranks)
            : fmt::format("{} of {} ranks own nothing", idle, ranks),
        fmt::format("Plan for {} ranks", ranks));
  }

  void look_at_balance() {
    if (context_.topology.ranks() < 2) return;
    const std::vector<FormSet> none(layout_.tables.size(), 0);
    EditMaker maker(context_, none,
                    std::vector<bool>(static_cast<std::size_t>(layout_.ranks), true));
    maker.look(layout_);
    const std::vector<double>& work = maker.work();
    const double work_mean = mean_of(work);
    const auto busiest = std::max_element(work.begin(), work.end());
    const double uneven = work_mean > 0 ? *busiest / work_mean : 0;
    if (uneven < kUnevenWork) return;
    std::vector<double> bytes;
    for (const MemoryUse& use : memory_account().gpus)
      bytes.push_back(static_cast<double>(use.weights + use.optimizer_state));
    const double memory_mean = mean_of(bytes);
    if (memory_mean <= 0) return;
    const double memory = *std::max_element(bytes.begin(), bytes.end()) / memory_mean;
    if (memory > kEvenMemory) return;
    say("balance.work", -1, static_cast<std::int32_t>(busiest - work.begin()), uneven * 100,
        fmt::format("memory lies evenly (fullest {:.2f} times the mean) and work does not: rank {} "
                    "has {:.1f} times the mean rank's",
                    memory, busiest - work.begin(), uneven),
        "Balance by predicted time: plan --planner optimize");
  }

  /// HugeCTR replicates no table of concatenated features.
  [[nodiscard]] bool may_replicate(std::size_t t) const {
    return context_.options.executor != Executor::hugectr || context_.facts.tables[t].unpooled <= 0;
  }

  /// As many of the tables as fit, replicated at once; none where that is slower.
  [[nodiscard]] std::vector<std::size_t> together(const std::vector<std::size_t>& small,
                                                  WhatIf& what_if) const {
    double fullest = context_.memory.most(context_.memory.of(layout_));
    std::vector<std::size_t> chosen;
    std::vector<std::pair<std::size_t, TablePlacement>> replicas, before;
    for (const std::size_t t : small) {
      fullest += context_.memory.replicated_bytes(t);
      if (fullest > context_.memory.capacity()) break;
      chosen.push_back(t);
      replicas.emplace_back(t, data_parallel(table(t)));
      before.emplace_back(t, layout_.tables[t]);
    }
    const double now = what_if.seconds();
    if (what_if.set_tables(replicas) < now) return chosen;
    what_if.set_tables(before);
    return {};
  }

  /// Sharded tables under 2 GB, those with the most ids first: which are faster everywhere?
  void look_at_small_tables() {
    const std::int32_t ranks = context_.topology.ranks();
    if (ranks < 2) return;
    std::vector<std::size_t> small;
    for (std::size_t t = 0; t < layout_.tables.size(); ++t)
      if (layout_.tables[t].cluster != ClusterType::DP && stored_bytes(table(t)) < kSmallTable &&
          may_replicate(t))
        small.push_back(t);
    const auto saves_most = [&](std::size_t t) {
      const TableFacts& facts = context_.facts.tables[t];
      return (facts.pooled + facts.unpooled) * facts.dim / (1 + facts.rows * facts.dim);
    };
    std::stable_sort(small.begin(), small.end(),
                     [&](std::size_t a, std::size_t b) { return saves_most(a) > saves_most(b); });
    if (small.size() > kMostPriced) small.resize(kMostPriced);
    if (!check_sizes(context_.workload, context_.topology, layout_)) return;
    WhatIf what_if = WhatIf::create(context_, layout_);
    const double before = what_if.seconds();
    const MemoryLoads loads = context_.memory.of(layout_);
    double fullest = context_.memory.most(loads);
    std::vector<std::size_t> gained;
    for (const std::size_t t : small) {
      fullest += context_.memory.replicated_bytes(t);
      if (fullest > context_.memory.capacity()) break;
      const double now = what_if.seconds();
      if (what_if.try_table(t, data_parallel(table(t))) >= now) {
        fullest -= context_.memory.replicated_bytes(t);
        continue;
      }
      what_if.set_table(t, data_parallel(table(t)));
      gained.push_back(t);
    }
    // The first replicated table brings an all-reduce of its own: only together may they pay.
    if (gained.empty()) gained = together(small, what_if);
    const double after = what_if.seconds();
    if (gained.empty() || after > before * (1 - kWorthSaying)) return;
    say("replicate.small", static_cast<std::int32_t>(gained.front()), -1,
        (1 - after / before) * 1e4,
        fmt::format("replicated, {} table{} under 2 GB would make {:.3f} ms of {:.3f} ms: {}",
                    gained.size(), gained.size() == 1 ? "" : "s", after * 1e3, before * 1e3,
                    names_of(gained)),
        fmt::format("Replicate {}", gained.size() == 1 ? "it" : "them"));
  }

  PlanContext context_;
  const Layout& layout_;
  std::optional<MemoryAccount> account_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> layout_warnings(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const PredictOptions& options,
                                       bool priced) {
  return Warnings(workload, topology, layout, options).run(priced);
}

}  // namespace shardscope
