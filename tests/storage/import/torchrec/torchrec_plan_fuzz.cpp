#include "storage/import/torchrec/torchrec_plan.hpp"

#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"

// Both readers take any text; a plan that resolves names no rank outside its topology.
SHARDSCOPE_FUZZ_TARGET(torchrec_plan) {
  const auto text = shardscope::fuzz::text_of(input);
  for (const bool json : {true, false}) {
    shardscope::storage::ImportNotes notes("input");
    const auto plan = json ? shardscope::storage::read_torchrec_json(text, notes)
                           : shardscope::storage::read_torchrec_text(text, notes);
    if (!plan) continue;
    const auto resolved = shardscope::storage::resolve_torchrec_plan(*plan, {}, notes);
    if (!resolved || !resolved->layout) continue;
    for (const auto& table : resolved->layout->tables) {
      for (const std::int32_t owner : table.owners) {
        SHARDSCOPE_CHECK(owner >= 0 && owner < resolved->topology->ranks(), "a rank outside");
      }
    }
  }
}
