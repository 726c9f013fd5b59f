#include <cmath>

#include "layout/invariant.hpp"
#include "storage/import/nccl_tests.hpp"
#include "tests/fuzz/fuzz.hpp"

// Any text: what comes out is finite and above zero, and can be fitted.
SHARDSCOPE_FUZZ_TARGET(nccl_tests) {
  const auto text = shardscope::fuzz::text_of(input);
  shardscope::storage::ImportNotes notes("input");
  const auto tests = shardscope::storage::read_nccl_tests(text, 8, "input", notes);
  if (!tests) return;
  for (const shardscope::storage::NcclTest& test : *tests) {
    SHARDSCOPE_CHECK(test.ranks >= 2, "ranks are known");
    for (const shardscope::CollectiveTime& time : test.times) {
      SHARDSCOPE_CHECK(std::isfinite(time.seconds) && time.seconds > 0, "a time");
      SHARDSCOPE_CHECK(std::isfinite(time.received_bytes) && time.received_bytes > 0, "bytes");
    }
    std::vector<std::string> refused;
    const shardscope::LinkModel link =
        shardscope::fitted_link({}, test.times, "fuzz", "2026-01-01", refused);
    double before = 0;
    for (const shardscope::BandwidthPoint& point : link.by_size) {
      SHARDSCOPE_CHECK(point.message_bytes > before && point.bytes_per_s > 0, "a curve ascends");
      before = point.message_bytes;
    }
  }
}
