#include "layout/invariant.hpp"
#include "storage/import/hugectr/mlperf_log.hpp"
#include "storage/import/tbe_config.hpp"
#include "storage/import/trace/kernel_map.hpp"
#include "tests/fuzz/fuzz.hpp"

// Any text: workloads that come out have a table for every feature.
SHARDSCOPE_FUZZ_TARGET(text_imports) {
  const auto text = shardscope::fuzz::text_of(input);
  shardscope::storage::ImportNotes notes("input");
  if (const auto workloads = shardscope::storage::read_tbe_configs(text, notes)) {
    for (const shardscope::Workload& workload : *workloads) {
      for (const shardscope::Feature& feature : workload.features) {
        SHARDSCOPE_CHECK(static_cast<std::size_t>(feature.table) < workload.tables.size(),
                         "a feature without its table");
      }
    }
  }
  static_cast<void>(shardscope::storage::read_mlperf_log(text, notes));
  static_cast<void>(shardscope::storage::parse_kernel_map(text, "input"));
}
