#include "planner/optimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "layout/check.hpp"
#include "planner/board_search.hpp"
#include "planner/edits.hpp"
#include "planner/executor_form.hpp"
#include "planner/memory_packing.hpp"
#include "planner/planners.hpp"
#include "planner/polish.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kMixturesSearched = 4;
constexpr double kFloors[] = {0.15, 1.0};  ///< least share of a stage that counts
constexpr std::size_t kMixturesOfLarge = 2;
constexpr int kFirstPasses = 3;  ///< over a board, before the starts are compared
constexpr std::size_t kStartsShaken = 2;
constexpr int kImprovePasses = 8;
constexpr double kShakesAnEffort = 4;
/// Tables x ranks above which shaking gets less, as every pass takes longer.
constexpr double kShakenCells = 2e5;
constexpr double kShakenShare = 0.15;
constexpr std::size_t kPolished = 2;
/// Ranks x evaluations that polishing may spend for an effort of 1.
constexpr int kPolishRankEvaluations = 25000;
constexpr int kMostPolishEvaluations = 600;
/// Tables x ranks above which fewer mixtures are searched and nothing polished.
constexpr double kLargeCells = 1e6;
/// TorchRec's own planner tries thousands of proposals: a start only where that is quick, or where
/// TorchRec will train.
constexpr std::size_t kMostTablesForTorchRecStart = 64;
/// Tables x ranks x ranks up to which check() is cheap for the engine's buffer lists.
constexpr double kCheapCheck = 4e7;

class PlanSearch {
 public:
  PlanSearch(const Workload& workload, const Topology& topology, const OptimizeOptions& options)
      : context_(workload, topology, options.predict),
        options_(options),
        allowed_(legal_forms(context_)),
        begin_(std::chrono::steady_clock::now()) {}

  Result<OptimizedPlan> run() {
    go_on("bound");
    bound_ = lower_bound(context_);
    plan_.lower_bound_s = bound_.seconds;
    search();
    if (options_.baselines) try_baselines();
    for (const Layout& start : options_.starts) consider(start.name, start);
    if (found_.empty()) pack();
    polish_best();
    if (found_.empty()) return fail(infeasible());
    std::stable_sort(found_.begin(), found_.end(), by_seconds);
    plan_.layout = found_.front().layout;
    plan_.layout.name = "optimize";
    plan_.layout.parent.clear();
    plan_.seconds = found_.front().seconds;
    plan_.gap = plan_.lower_bound_s > 0 ? plan_.seconds / plan_.lower_bound_s - 1 : 0;
    plan_.elapsed_s = elapsed();
    plan_.cancelled = stopped_;
    return std::move(plan_);
  }

 private:
  struct Found {
    Layout layout;
    double seconds = 0;
  };
  static bool by_seconds(const Found& a, const Found& b) { return a.seconds < b.seconds; }

  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Reports; false once the caller or the clock has had enough. A first plan is always made.
  bool go_on(const std::string& phase) {
    const double best =
        found_.empty() ? 0 : std::min_element(found_.begin(), found_.end(), by_seconds)->seconds;
    if (options_.progress && !options_.progress({phase, best, plan_.lower_bound_s, elapsed()}))
      stopped_ = true;
    if (options_.time_limit_s > 0 && elapsed() > options_.time_limit_s) stopped_ = true;
    return !stopped_ || found_.empty();
  }

  /// Tables x ranks: what a pass over the board costs.
  [[nodiscard]] double cells() const {
    return static_cast<double>(context_.facts.tables.size()) * context_.topology.ranks();
  }

  [[nodiscard]] bool check_is_cheap() const {
    const double ranks = context_.topology.ranks();
    return options_.predict.executor != Executor::engine ||
           static_cast<double>(context_.facts.tables.size()) * ranks * ranks <= kCheapCheck;
  }

