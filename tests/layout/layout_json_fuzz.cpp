#include "layout/invariant.hpp"
#include "layout/json.hpp"
#include "tests/fuzz/fuzz.hpp"

// Whatever is read is written such that it reads back equal.
SHARDSCOPE_FUZZ_TARGET(layout_json) {
  const auto value = shardscope::layout_from_json(shardscope::fuzz::text_of(input), "input");
  if (!value) return;
  const auto back = shardscope::layout_from_json(shardscope::to_json(*value), "written");
  SHARDSCOPE_CHECK(back && *back == *value, "a layout changes when it is written and read");
}
