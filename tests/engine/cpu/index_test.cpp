#include <algorithm>
#include <map>
#include <numeric>

#include "engine/cpu/kernels.hpp"
#include "layout/layout.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {
namespace {

/// Rows of a table cut into modulo or block shards, some of the blocks empty.
struct ShardedRows {
  explicit ShardedRows(Random& random)
      : shards(static_cast<std::int32_t>(random.chance(0.2) ? 1 : random.between(1, 9))),
        rows(random.chance(0.2) ? std::int64_t{1} << 33 : random.between(1, 500)) {
    if (random.chance(0.5)) {
      cuts = {0, rows};
      for (std::int32_t j = 1; j < shards; ++j) cuts.push_back(random.between(0, rows));
      std::sort(cuts.begin(), cuts.end());
    }
  }

  [[nodiscard]] const std::int64_t* row_cuts() const {
    return cuts.empty() ? nullptr : cuts.data();
  }
  [[nodiscard]] std::int32_t shard_of(std::int64_t id) const {
    if (cuts.empty()) return static_cast<std::int32_t>(id % shards);
    std::int32_t j = 0;
    while (id >= cuts[static_cast<std::size_t>(j) + 1]) ++j;
    return j;
  }
  [[nodiscard]] std::int64_t local_row(std::int64_t id) const {
    if (cuts.empty()) return id / shards;
    return id - cuts[static_cast<std::size_t>(shard_of(id))];
  }
  [[nodiscard]] KeyType key(Random& random) const {
    return rows > (std::int64_t{1} << 31) ? KeyType::i64 : random.key();
  }

  std::int32_t shards;
  std::int64_t rows;
  std::vector<std::int64_t> cuts;
};

/// One output list of keys per shard.
struct KeyLists {
  KeyLists(KeyType type, std::int32_t shards, std::int64_t count) {
    for (std::int32_t j = 0; j < shards; ++j) {
      lists.emplace_back(type, std::vector<std::int64_t>(static_cast<std::size_t>(count), -1));
    }
    for (Keys& keys : lists) pointers.push_back(keys.data());
  }
  std::vector<Keys> lists;
  std::vector<void*> pointers;
};

TEST(Bucketize, KeepsEveryIdOfEveryBagInOrderInItsShard) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const ShardedRows sharded(random);
    const auto shards = static_cast<std::size_t>(sharded.shards);
    const std::int64_t bags = random.between(0, 20);
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(bags));
    std::int64_t count = 0;
    for (std::int32_t& length : lengths) {
      length = static_cast<std::int32_t>(random.between(0, 8));
      count += length;
    }
    const Keys ids = random_keys(random, sharded.key(random), count, sharded.rows);
    std::vector<float> weights;
    if (random.chance(0.5)) {
      for (std::int64_t n = 0; n < count; ++n) weights.push_back(random.real());
    }

    std::vector<std::vector<std::int32_t>> lengths_out(shards);
    std::vector<std::vector<float>> weights_out(shards);
    std::vector<std::int32_t*> length_pointers;
    std::vector<float*> weight_pointers;
    KeyLists out(ids.type(), sharded.shards, count);
    std::vector<std::int64_t> counts(shards, -1);
    for (std::size_t j = 0; j < shards; ++j) {
      lengths_out[j].assign(static_cast<std::size_t>(bags), -1);
      weights_out[j].assign(static_cast<std::size_t>(count), -1);
      length_pointers.push_back(lengths_out[j].data());
      weight_pointers.push_back(weights_out[j].data());
    }
    bucketize({bags, lengths.data(), ids.data(), ids.type(),
               weights.empty() ? nullptr : weights.data(), sharded.shards, sharded.row_cuts(),
               length_pointers.data(), out.pointers.data(), weight_pointers.data(), counts.data()});

    std::vector<std::int64_t> read(shards, 0);
    std::int64_t n = 0;
    for (std::size_t bag = 0; bag < lengths.size(); ++bag) {
      std::vector<std::int32_t> expected_lengths(shards, 0);
      for (std::int32_t i = 0; i < lengths[bag]; ++i, ++n) {
        const auto j = static_cast<std::size_t>(sharded.shard_of(ids[n]));
        ASSERT_EQ(out.lists[j][read[j]], sharded.local_row(ids[n]));
        if (!weights.empty()) {
          ASSERT_EQ(weights_out[j][static_cast<std::size_t>(read[j])],
                    weights[static_cast<std::size_t>(n)]);
        }
        ++read[j];
        ++expected_lengths[j];
      }
      for (std::size_t j = 0; j < shards; ++j) {
        ASSERT_EQ(lengths_out[j][bag], expected_lengths[j]);
      }
    }
    EXPECT_EQ(counts, read);
  });
}

