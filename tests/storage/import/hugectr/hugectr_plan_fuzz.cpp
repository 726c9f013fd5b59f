#include "storage/import/hugectr/hugectr_plan.hpp"

#include "layout/invariant.hpp"
#include "layout/models.hpp"
#include "tests/fuzz/fuzz.hpp"

// Whatever the text is, a plan that resolves has a placement for every table.
SHARDSCOPE_FUZZ_TARGET(hugectr_plan) {
  shardscope::storage::ImportNotes notes("input");
  const auto plans =
      shardscope::storage::read_hugectr_plans(shardscope::fuzz::text_of(input), notes);
  if (!plans) return;
  for (const auto& plan : *plans) {
    const auto resolved = shardscope::storage::resolve_hugectr_plan(plan, {}, notes);
    if (!resolved || !resolved->layout) continue;
    SHARDSCOPE_CHECK(resolved->layout->tables.size() == resolved->workload->tables.size(),
                     "a layout without all tables");
    for (const auto& table : resolved->layout->tables) {
      SHARDSCOPE_CHECK(!table.column_cuts.empty(), "a table without columns");
    }
  }
}
