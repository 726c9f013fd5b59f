#include "storage/import/torchrec/torchrec_stats.hpp"

#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

// Both readers take any text; a layout that follows has a placement a table.
SHARDSCOPE_FUZZ_TARGET(torchrec_stats) {
  const auto text = shardscope::fuzz::text_of(input);
  for (const bool csv : {true, false}) {
    shardscope::storage::ImportNotes notes("input");
    const auto stats = csv ? shardscope::storage::read_torchrec_stats_csv(text, notes)
                           : shardscope::storage::read_torchrec_stats(text, notes);
    if (!stats) continue;
    const auto plan = shardscope::storage::resolve_torchrec_stats(*stats, {}, notes);
    if (!plan || !plan->layout) continue;
    SHARDSCOPE_CHECK(plan->layout->tables.size() == plan->workload->tables.size(),
                     "tables and placements differ");
  }
}
