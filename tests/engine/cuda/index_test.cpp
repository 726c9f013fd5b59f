// Index operations of the cuda device against the cpu device.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "layout/scratch_bytes.hpp"
#include "tests/engine/cuda/both_devices.hpp"

namespace shardscope::engine::testing {
namespace {

/// Rows of a table cut into modulo or block shards, some of the blocks empty; ids of them.
struct CudaSplitCase {
  CudaSplitCase(Random& random, std::int64_t id_count)
      : count(id_count),
        shards(static_cast<std::int32_t>(random.chance(0.2) ? 1 : random.between(1, 9))),
        rows(random.chance(0.2) ? std::int64_t{1} << 33 : random.between(1, 500)),
        key(rows > (std::int64_t{1} << 31) ? KeyType::i64 : random.key()),
        ids(random_keys(random, key, count, rows)),
        counts(static_cast<std::size_t>(shards), -1),
        slot(static_cast<std::size_t>(count), 77) {
    if (random.chance(0.5)) {
      cuts = {0, rows};
      for (std::int32_t j = 1; j < shards; ++j) cuts.push_back(random.between(0, rows));
      std::sort(cuts.begin(), cuts.end());
    }
    for (std::int32_t j = 0; j < shards; ++j) {
      lists.emplace_back(key, std::vector<std::int64_t>(static_cast<std::size_t>(count), -1));
    }
    for (Keys& list : lists) pointers.push_back(list.data());
  }

  [[nodiscard]] const std::int64_t* row_cuts() const {
    return cuts.empty() ? nullptr : cuts.data();
  }
  void add_to(Transcript& transcript) const {
    for (const Keys& list : lists) transcript.add(list, count);
    transcript.add(counts);
    transcript.add(slot);
  }

  std::int64_t count;
  std::int32_t shards;
  std::int64_t rows;
  KeyType key;
  Keys ids;
  std::vector<std::int64_t> cuts;
  std::deque<Keys> lists;
  std::vector<void*> pointers;
  std::vector<std::int64_t> counts;
  std::vector<std::uint32_t> slot;
};

/// Bags over a split's ids, and per shard what bucketize writes.
struct CudaBagCase {
  explicit CudaBagCase(Random& random)
      : lengths(make_lengths(random)),
        split(random, total),
        weighted(random.chance(0.5)),
        weights(static_cast<std::size_t>(total)) {
    for (float& weight : weights) weight = random.real();
    const auto shards = static_cast<std::size_t>(split.shards);
    lengths_out.resize(shards, std::vector<std::int32_t>(lengths.size(), -1));
    weights_out.resize(shards, std::vector<float>(weights.size(), -1));
    for (auto& list : lengths_out) length_pointers.push_back(list.data());
    for (auto& list : weights_out) weight_pointers.push_back(list.data());
  }

  std::vector<std::int32_t> make_lengths(Random& random) {
    std::vector<std::int32_t> made(static_cast<std::size_t>(random.between(0, 20)));
    for (std::int32_t& length : made) {
      length = static_cast<std::int32_t>(random.chance(0.1) ? random.between(30, 70)
                                                            : random.between(0, 8));
      total += length;
    }
    return made;
  }

  [[nodiscard]] Bucketize call() {
    return {static_cast<std::int64_t>(lengths.size()),
            lengths.data(),
            split.ids.data(),
            split.key,
            weighted ? weights.data() : nullptr,
            split.shards,
            split.row_cuts(),
            length_pointers.data(),
            split.pointers.data(),
            weight_pointers.data(),
            split.counts.data()};
  }

  std::int64_t total = 0;
  std::vector<std::int32_t> lengths;
  CudaSplitCase split;
  bool weighted;
  std::vector<float> weights;
  std::vector<std::vector<std::int32_t>> lengths_out;
  std::vector<std::vector<float>> weights_out;
  std::vector<std::int32_t*> length_pointers;
  std::vector<float*> weight_pointers;
};

TEST(CudaBucketize, EqualsTheCpuDevice) {
  expect_equal_on_both(25, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaBagCase> cases;
    std::vector<Bucketize> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      calls.push_back(cases.emplace_back(random).call());
    }
    ops.bucketize(stream, calls);
    finish(stream);
    for (const CudaBagCase& bags : cases) {
      bags.split.add_to(transcript);
      for (const auto& list : bags.lengths_out) transcript.add(list);
      for (const auto& list : bags.weights_out) transcript.add(list);
    }
  });
}