TEST(Dedup, ListsDistinctRowsByShardInOrderOfFirstAppearance) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const ShardedRows sharded(random);
    const auto shards = static_cast<std::size_t>(sharded.shards);
    const std::int64_t count = random.between(0, 400);
    const Keys ids = random_keys(random, sharded.key(random), count, sharded.rows);

    std::vector<std::vector<std::int64_t>> expected(shards);
    std::map<std::int64_t, std::int64_t> position;
    for (std::int64_t n = 0; n < count; ++n) {
      auto& list = expected[static_cast<std::size_t>(sharded.shard_of(ids[n]))];
      if (position.emplace(ids[n], static_cast<std::int64_t>(list.size())).second) {
        list.push_back(sharded.local_row(ids[n]));
      }
    }

    KeyLists unique(ids.type(), sharded.shards, count);
    std::vector<std::int64_t> counts(shards, -1);
    std::vector<std::uint32_t> slot(static_cast<std::size_t>(count));
    std::vector<std::uint64_t> table(
        static_cast<std::size_t>(dedup_table_bytes(count, ids.type()) + 7) / 8, ~std::uint64_t{0});
    dedup({count, ids.data(), ids.type(), sharded.shards, sharded.row_cuts(),
           unique.pointers.data(), counts.data(), slot.data(), table.data()});

    std::vector<std::int64_t> first(shards + 1, 0);
    for (std::size_t j = 0; j < shards; ++j) {
      ASSERT_EQ(counts[j], static_cast<std::int64_t>(expected[j].size()));
      first[j + 1] = first[j] + counts[j];
      for (std::int64_t i = 0; i < counts[j]; ++i) {
        ASSERT_EQ(unique.lists[j][i], expected[j][static_cast<std::size_t>(i)]);
      }
    }
    for (std::int64_t n = 0; n < count; ++n) {
      const auto j = static_cast<std::size_t>(sharded.shard_of(ids[n]));
      ASSERT_EQ(slot[static_cast<std::size_t>(n)], first[j] + position[ids[n]]);
    }
  });
}

struct SortResult {
  explicit SortResult(std::int64_t count)
      : rows(static_cast<std::size_t>(count)),
        offsets(static_cast<std::size_t>(count) + 1),
        gradient_row(static_cast<std::size_t>(count)),
        weights(static_cast<std::size_t>(count)) {}
  std::vector<std::int64_t> rows;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> gradient_row;
  std::vector<float> weights;
  std::int64_t unique = -1;
};

void check_sort(std::uint64_t seed, std::int64_t count, std::int64_t row_limit) {
  Random random(seed);
  const KeyType key = row_limit > (std::int64_t{1} << 31) ? KeyType::i64 : random.key();
  const Keys rows = random_keys(random, key, count, row_limit);
  std::vector<std::uint32_t> gradient_row;
  std::vector<float> weights;
  const bool mapped = random.chance(0.5);
  const bool weighted = random.chance(0.5);
  for (std::int64_t n = 0; n < count; ++n) {
    if (mapped) gradient_row.push_back(static_cast<std::uint32_t>(random.between(0, 1000)));
    if (weighted) weights.push_back(random.real());
  }
  SortResult result(count);
  std::vector<std::uint64_t> scratch(
      static_cast<std::size_t>(sort_scratch_bytes(count, row_limit)) / 8);
  sort_index({count, rows.data(), key, row_limit, mapped ? gradient_row.data() : nullptr,
              weighted ? weights.data() : nullptr, result.rows.data(), result.offsets.data(),
              result.gradient_row.data(), weighted ? result.weights.data() : nullptr,
              &result.unique, scratch.data()});

  std::vector<std::size_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rows[static_cast<std::int64_t>(a)] < rows[static_cast<std::int64_t>(b)];
  });
  std::size_t unique = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t row = rows[static_cast<std::int64_t>(order[i])];
    if (i == 0 || row != result.rows[unique - 1]) {
      ASSERT_EQ(result.rows[unique], row);
      ASSERT_EQ(result.offsets[unique], i);
      ++unique;
    }
    ASSERT_EQ(result.gradient_row[i], mapped ? gradient_row[order[i]] : order[i]);
    if (weighted) {
      ASSERT_EQ(result.weights[i], weights[order[i]]);
    }
  }
  ASSERT_EQ(result.unique, static_cast<std::int64_t>(unique));
  ASSERT_EQ(result.offsets[unique], count);
}

TEST(SortIndex, IsAStableSortWithTheDistinctRowsMarked) {
  for_random_cases(300, [](std::uint64_t seed) {
    Random random(seed);
    const std::int64_t row_limit = std::int64_t{1} << random.between(0, 40);
    check_sort(seed, random.between(0, 500), random.between(1, row_limit));
  });
}

TEST(SortIndex, SortsManyOccurrences) {
  check_sort(test_seed(), 300'000, 7);
  check_sort(test_seed(), 300'000, 40'000'000);
  check_sort(test_seed(), 100'000, std::int64_t{1} << 45);
}

TEST(SortIndex, OfNothingFindsNothing) {
  check_sort(test_seed(), 0, 0);
}

}  // namespace
}  // namespace shardscope::engine::testing
