#include "planner/bound.hpp"

#include <cstdio>
#include <cstdlib>

#include "planner/optimize.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::cases;
using testing_planner::random_case;
using testing_planner::random_layout;
using testing_planner::RandomCase;

TEST(LowerBound, IsBelowEveryRandomLayout) {
  for (std::uint64_t seed = 0; seed < cases(120); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    for (const ScheduleKind kind :
         {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
      const PredictOptions options{.executor = Executor::engine, .schedule = kind};
      const PlanContext context(made.workload, made.topology, options);
      const double bound = lower_bound(context).seconds;
      EXPECT_GT(bound, 0);
      std::mt19937_64 random(seed);
      for (int n = 0; n < 30; ++n) {
        const Layout layout = random_layout(made.workload, made.topology, random);
        EXPECT_LE(bound,
                  *predicted_seconds(made.workload, made.topology, layout, options) * (1 + 1e-9));
      }
    }
  }
}

/// All owners of `cells` cells among `ranks`, cells numbered.
template <class Visit>
void for_all_owners(int cells, int ranks, std::vector<std::int32_t>& owners, Visit visit) {
  if (static_cast<int>(owners.size()) == cells) {
    visit();
    return;
  }
  for (int r = 0; r < ranks; ++r) {
    owners.push_back(r);
    for_all_owners(cells, ranks, owners, visit);
    owners.pop_back();
  }
}

std::vector<TablePlacement> all_placements(const Table& table, std::int32_t ranks) {
  std::vector<TablePlacement> all = {data_parallel(table)};
  for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB}) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
      if (table.dim % (4 * columns) != 0 || table.rows < rows) continue;
      TablePlacement cut;
      cut.cluster = cluster;
      cut.row_shards = rows;
      for (int k = 0; k <= columns; ++k) cut.column_cuts.push_back(table.dim * k / columns);
      for_all_owners(rows * columns, ranks, cut.owners, [&] {
        for (const Exchange exchange : {Exchange::flat, Exchange::hierarchical}) {
          TablePlacement placement = cut;
          if (cluster == ClusterType::RB) placement.exchange = exchange;
          all.push_back(placement);
          if (cluster == ClusterType::UB) break;
        }
      });
    }
  }
  return all;
}

/// SHARDSCOPE_BOUND_INSTANCES: how many (1,000 take minutes).
std::uint64_t bound_instances() {
  const char* text = std::getenv("SHARDSCOPE_BOUND_INSTANCES");
  return text == nullptr ? cases(60) : std::strtoull(text, nullptr, 10);
}

TEST(LowerBound, IsBelowTheExhaustiveOptimumOfSmallInstances) {
  double gaps = 0;
  int instances = 0, far = 0;
  for (std::uint64_t seed = 0; seed < bound_instances(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomCase made = random_case(seed, {.max_tables = 2, .max_domains = 2, .max_domain_size = 2});
    const auto kind = static_cast<ScheduleKind>(seed % 3);
    const PredictOptions options{.executor = Executor::engine, .schedule = kind};
    const PlanContext context(made.workload, made.topology, options);
    const double bound = lower_bound(context).seconds;
    double best = 1e300;
    std::vector<std::vector<TablePlacement>> choices;
    for (const Table& table : made.workload.tables)
      choices.push_back(all_placements(table, made.topology.ranks()));
    Layout layout = made.layout;
    layout.clusters[static_cast<std::size_t>(ClusterType::UB)].dedup = true;
    for (std::size_t a = 0; a < choices[0].size(); ++a) {
      layout.tables[0] = choices[0][a];
      for (std::size_t b = 0; b < (choices.size() > 1 ? choices[1].size() : 1); ++b) {
        if (choices.size() > 1) layout.tables[1] = choices[1][b];
        best = std::min(best, *predicted_seconds(made.workload, made.topology, layout, options));
      }
    }
    EXPECT_LE(bound, best * (1 + 1e-9));
    gaps += best / bound - 1;
    ++instances;
    const auto plan = optimize(made.workload, made.topology, {.predict = options});
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_GE(plan->seconds, bound * (1 - 1e-9));
    if (plan->seconds <= best * 1.10) continue;
    ++far;
    std::printf("seed %llu: planned %.6f ms, best %.6f ms\n", static_cast<unsigned long long>(seed),
                plan->seconds * 1e3, best * 1e3);
  }
  // Two tables on four ranks leave the search little choice; once in hundreds it misses the best.
  EXPECT_LE(far, instances / 100);
  RecordProperty("mean_gap_to_the_optimum", std::to_string(gaps / instances));
}

TEST(LowerBound, MoreEffortOnlyRaisesIt) {
  for (std::uint64_t seed = 0; seed < cases(20); ++seed) {
    const RandomCase made = random_case(seed);
    const PlanContext context(made.workload, made.topology, {.executor = Executor::hugectr});
    EXPECT_GE(lower_bound(context, 30).seconds, lower_bound(context, 3).seconds * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace shardscope
