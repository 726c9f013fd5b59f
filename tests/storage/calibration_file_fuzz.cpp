#include "layout/invariant.hpp"
#include "storage/calibration_file.hpp"
#include "tests/fuzz/fuzz.hpp"

// A calibration that is read is written and read back as it was.
SHARDSCOPE_FUZZ_TARGET(calibration_file) {
  const auto text = shardscope::fuzz::text_of(input);
  const auto file = shardscope::storage::calibration_from_json(text, "input");
  if (!file) return;
  const std::string written = shardscope::storage::to_json(*file);
  const auto again = shardscope::storage::calibration_from_json(written, "written");
  SHARDSCOPE_CHECK(again.has_value(), "what was written is read");
  SHARDSCOPE_CHECK(shardscope::storage::to_json(*again) == written, "and means the same");
}
