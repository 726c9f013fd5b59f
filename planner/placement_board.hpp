#pragma once
// The surrogate that the planner searches on: seconds of every stage on every rank and domain, and
// what their maxima cost an iteration. Stages are separated by barriers, so the slowest rank of
// each counts; weights say how much of a stage the schedule hides.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "planner/layout_loads.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// Stages that depend on where shards lie. Of ranks:
enum RankStage : std::size_t {
  kLookup,     ///< model_forward
  kReduction,  ///< local_reduce and update
  kNearWire,   ///< vectors and gradients inside the domain, sent
  kFarWire,    ///< flat exchange between domains, sent
  kIndexing,   ///< index_calculation and the owner's part of input_dist
  kIdWire,     ///< ids received
  kRankStages
};
/// Of domains:
enum DomainStage : std::size_t {
  kRailWire,     ///< sums along the rails
  kNearReceive,  ///< what its owners hand each of its ranks
  kRailReduce,   ///< summing that
  kDomainStages
};

using RankSeconds = std::array<double, kRankStages>;
using DomainSeconds = std::array<double, kDomainStages>;

/// How much each stage's maximum and each second of everybody's work cost an iteration.
struct BoardWeights {
  RankSeconds rank{};
  DomainSeconds domain{};
};

/// A shard as the board sees it.
struct BoardShard {
  RankSeconds seconds{};
  double bytes = 0;
};

/// Converts sums to seconds.
class BoardScale {
 public:
  explicit BoardScale(const PlanContext& context);

  [[nodiscard]] RankSeconds rank_seconds(const OwnerLoad& load) const;
  [[nodiscard]] DomainSeconds domain_seconds(const DomainLoad& domain,
                                             const OwnerLoad& owners_sum) const;
  /// Weights from the bound's prices; a stage is never taken as hidden by more than 1 - floor.
  [[nodiscard]] BoardWeights weights(const LoadFields& prices, double floor) const;

 private:
  const PlanContext& context_;
  double gather_rate_, reduce_rate_, update_rate_, input_rate_, memory_rate_, stream_rate_;
  double near_rate_, far_rate_;
};

/// Sums of everything placed, and the cost of their maxima.
class PlacementBoard {
 public:
  /// `mean_share`: weight of the mean rank's work beside the maxima. Among placements with equal
  /// maxima the one with less work wins.
  PlacementBoard(const PlanContext& context, const BoardWeights& weights, double mean_share);

  void add(std::int32_t rank, const BoardShard& shard, double sign);
  void add_domain(std::int32_t domain, const DomainSeconds& seconds, double bytes, double sign);
  void add_everywhere(double seconds, double bytes, double sign);
  /// After taking something out: maxima are found anew.
  void refresh();

  [[nodiscard]] double mean_share() const { return mean_share_; }
  [[nodiscard]] double cost() const { return cost_of(rank_max_, domain_max_); }
  /// Cost if this much were added: maxima of the touched ranks and domains given.
  [[nodiscard]] double cost_of(const RankSeconds& ranks, const DomainSeconds& domains) const {
    double cost = everywhere_ + mean_share_ * total_work_ / static_cast<double>(ranks_.size());
    for (std::size_t s = 0; s < kRankStages; ++s)
      if (s != kNearWire) cost += weights_.rank[s] * ranks[s];
    cost += weights_.rank[kNearWire] * std::max(ranks[kNearWire], domains[kNearReceive]);
    return cost + weights_.domain[kRailWire] * domains[kRailWire] +
           weights_.domain[kRailReduce] * domains[kRailReduce];
  }
  [[nodiscard]] const RankSeconds& rank_max() const { return rank_max_; }
  [[nodiscard]] const DomainSeconds& domain_max() const { return domain_max_; }
  [[nodiscard]] const RankSeconds& rank(std::int32_t r) const {
    return ranks_[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] const DomainSeconds& domain(std::int32_t d) const {
    return domains_[static_cast<std::size_t>(d)];
  }
  /// Weighted seconds of a rank: what a tie is broken by.
  [[nodiscard]] double work(std::int32_t r) const { return work_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] double work_of(const RankSeconds& seconds) const;
  [[nodiscard]] double work_of(const DomainSeconds& seconds) const;
  [[nodiscard]] double domain_work(std::int32_t d) const {
    return domain_work_[static_cast<std::size_t>(d)];
  }

  [[nodiscard]] bool fits(std::int32_t rank, double bytes) const {
    return bytes_[static_cast<std::size_t>(rank)] + domain_bytes_[domain_index(rank)] +
               common_bytes_ + bytes <=
           capacity_;
  }
  [[nodiscard]] bool fits_everywhere(double bytes) const {
    return fullest_ + common_bytes_ + bytes <= capacity_;
  }
  [[nodiscard]] bool within_memory() const { return fullest_ + common_bytes_ <= capacity_; }
  void limit_memory(double capacity) { capacity_ = capacity; }
  /// Maxima count at least this much: what even a perfect spread leaves. Keeps the first tables
  /// placed from looking dearer than they are.
  void set_floor(const RankSeconds& ranks, const DomainSeconds& domains);
  void forbid(std::int32_t rank) { forbidden_[static_cast<std::size_t>(rank)] = true; }
  [[nodiscard]] bool is_forbidden(std::int32_t rank) const {
    return forbidden_[static_cast<std::size_t>(rank)];
  }

 private:
  [[nodiscard]] std::size_t domain_index(std::int32_t rank) const {
    return static_cast<std::size_t>(rank / domain_size_);
  }

  BoardWeights weights_;
  double mean_share_;
  std::int32_t domain_size_;
  std::vector<RankSeconds> ranks_;
  std::vector<DomainSeconds> domains_;
  std::vector<double> work_, domain_work_, bytes_, domain_bytes_;
  std::vector<bool> forbidden_;
  RankSeconds rank_max_{}, rank_floor_{};
  DomainSeconds domain_max_{}, domain_floor_{};
  double everywhere_ = 0;
  double total_work_ = 0;
  double common_bytes_ = 0;
  double fullest_ = 0;
  double capacity_ = 0;
};

}  // namespace shardscope
