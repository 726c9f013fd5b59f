#include "planner/optimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "layout/check.hpp"
#include "planner/baselines.hpp"
#include "planner/board_search.hpp"
#include "planner/codec_search.hpp"
#include "planner/edits.hpp"
#include "planner/executor_form.hpp"
#include "planner/executor_wishes.hpp"
#include "planner/form_choice.hpp"
#include "planner/memory_packing.hpp"
#include "planner/plan_pricer.hpp"
#include "planner/planners.hpp"
#include "planner/polish.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

constexpr int kBoundEffort = 90;
constexpr std::size_t kMixturesSearched = 4;
constexpr std::size_t kMixturesOfLarge = 2;
/// Which placement is best depends on how far the maxima over ranks can be evened out at all, which
/// nothing says beforehand: so different weighings start.
constexpr BoardSearch::Weighing kWeighings[] = {
    {.floor = 0.15, .mean_share = 1.0, .whole_domains = true},
    {.floor = 0.15, .mean_share = 1.0},
    {.floor = 0.15, .mean_share = 0.05},
    {.floor = 1.0, .mean_share = 1.0},
    {.floor = 1.0, .mean_share = 0.05},
    {.floor = 1.0, .mean_share = 0.05, .whole_domains = true}};
constexpr std::size_t kWeighingsOfLarge = 2;
/// Tables x ranks up to which boards also choose forms table by table.
constexpr double kFreeCells = 2e4;
/// The number of replicated tables is first changed by this part of the tables that may be.
constexpr std::size_t kTuningParts = 32;
constexpr int kMostTunings = 12;
constexpr int kMostTuningsOfLarge = 4;
constexpr int kFirstPasses = 3;  ///< over a board, before the starts are compared
constexpr std::size_t kStartsShaken = 2;
constexpr int kImprovePasses = 8;
constexpr double kShakesAnEffort = 4;
/// Tables x ranks above which shaking gets less, as every pass takes longer.
constexpr double kShakenCells = 2e5;
constexpr double kShakenShare = 0.15;
constexpr std::size_t kCompressed = 3;
constexpr std::size_t kPolished = 6;
/// Ranks x evaluations that polishing may spend for an effort of 1.
constexpr int kPolishRankEvaluations = 25000;
constexpr int kMostPolishEvaluations = 600;
/// Tables x ranks above which fewer mixtures are searched and nothing polished.
constexpr double kLargeCells = 1e6;
/// TorchRec's own planner tries thousands of proposals: a start only where that is quick, or where
/// TorchRec will train.
constexpr std::size_t kMostTablesForTorchRecStart = 64;

/// Where phases end, as shares of the whole: about what they take at 500 tables.
constexpr double kBoundBegins = 0.02, kBoundEnds = 0.06, kBoardsEnd = 0.55, kTuningEnds = 0.7,
                 kSearchEnds = 0.8, kCodecsEnd = 0.85;
constexpr double kPartOfABoard = 0.15;  ///< of what is left until the boards are filled
constexpr double kPartOfAStep = 0.1;

class PlanSearch {
 public:
  PlanSearch(const Workload& workload, const Topology& topology, const OptimizeOptions& options)
      : context_(workload, topology, options.predict),
        options_(options),
        allowed_(legal_forms(context_)),
        wanted_(constrained_forms(options.constraints, allowed_)),
        pricer_(context_),
        begin_(std::chrono::steady_clock::now()) {}

