#include "layout/invariant.hpp"
#include "layout/json.hpp"
#include "tests/fuzz/fuzz.hpp"

// Whatever is read is written such that it reads back equal.
SHARDSCOPE_FUZZ_TARGET(topology_json) {
  const auto value = shardscope::topology_from_json(shardscope::fuzz::text_of(input), "input");
  if (!value) return;
  const auto back = shardscope::topology_from_json(shardscope::to_json(*value), "written");
  SHARDSCOPE_CHECK(back && *back == *value, "a topology changes when it is written and read");
}
