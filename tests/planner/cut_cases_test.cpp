#include "planner/cut_cases.hpp"

#include <algorithm>
#include <set>

#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::cases;
using testing_planner::random_case;
using testing_planner::random_placement;
using testing_planner::RandomCase;

double unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

TEST(CutCases, APartHasAtLeastItsShareOfTheLeastPart) {
  for (std::uint64_t seed = 0; seed < cases(200); ++seed) {
    const RandomCase made = random_case(seed);
    const PlanContext context(made.workload, made.topology, {.executor = Executor::engine});
    std::mt19937_64 random(seed);
    for (const TableFacts& table : context.facts.tables) {
      for (int n = 0; n < 20; ++n) {
        const double ids = unit(random);
        const double width = 1 + std::floor(unit(random) * (table.dim - 1));
        const double share = ids * width / table.dim;
        for (const bool even : {true, false}) {
          const double rows = even ? ids : unit(random) * ids;
          const OwnerLoad part = context.loads.rb_shard(table, {ids, rows, width});
          const OwnerLoad least = context.loads.least_rb_part(table, even);
          EXPECT_GE(part.gather_bytes, share * least.gather_bytes * (1 - 1e-12)) << seed;
          EXPECT_GE(part.reduce_bytes, share * least.reduce_bytes * (1 - 1e-12)) << seed;
          EXPECT_GE(part.update_bytes, share * least.update_bytes * (1 - 1e-12)) << seed;
        }
      }
    }
  }
}

/// Of a table's owners: shares of ids and of columns, summed over ranks, and the largest product.
struct Owned {
  double ids = 0, columns = 0, largest = 0;
};

Owned owned(const TableFacts& table, const TablePlacement& placement, std::int32_t ranks) {
  Owned sum;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    std::set<std::int32_t> rows, columns;
    double product = 0;
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        if (placement.owner(j, k) != rank) continue;
        rows.insert(j);
        columns.insert(k);
        product +=
            LoadModel::row_shape(table, placement, j).key_share * placement.width(k) / table.dim;
      }
    }
    for (const std::int32_t j : rows)
      sum.ids += LoadModel::row_shape(table, placement, j).key_share;
    for (const std::int32_t k : columns) sum.columns += placement.width(k) / table.dim;
    sum.largest = std::max(sum.largest, product);
  }
  return sum;
}

TEST(CutCases, CutsCostWhatTheirOwnersAsk) {
  for (std::uint64_t seed = 0; seed < cases(200); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const PlanContext context(made.workload, made.topology, {.executor = Executor::engine});
    const LoadModel generous = context.loads.without_cut_losses();
    std::mt19937_64 random(seed);
    for (std::size_t t = 0; t < context.facts.tables.size(); ++t) {
      const TableFacts& table = context.facts.tables[t];
      TablePlacement cut = random_placement(made.workload, t, made.topology.ranks(), random);
      if (cut.cluster != ClusterType::RB) continue;
      const auto sums = [&](const TablePlacement& placement) {
        LayoutLoads loads = generous.empty();
        generous.add(loads, t, placement, {Exchange::flat, true, nullptr}, 1);
        OwnerLoad all;
        for (const OwnerLoad& owner : loads.rb) {
          all.gather_bytes += owner.gather_bytes;
          all.keys += owner.keys;
          all.reduce_bytes += owner.reduce_bytes;
          all.update_bytes += owner.update_bytes;
          all.ids_bytes += owner.ids_bytes;
          all.flat_elements += owner.flat_elements;
          for (std::size_t s = 0; s < kWireSlots; ++s) all.flat_bytes[s] += owner.flat_bytes[s];
        }
        return all;
      };
      const OwnerLoad whole = sums(table_wise(made.workload.tables[t], 0));
      const OwnerLoad now = sums(cut);
      const Owned owners = owned(table, cut, made.topology.ranks());
      EXPECT_GE(owners.ids * owners.columns * owners.largest, 1 - 1e-9);
      TableFacts known = table;
      const bool even = cut.mapping == RowMapping::modulo && !table.by_popularity;
      if (!even) known.batch_unique = 0;
      const LoadModel::CutGrowth growth = generous.flat_cut_growth(known);
      const auto holds = [&](double cut_sum, double uncut, double wire, double keys) {
        EXPECT_GE(cut_sum * (1 + 1e-9),
                  uncut + (owners.columns - 1) * wire + (owners.ids - 1) * keys);
      };
      holds(now.gather_bytes, whole.gather_bytes, growth.wire.gather_bytes,
            growth.keys.gather_bytes);
      holds(now.reduce_bytes, whole.reduce_bytes, 0, growth.keys.reduce_bytes);
      holds(now.update_bytes, whole.update_bytes, 0, growth.keys.update_bytes);
      holds(now.keys, whole.keys, growth.wire.keys, growth.keys.keys);
      holds(now.ids_bytes, whole.ids_bytes, growth.wire.ids_bytes, growth.keys.ids_bytes);
      holds(now.flat_elements, whole.flat_elements, growth.wire.flat_elements, 0);
      for (std::size_t s = 0; s < kWireSlots; ++s)
        holds(now.flat_bytes[s], whole.flat_bytes[s], growth.wire.flat_bytes[s], 0);
    }
  }
}

}  // namespace
}  // namespace shardscope
