// Any bytes as a reuse file; what is read must be usable as a distribution or refused with a place.

#include <string>

#include "engine/batches/reuse_file.hpp"
#include "engine/batches/reuse_plan.hpp"
#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

SHARDSCOPE_FUZZ_TARGET(reuse_json) {
  namespace engine = shardscope::engine;
  const auto batches = engine::reuse_batches_from_json(shardscope::fuzz::text_of(input), "input");
  if (!batches) return;
  for (const engine::ReuseBatch& batch : *batches) {
    const auto classes = engine::reuse_classes(batch.bins, "input");
    if (!classes) continue;
    for (const std::int64_t keys : {1, 7, 1000}) {
      const engine::ReusePlan plan(*classes, keys);
      std::int64_t previous = 0;
      for (std::int64_t key = 0; key < keys; ++key) {
        const std::int64_t rank = plan.rank_of(key);
        SHARDSCOPE_CHECK(rank >= previous && rank < plan.distinct_rows(), "a rank of the batch");
        previous = rank;
      }
    }
  }
}