  [[nodiscard]] bool obeys(const Layout& layout) const {
    const PlanConstraints& wish = options_.constraints;
    for (const auto& [table, placement] : wish.pinned)
      if (!(layout.tables[static_cast<std::size_t>(table)] == placement)) return false;
    for (const auto& [table, cluster] : wish.clusters)
      if (layout.tables[static_cast<std::size_t>(table)].cluster != cluster) return false;
    for (const auto& [table, ranks] : wish.only_ranks) {
      const TablePlacement& placement = layout.tables[static_cast<std::size_t>(table)];
      if (placement.cluster == ClusterType::DP) return false;
      for (const std::int32_t owner : placement.owners)
        if (std::find(ranks.begin(), ranks.end(), owner) == ranks.end()) return false;
    }
    for (const TablePlacement& table : layout.tables)
      for (const std::int32_t owner : table.owners)
        if (std::find(wish.forbidden_ranks.begin(), wish.forbidden_ranks.end(), owner) !=
            wish.forbidden_ranks.end())
          return false;
    for (const auto& group : wish.together) {
      const auto& first = layout.tables[static_cast<std::size_t>(group.front())].owners;
      for (const std::int32_t table : group)
        if (first.size() != 1 || layout.tables[static_cast<std::size_t>(table)].owners != first)
          return false;
    }
    return true;
  }

  /// Whether a layout of these seconds is worth the check.
  [[nodiscard]] bool is_better(double seconds) const {
    return std::all_of(found_.begin(), found_.end(),
                       [&](const Found& f) { return seconds < f.seconds; });
  }

  /// True and the layout's seconds kept where it is valid and the fastest so far; else the first
  /// error is remembered.
  bool consider(const std::string& name, const Layout& layout) {
    OptimizeStart start{name, false, 0};
    if (obeys(layout)) {
      const auto seconds =
          predicted_seconds(context_.workload, context_.topology, layout, options_.predict);
      if (seconds) {
        start.seconds = *seconds;
        start.fits = is_better(*seconds) && is_valid(layout);
      }
    }
    plan_.starts.push_back(start);
    if (start.fits) found_.push_back({layout, start.seconds});
    return start.fits;
  }

  bool is_valid(const Layout& layout) {
    if (!check_is_cheap()) {
      excess_ = std::max(
          excess_, context_.memory.most(context_.memory.of(layout)) - context_.memory.capacity());
      return excess_ <= 0;
    }
    for (const Violation& violation :
         check(context_.workload, context_.topology, layout, options_.predict.executor)) {
      if (violation.severity != Severity::error) continue;
      if (violation.rule == "memory.gpu")
        excess_ = std::max(excess_, static_cast<double>(violation.amount));
      if (!first_error_) first_error_ = violation;
      return false;
    }
    return true;
  }

  [[nodiscard]] double capacity() const { return context_.memory.capacity() - shortage_; }

  /// What the executor wants beyond a good placement.
  [[nodiscard]] Layout finished(Layout layout) const {
    if (options_.predict.executor != Executor::hugectr) return layout;
    std::vector<bool> used(static_cast<std::size_t>(layout.ranks), false);
    Exchange exchange = Exchange::flat;
    bool replicated = false;
    for (TablePlacement& table : layout.tables) {
      if (table.cluster == ClusterType::DP) replicated = true;
      if (table.exchange) exchange = *table.exchange;
      table.exchange.reset();
      for (const std::int32_t owner : table.owners) used[static_cast<std::size_t>(owner)] = true;
      table = in_hugectr_order(std::move(table));
    }
    layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
    // A GPU without tables is refused: the smallest table then goes everywhere.
    if (!replicated && std::find(used.begin(), used.end(), false) != used.end()) {
      std::size_t smallest = 0;
      const auto elements = [&](std::size_t t) {
        return context_.facts.tables[t].rows * context_.facts.tables[t].dim;
      };
      for (std::size_t t = 1; t < layout.tables.size(); ++t)
        if (elements(t) < elements(smallest)) smallest = t;
      layout.tables[smallest] = data_parallel(context_.workload.tables[smallest]);
    }
    return layout;
  }

  /// A board that was filled once, and what its layout takes.
  struct Start {
    std::string name;
    std::unique_ptr<BoardSearch> board;
    double seconds = 0;
  };

