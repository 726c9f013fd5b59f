#pragma once
// Row shard and local row of an id, without a division an id: what Bucketize and Dedup share.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shardscope::engine {

struct RowInShard {
  std::uint32_t shard = 0;
  std::uint64_t row = 0;
};

/// One shard: the id is its own row.
struct WholeTable {
  RowInShard operator()(std::uint64_t id) const { return {0, id}; }
};

/// Modulo by a power of two.
struct PowerOfTwoShards {
  explicit PowerOfTwoShards(std::uint32_t shards)
      : mask_(shards - 1), shift_(std::countr_zero(shards)) {}
  RowInShard operator()(std::uint64_t id) const {
    return {static_cast<std::uint32_t>(id & mask_), id >> shift_};
  }

 private:
  std::uint64_t mask_;
  int shift_;
};

/// Modulo by any count: multiplies by the rounded-up reciprocal 2^64 / shards, which gives the
/// exact quotient for ids below 2^32; larger ids are divided.
struct ModuloShards {
  explicit ModuloShards(std::uint32_t shards)
      : shards_(shards), reciprocal_(~std::uint64_t{0} / shards + 1) {}
  RowInShard operator()(std::uint64_t id) const {
    const std::uint64_t row = id >> 32 == 0 ? high_product(id) : id / shards_;
    return {static_cast<std::uint32_t>(id - row * shards_), row};
  }

 private:
  std::uint64_t high_product(std::uint64_t id) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(id) * reciprocal_) >> 64);
  }

  std::uint64_t shards_;
  std::uint64_t reciprocal_;
};

/// Blocks of rows [cuts[j], cuts[j + 1]).
struct BlockShards {
  BlockShards(std::uint32_t shards, const std::int64_t* cuts) : shards_(shards), cuts_(cuts) {}
  RowInShard operator()(std::uint64_t id) const {
    const auto signed_id = static_cast<std::int64_t>(id);
    const std::int64_t* next = std::upper_bound(cuts_ + 1, cuts_ + shards_, signed_id);
    const auto shard = static_cast<std::uint32_t>(next - cuts_ - 1);
    return {shard, static_cast<std::uint64_t>(signed_id - cuts_[shard])};
  }

 private:
  std::uint32_t shards_;
  const std::int64_t* cuts_;
};

/// Calls `use` with the cheapest of the splits above.
template <class Use>
void with_row_split(std::int32_t row_shards, const std::int64_t* row_cuts, const Use& use) {
  const auto shards = static_cast<std::uint32_t>(row_shards);
  if (shards == 1) {
    use(WholeTable{});
  } else if (row_cuts != nullptr) {
    use(BlockShards(shards, row_cuts));
  } else if (std::has_single_bit(shards)) {
    use(PowerOfTwoShards(shards));
  } else {
    use(ModuloShards(shards));
  }
}

}  // namespace shardscope::engine
