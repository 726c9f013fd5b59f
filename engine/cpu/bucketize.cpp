#include <algorithm>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/row_shards.hpp"

namespace shardscope::engine {
namespace {

template <class Key, class Split>
void split_bags(const Bucketize& call, const Split& split) {
  const Key* ids = static_cast<const Key*>(call.ids);
  const float* weights = call.weights;
  for (std::int32_t j = 0; j < call.row_shards; ++j) {
    call.counts[j] = 0;
    std::fill_n(call.lengths_out[j], call.bags, 0);
  }
  for (std::int64_t bag = 0; bag < call.bags; ++bag) {
    for (const Key* end = ids + call.lengths[bag]; ids != end; ++ids) {
      const RowInShard at = split(static_cast<std::uint64_t>(*ids));
      const std::int64_t position = call.counts[at.shard]++;
      static_cast<Key*>(call.ids_out[at.shard])[position] = static_cast<Key>(at.row);
      if (weights != nullptr) call.weights_out[at.shard][position] = *weights++;
      ++call.lengths_out[at.shard][bag];
    }
  }
}

}  // namespace

void bucketize(const Bucketize& call) {
  with_row_split(call.row_shards, call.row_cuts, [&](const auto& split) {
    if (call.key == KeyType::i32) {
      split_bags<std::int32_t>(call, split);
    } else {
      split_bags<std::int64_t>(call, split);
    }
  });
}

}  // namespace shardscope::engine