  Result<OptimizedPlan> run() {
    if (const auto refusal = refused_workload(context_)) return fail(*refusal);
    if (options_.baselines) try_baselines(baseline_names());
    reach(kBoundBegins);
    bound_ = lower_bound(context_, kBoundEffort, [this] { return !go_on("bound"); });
    plan_.lower_bound_s = bound_.seconds;
    reach(kBoundEnds);
    if (may_fit(context_)) {
      search();
      reach(kSearchEnds);
      if (options_.baselines) try_baselines(planner_names());
      for (const Layout& start : options_.starts) consider(start.name, start);
    }
    if (found_.empty()) pack();
    compress();
    reach(kCodecsEnd);
    polish_best();
    compress();
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
  void reach(double share) { share_ = std::clamp(share, share_, 1.0); }
  /// A part of what is left until `share`.
  void approach(double share, double part) { reach(share_ + part * (share - share_)); }

  /// Reports; false once the caller or the clock has had enough.
  bool go_on(const std::string& phase) {
    const double best =
        found_.empty() ? 0 : std::min_element(found_.begin(), found_.end(), by_seconds)->seconds;
    if (options_.time_limit_s > 0) reach(elapsed() / options_.time_limit_s);
    if (options_.progress &&
        !options_.progress({phase, best, plan_.lower_bound_s, elapsed(), share_}))
      stopped_ = true;
    if (options_.time_limit_s > 0 && elapsed() > options_.time_limit_s) stopped_ = true;
    return !stopped_;
  }

  /// Tables x ranks: what a pass over the board costs.
  [[nodiscard]] double cells() const {
    return static_cast<double>(context_.facts.tables.size()) * context_.topology.ranks();
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
    if (check_sizes(context_.workload, context_.topology, layout) &&
        obeys(options_.constraints, layout, options_.predict.allowed_codecs.any())) {
      start.seconds = pricer_.seconds(layout);
      start.fits = is_better(start.seconds) && is_valid(layout);
    }
    plan_.starts.push_back(start);
    if (start.fits) {
      found_.push_back({layout, start.seconds});
    } else if (start.seconds > 0 && cells() <= kFreeCells) {
      others_.push_back({layout, start.seconds});
    }
    return start.fits;
  }

  bool is_valid(const Layout& layout) {
    if (!check_is_cheap(context_)) {
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

  [[nodiscard]] Layout finished(Layout layout) const {
    return finished_for_executor(context_, std::move(layout));
  }

  /// A board that was filled once, and what its layout takes.
  struct Start {
    std::string name;
    const MixtureBound* mixture = nullptr;
    BoardSearch::Weighing weighing;
    const FormChoice* choice = nullptr;  ///< null: the board chose forms itself
    std::size_t replicated = 0;          ///< of the choice
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

  /// Fills boards for every promising mixture, then spends the time on the best of them.
  void search() {
    std::vector<Start> starts;
    const bool large = cells() > kLargeCells;
    std::size_t placed = 0;
    for (const MixtureBound* mixture : mixtures_to_try()) {
      if (placed == (large ? kMixturesOfLarge : kMixturesSearched)) break;
      // A mixture whose bound is above what is found cannot win.
      const bool hopeless = std::any_of(found_.begin(), found_.end(), [&](const Found& f) {
        return f.seconds <= mixture->seconds;
      });
      if (hopeless) continue;
      const std::size_t before = starts.size();
      fill_boards(*mixture, starts);
      if (!go_on("search") && !found_.empty()) return;
      // Constraints may leave a mixture without a placement: the next one takes its turn.
      if (starts.size() > before) ++placed;
    }
    const auto faster = [](const Start& a, const Start& b) { return a.seconds < b.seconds; };
    std::stable_sort(starts.begin(), starts.end(), faster);
    if (starts.size() > kStartsShaken) starts.resize(kStartsShaken);
    for (Start& start : starts) {
      tune_replicated(start);
      if (!go_on("search")) return;
      if (large) break;
    }
    reach(kTuningEnds);
    std::mt19937_64 random(options_.seed);
    for (const Start& start : starts) {
      for (int pass = 0; pass < kImprovePasses && start.board->improve(); ++pass) {
      }
      shake(*start.board, start.name, random);
      if (!go_on("search")) return;
    }
  }

  void fill_boards(const MixtureBound& mixture, std::vector<Start>& starts) {
    const FormChoice& choice =
        *choices_.emplace_back(std::make_unique<FormChoice>(context_, wanted_, mixture));
    const std::size_t replicated = choice.best_of_mean();
    const std::vector<FormSet> forms = choice.forms(replicated);
    // A form that no table takes makes this mixture another one's twin.
    if (std::find(tried_forms_.begin(), tried_forms_.end(), forms) != tried_forms_.end()) return;
    const std::size_t before = starts.size();
    for (const BoardSearch::Weighing& weighing : kWeighings) {
      if (cells() > kLargeCells && &weighing == kWeighings + kWeighingsOfLarge) break;
      if (!go_on("search") && !found_.empty()) return;  // a first plan is always made
      Start start{
          .mixture = &mixture, .weighing = weighing, .choice = &choice, .replicated = replicated};
      if (fill(start, forms)) starts.push_back(std::move(start));
      approach(kBoardsEnd, kPartOfABoard);
    }
    if (starts.size() > before) tried_forms_.push_back(forms);
    if (starts.size() > before && cells() > kFreeCells) return;
    for (const BoardSearch::Weighing& weighing : kWeighings) {
      if (!go_on("search")) return;
      Start start{.mixture = &mixture, .weighing = weighing};
      if (fill(start, wanted_)) starts.push_back(std::move(start));
      approach(kBoardsEnd, kPartOfABoard);
    }
  }

  /// False where the mixture's forms cannot place every table.
  bool fill(Start& start, const std::vector<FormSet>& forms) {
    start.name =
        fmt::format("search {:x}/{}/{}{}{}", start.mixture->present, start.weighing.floor,
                    start.weighing.mean_share, start.weighing.whole_domains ? "/domains" : "",
                    start.choice ? fmt::format("/{}", start.replicated) : "");
    constexpr int kAttempts = 3;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      start.board = std::make_unique<BoardSearch>(context_, options_.constraints, forms,
                                                  *start.mixture, start.weighing);
      start.board->limit_memory(capacity());
      start.board->ask_whether_to_go_on([this] { return go_on("search") || found_.empty(); });
      if (!start.board->construct()) return false;
      for (int pass = 0; pass < kFirstPasses && go_on("search") && start.board->improve(); ++pass) {
      }
      excess_ = 0;
      const bool valid = consider(start.name, finished(start.board->layout()));
      start.seconds = plan_.starts.back().seconds;
      if (valid || excess_ <= 0) break;
      shortage_ += excess_;  // the model counted too little: plan for less
    }
    return true;
  }

  /// More or fewer replicated tables, by halving steps, as long as that is faster once placed.
  void tune_replicated(Start& start) {
    if (start.choice == nullptr) return;
    const std::size_t most = start.choice->undecided();
    int left = cells() > kLargeCells ? kMostTuningsOfLarge : kMostTunings;
    for (std::size_t step = std::max<std::size_t>(1, most / kTuningParts); step > 0; step /= 2) {
      for (const bool more : {false, true}) {
        while (left-- > 0 && go_on("search")) {
          if (more ? start.replicated + step > most : start.replicated < step) break;
          Start next{.mixture = start.mixture,
                     .weighing = start.weighing,
                     .choice = start.choice,
                     .replicated = more ? start.replicated + step : start.replicated - step};
          if (!fill(next, next.choice->forms(next.replicated)) || next.seconds >= start.seconds)
            break;
          start = std::move(next);
          approach(kTuningEnds, kPartOfAStep);
        }
      }
    }
  }

  void shake(BoardSearch& board, const std::string& name, std::mt19937_64& random) {
    std::vector<BoardSearch::Choice> best = board.choices();
    double least = board.cost();
    const double rounds = options_.effort * kShakesAnEffort * std::min(1.0, kShakenCells / cells());
    for (int round = 0; round < rounds; ++round) {
      if (!go_on("search")) return;
      approach(kSearchEnds, kPartOfAStep);
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

  /// Those that take longer than baselines.
  [[nodiscard]] static std::vector<std::string> planner_names() {
    const std::vector<std::string> quick = baseline_names();
    std::vector<std::string> names = named_planners();
    std::erase_if(names, [&](const std::string& name) {
      return std::find(quick.begin(), quick.end(), name) != quick.end();
    });
    return names;
  }

  void try_baselines(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      // So many shards take seconds to look at, and are never the best.
      if (name == "uniform" && cells() > kLargeCells) continue;
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
    packing_ = pack_by_memory(context_);
    if (!packing_.layout.tables.empty()) consider("least memory", finished(packing_.layout));
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

  /// Codecs on the fastest layouts found.
  void compress() {
    if (!options_.predict.allowed_codecs.any()) return;
    std::stable_sort(found_.begin(), found_.end(), by_seconds);
    const std::size_t count = std::min(found_.size(), kCompressed);
    const std::vector<Found> fastest(found_.begin(),
                                     found_.begin() + static_cast<std::ptrdiff_t>(count));
    for (const Found& one : fastest) {
      if (!go_on("codecs")) return;
      consider("codecs", with_paying_codecs(context_, one.layout, [&] { return go_on("codecs"); }));
    }
  }

  /// What is polished, best first: where every evaluation takes long, polishing more than the best
  /// one seldom wins.
  [[nodiscard]] std::vector<Found> worth_polishing() const {
    std::vector<Found> starts = found_;
    starts.insert(starts.end(), others_.begin(), others_.end());
    std::stable_sort(starts.begin(), starts.end(), by_seconds);
    const auto twin = [](const Found& a, const Found& b) { return a.layout == b.layout; };
    starts.erase(std::unique(starts.begin(), starts.end(), twin), starts.end());
    const std::size_t most = cells() > kFreeCells ? 1 : kPolished;
    if (starts.size() > most) starts.resize(most);
    return starts;
  }

  void polish_best() {
    if (cells() > kLargeCells || found_.empty()) return;
    try_one_cluster();
    const int evaluations =
        options_.effort *
        std::min(kMostPolishEvaluations, kPolishRankEvaluations / context_.topology.ranks());
    for (const Found& start : worth_polishing()) {
      if (!go_on("polish")) return;
      WhatIf what_if = WhatIf::create(context_, start.layout);
      polish(context_, options_.constraints, allowed_, capacity(), what_if,
             {evaluations, [&] {
                approach(1, 1.0 / std::max(1, evaluations));
                return !go_on("polish");
              }});
      if (is_better(what_if.seconds())) consider("polished", what_if.layout());
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
      const double needed = packing_.needed_bytes;
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
  std::vector<FormSet> wanted_;  ///< of those, what the constraints leave
  PlanPricer pricer_;
  std::chrono::steady_clock::time_point begin_;
  LowerBound bound_;
  OptimizedPlan plan_;
  std::vector<Found> found_;   ///< each faster than those before it
  std::vector<Found> others_;  ///< of small problems, slower ones or such as do not fit
  std::vector<std::unique_ptr<FormChoice>> choices_;
  std::vector<std::vector<FormSet>> tried_forms_;
  MemoryPacking packing_;
  std::optional<Violation> first_error_;
  double excess_ = 0;    ///< bytes over a rank's memory in the last check
  double share_ = 0;     ///< of the whole, for progress
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
