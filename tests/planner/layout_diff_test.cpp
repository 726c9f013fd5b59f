#include "planner/layout_diff.hpp"

#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::random_layout;
using testing_planner::RandomCase;

/// Bytes of every element that a rank holds in `b` and not in `a`, found element by element.
double moved_by_hand(const Workload& workload, const Layout& a, const Layout& b) {
  double bytes = 0;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const double element = static_cast<double>(bytes_of(table.dtype)) +
                           4.0 * table.optimizer.words_per_element +
                           4.0 * table.optimizer.words_per_row / table.dim;
    const auto holds = [&](const TablePlacement& placement, std::int32_t rank, std::int64_t row,
                           std::int32_t column) {
      if (placement.cluster == ClusterType::DP) return true;
      std::int32_t j = static_cast<std::int32_t>(row % placement.row_shards);
      if (placement.mapping == RowMapping::block)
        for (j = 0; row >= placement.row_cuts[static_cast<std::size_t>(j) + 1];) ++j;
      std::int32_t k = 0;
      while (column >= placement.column_cuts[static_cast<std::size_t>(k) + 1]) ++k;
      return placement.owner(j, k) == rank;
    };
    for (std::int32_t rank = 0; rank < a.ranks; ++rank)
      for (std::int64_t row = 0; row < table.rows; ++row)
        for (std::int32_t column = 0; column < table.dim; ++column)
          if (holds(b.tables[t], rank, row, column) && !holds(a.tables[t], rank, row, column))
            bytes += element;
  }
  return bytes;
}

TEST(LayoutDiff, CountsTheElementsThatMove) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomCase made = random_case(seed, {.max_tables = 3, .max_domains = 2, .max_domain_size = 2});
    for (Table& table : made.workload.tables) table.rows = 40 + static_cast<std::int64_t>(seed);
    std::mt19937_64 random(seed);
    const Layout a = random_layout(made.workload, made.topology, random);
    const Layout b = random_layout(made.workload, made.topology, random);
    const auto diff = layout_diff(made.workload, a, b);
    ASSERT_TRUE(diff) << to_string(diff.error());
    const double expected = moved_by_hand(made.workload, a, b);
    EXPECT_NEAR(diff->moved_bytes, expected, 1e-9 * expected);
  }
}

TEST(LayoutDiff, OfALayoutAndItselfIsEmpty) {
  const RandomCase made = random_case(5);
  const auto diff = layout_diff(made.workload, made.layout, made.layout);
  ASSERT_TRUE(diff);
  EXPECT_TRUE(diff->tables.empty());
  EXPECT_EQ(diff->moved_shards, 0);
}

TEST(LayoutDiff, RefusesAnotherNumberOfRanks) {
  const RandomCase made = random_case(5);
  Layout other = made.layout;
  other.ranks += 1;
  EXPECT_FALSE(layout_diff(made.workload, made.layout, other));
}

}  // namespace
}  // namespace shardscope