  /// The lowest bounds first. A bound says little of how well its forms can be spread over ranks,
  /// so both routes of the exchange are tried.
  [[nodiscard]] std::vector<const MixtureBound*> mixtures_to_try() const {
    constexpr FormSet kRoutes = form_bit(TableForm::flat) | form_bit(TableForm::hierarchical);
    std::vector<const MixtureBound*> chosen;
    if (cells() <= kLargeCells) {
      for (const MixtureBound& mixture : bound_.mixtures) chosen.push_back(&mixture);
      return chosen;
    }
    for (const MixtureBound& mixture : bound_.mixtures) {
      const bool other = std::all_of(chosen.begin(), chosen.end(), [&](const MixtureBound* one) {
        return (one->present & kRoutes) != (mixture.present & kRoutes);
      });
      if (other) chosen.push_back(&mixture);
    }
    return chosen;
  }

  /// Fills a board for every promising mixture, then spends the time on the best of them.
  void search() {
    std::vector<Start> starts;
    const bool large = cells() > kLargeCells;
    std::size_t placed = 0;
    for (const MixtureBound* mixture : mixtures_to_try()) {
      if (placed == (large ? kMixturesOfLarge : kMixturesSearched)) break;
      const std::size_t before = starts.size();
      for (const double floor : kFloors) {
        if (!go_on("search")) return;
        // A mixture whose bound is above what is found cannot win.
        const bool hopeless = std::any_of(found_.begin(), found_.end(), [&](const Found& f) {
          return f.seconds <= mixture->seconds;
        });
        if (!hopeless) fill(*mixture, floor, starts);
      }
      // Constraints may leave a mixture without a placement: the next one takes its turn.
      if (starts.size() > before) ++placed;
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.seconds < b.seconds; });
    if (starts.size() > kStartsShaken) starts.resize(kStartsShaken);
    std::mt19937_64 random(options_.seed);
    for (const Start& start : starts) {
      for (int pass = 0; pass < kImprovePasses && start.board->improve(); ++pass)
        if (!go_on("search")) break;
      shake(*start.board, start.name, random);
      if (!go_on("search")) return;
    }
  }

  /// Adds nothing where the mixture's forms cannot place every table.
  void fill(const MixtureBound& mixture, double floor, std::vector<Start>& starts) {
    const std::string name = fmt::format("search {:x}/{}", mixture.present, floor);
    constexpr int kAttempts = 3;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      auto board =
          std::make_unique<BoardSearch>(context_, options_.constraints, allowed_, mixture, floor);
      board->limit_memory(capacity());
      if (!board->construct()) return;
      for (int pass = 0; pass < kFirstPasses && board->improve(); ++pass)
        if (!go_on("search")) break;
      excess_ = 0;
      const bool valid = consider(name, finished(board->layout()));
      if (!valid && excess_ > 0 && attempt < kAttempts) {
        shortage_ += excess_;  // the model counted too little: plan for less
        continue;
      }
      starts.push_back({name, std::move(board), plan_.starts.back().seconds});
      return;
    }
  }

  void shake(BoardSearch& board, const std::string& name, std::mt19937_64& random) {
    std::vector<BoardSearch::Choice> best = board.choices();
    double least = board.cost();
    const double rounds = options_.effort * kShakesAnEffort * std::min(1.0, kShakenCells / cells());
    for (int round = 0; round < rounds; ++round) {
      if (!go_on("search")) return;
      board.shake(random, kShakenShare);
      board.improve();
      if (board.cost() < least) {
        least = board.cost();
        best = board.choices();
      } else {
        board.restore(best);
      }
    }
    board.restore(best);
    consider(name + " shaken", finished(board.layout()));
  }

  void try_baselines() {
    for (const std::string& name : named_planners()) {
      if (name == "torchrec" && options_.predict.executor != Executor::torchrec &&
          context_.facts.tables.size() > kMostTablesForTorchRecStart)
        continue;
      if (!go_on(name)) return;
      Result<NamedPlan> plan = named_plan(name, context_.workload, context_.topology, {});
      if (plan)
        consider(name, in_executor_form(std::move(plan->layout), context_.workload,
                                        context_.topology, options_.predict.executor));
    }
  }

  /// Where speed left no room, room alone decides. Polishing then looks for speed within it.
  void pack() {
    const MemoryPacking packing = pack_by_memory(context_);
    if (!packing.layout.tables.empty()) consider("least memory", finished(packing.layout));
  }

  /// All tables of one cluster in the other: launches of a cluster are spared only when its last
  /// table leaves, which no edit of a single table sees.
  void try_one_cluster() {
    const Layout best = std::min_element(found_.begin(), found_.end(), by_seconds)->layout;
    for (const auto& [from, to] : {std::pair{ClusterType::RB, ClusterType::UB},
                                   std::pair{ClusterType::UB, ClusterType::RB}}) {
      const FormSet form = form_bit(to == ClusterType::UB ? TableForm::by_unique : TableForm::flat);
      Layout layout = best;
      for (std::size_t t = 0; t < layout.tables.size(); ++t) {
        TablePlacement& table = layout.tables[t];
        if (table.cluster != from || (allowed_[t] & form) == 0) continue;
        table.cluster = to;
        table.exchange.reset();
      }
      if (!(layout == best))
        consider(fmt::format("{} as {}", to_string(from), to_string(to)), finished(layout));
    }
  }

  void polish_best() {
    if (cells() > kLargeCells || found_.empty()) return;
    try_one_cluster();
    std::stable_sort(found_.begin(), found_.end(), by_seconds);
    const std::size_t count = std::min(found_.size(), kPolished);
    const int evaluations =
        options_.effort *
        std::min(kMostPolishEvaluations, kPolishRankEvaluations / context_.topology.ranks());
    for (std::size_t i = 0; i < count; ++i) {
      if (!go_on("polish")) return;
      Layout layout = found_[i].layout;
      auto what_if = WhatIf::create(context_.workload, context_.topology, layout, options_.predict);
      if (!what_if) continue;
      polish(context_, options_.constraints, allowed_, capacity(), *what_if,
             {evaluations, [&] { return !go_on("polish"); }});
      if (what_if->seconds() < found_[i].seconds) consider("polished", what_if->layout());
    }
  }

  [[nodiscard]] Error infeasible() const {
    Error error{ErrorKind::infeasible,
                fmt::format("No layout of {} on {} fits executor {}", context_.workload.name,
                            context_.topology.name, to_string(options_.predict.executor)),
                "", "", "explain says what is missing"};
    if (!first_error_) return error;
    if (first_error_->rule == "memory.gpu") {
      // The first layout that was refused says little; the evenest one says what is needed.
      const double gib = 1 << 30;
      const double needed = pack_by_memory(context_).needed_bytes;
      error.what += fmt::format(
          ": spread evenly, the tables and buffers still need {:.2f} GiB of {:.2f} GiB on a GPU",
          needed / gib, context_.memory.capacity() / gib);
      return error;
    }
    error.what += ": " + first_error_->message;
    error.cure = first_error_->cure;
    return error;
  }

  PlanContext context_;
  const OptimizeOptions& options_;
  std::vector<FormSet> allowed_;
  std::chrono::steady_clock::time_point begin_;
  LowerBound bound_;
  OptimizedPlan plan_;
  std::vector<Found> found_;
  std::optional<Violation> first_error_;
  double excess_ = 0;    ///< bytes over a rank's memory in the last check
  double shortage_ = 0;  ///< bytes that the memory model is known to miss
  bool stopped_ = false;
};

}  // namespace

Result<OptimizedPlan> optimize(const Workload& workload, const Topology& topology,
                               const OptimizeOptions& options) {
  if (has_errors(check_workload(workload)) || has_errors(check_topology(topology))) {
    for (const auto& violations : {check_workload(workload), check_topology(topology)})
      for (const Violation& violation : violations)
        if (violation.severity == Severity::error)
          return fail({ErrorKind::usage, violation.message, "", "", violation.cure});
  }
  return PlanSearch(workload, topology, options).run();
}

}  // namespace shardscope
