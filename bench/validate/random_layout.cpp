#include "bench/validate/random_layout.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "layout/check.hpp"

namespace shardscope::bench {

namespace {

/// Tables up to so many elements may be replicated: their gradients are all-reduced whole.
constexpr std::int64_t kMostReplicated = 40'000;

class LayoutDraw {
 public:
  LayoutDraw(const Workload& workload, const Topology& topology, std::uint64_t seed)
      : workload_(workload), topology_(topology), random_(seed) {}

  Layout draw() {
    Layout layout;
    layout.ranks = topology_.ranks();
    // 0: all ranks alike; 3: the first rank owns most.
    const double lean = std::uniform_real_distribution<double>(0, 3)(random_);
    std::vector<double> weights;
    for (std::int32_t rank = 0; rank < layout.ranks; ++rank)
      weights.push_back(std::exp(-lean * rank / layout.ranks));
    owner_ = std::discrete_distribution<std::int32_t>(weights.begin(), weights.end());
    cut_share_ = share();
    unique_share_ = share() / 2;
    replicated_share_ = share();
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      layout.table_names.push_back(workload_.tables[t].name);
      layout.tables.push_back(place(t));
    }
    return layout;
  }

 private:
  double share() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  TablePlacement place(std::size_t t) {
    const Table& table = workload_.tables[t];
    TablePlacement placement;
    placement.column_cuts = {0, table.dim};
    if (table.rows * table.dim <= kMostReplicated && share() < replicated_share_) {
      placement.cluster = ClusterType::DP;
      return placement;
    }
    placement.cluster = share() < unique_share_ ? ClusterType::UB : ClusterType::RB;
    if (share() < cut_share_ && table.rows >= 1000) {
      placement.row_shards = share() < 0.5 ? 2 : topology_.ranks();
      if (share() < 0.3) placement.column_cuts = {0, table.dim / 2, table.dim};
    }
    // Distinct owners where the ranks suffice: shards of a table beside each other gain nothing.
    const std::int32_t cells = placement.row_shards * placement.column_shards();
    for (std::int32_t cell = 0; cell < cells; ++cell) {
      std::int32_t owner = owner_(random_);
      const auto taken = [&] {
        return std::find(placement.owners.begin(), placement.owners.end(), owner) !=
               placement.owners.end();
      };
      for (std::int32_t tries = 0; cells <= topology_.ranks() && taken(); ++tries)
        owner = (owner + 1) % topology_.ranks();
      placement.owners.push_back(owner);
    }
    return placement;
  }

  const Workload& workload_;
  const Topology& topology_;
  std::mt19937_64 random_;
  std::discrete_distribution<std::int32_t> owner_;
  double cut_share_ = 0, unique_share_ = 0, replicated_share_ = 0;
};

}  // namespace

Layout random_layout(const Workload& workload, const Topology& topology, std::uint64_t seed) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Layout layout = LayoutDraw(workload, topology, seed * 1000 + attempt).draw();
    layout.name = "random " + std::to_string(seed);
    if (!has_errors(check(workload, topology, layout, Executor::engine))) return layout;
  }
}

}  // namespace shardscope::bench