TEST(CudaGroupIds, EqualsTheCpuDevice) {
  expect_equal_on_both(25, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaSplitCase> cases;
    std::vector<GroupIds> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      CudaSplitCase& split = cases.emplace_back(random, random.between(0, 700));
      calls.push_back({split.count, split.ids.data(), split.key, split.shards, split.row_cuts(),
                       split.pointers.data(), split.counts.data(), split.slot.data()});
    }
    ops.group_ids(stream, calls);
    finish(stream);
    for (const CudaSplitCase& split : cases) split.add_to(transcript);
  });
}

TEST(CudaDedup, ListsTheSameDistinctRowsInTheSameOrderAsTheCpuDevice) {
  expect_equal_on_both(25, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaSplitCase> cases;
    std::deque<std::vector<std::uint64_t>> tables;
    std::vector<Dedup> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      CudaSplitCase& split = cases.emplace_back(random, random.between(0, 700));
      tables.emplace_back(static_cast<std::size_t>(dedup_table_bytes(split.count, split.key) + 7) /
                          8);
      calls.push_back({split.count, split.ids.data(), split.key, split.shards, split.row_cuts(),
                       split.pointers.data(), split.counts.data(), split.slot.data(),
                       tables.back().data()});
    }
    ops.dedup(stream, calls);
    finish(stream);
    for (const CudaSplitCase& split : cases) split.add_to(transcript);
  });
}

/// Occurrences of rows of one table, and what index calculation writes.
struct CudaSortCase {
  CudaSortCase(Random& random, bool huge)
      : count(random.between(0, 300)),
        limit(huge ? std::int64_t{1} << random.between(33, 62) : random.between(1, 200)),
        keys(random_keys(random, huge ? KeyType::i64 : random.key(), count, limit)),
        given_rows(random.chance(0.5)),
        weighted(random.chance(0.5)),
        unique_rows(size(), -1),
        offsets(size() + 1, 77),
        sorted_gradient_row(size(), 77),
        sorted_weights(size(), -1),
        scratch(static_cast<std::size_t>(sort_scratch_bytes(count, limit) + 7) / 8) {
    for (std::int64_t n = 0; n < count; ++n) {
      gradient_row.push_back(static_cast<std::uint32_t>(random.between(0, 50)));
      weights.push_back(random.real());
    }
  }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(count); }
  [[nodiscard]] SortIndex call() {
    return {count,
            keys.data(),
            keys.type(),
            limit,
            given_rows ? gradient_row.data() : nullptr,
            weighted ? weights.data() : nullptr,
            unique_rows.data(),
            offsets.data(),
            sorted_gradient_row.data(),
            sorted_weights.data(),
            &unique_count,
            scratch.data()};
  }
  void add_to(Transcript& transcript) const {
    transcript.add(&unique_count, 1);
    transcript.add(unique_rows.data(), unique_count);
    transcript.add(offsets.data(), unique_count + 1);
    transcript.add(sorted_gradient_row);
    transcript.add(sorted_weights);
  }

  std::int64_t count;
  std::int64_t limit;
  Keys keys;
  bool given_rows;
  bool weighted;
  std::vector<std::uint32_t> gradient_row;
  std::vector<float> weights;
  std::vector<std::int64_t> unique_rows;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> sorted_gradient_row;
  std::vector<float> sorted_weights;
  std::int64_t unique_count = -1;
  std::vector<std::uint64_t> scratch;
};

TEST(CudaSortIndex, EqualsTheCpuDeviceForListsOfTables) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaSortCase> cases;
    std::vector<SortIndex> calls;
    const bool huge = random.chance(0.3);
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      calls.push_back(cases.emplace_back(random, huge && random.chance(0.7)).call());
    }
    ops.sort_index(stream, calls);
    finish(stream);
    for (const CudaSortCase& sort : cases) sort.add_to(transcript);
  });
}

}  // namespace
}  // namespace shardscope::engine::testing
