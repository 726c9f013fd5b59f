#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "layout/check.hpp"
#include "layout/invariant.hpp"
#include "layout/json.hpp"
#include "layout/memory.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace shardscope::fuzz {
namespace {

/// The documents of an input: workload, topology and layout between lines of "---".
std::vector<std::string_view> documents_of(std::string_view text) {
  constexpr std::string_view kLine = "\n---\n";
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(kLine); at != text.npos; at = text.find(kLine)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + kLine.size());
  }
  parts.push_back(text);
  return parts;
}

/// Larger worlds are legal but slow to account for.
bool is_small(const Topology& topology, const Layout& layout) {
  constexpr std::int32_t kMost = 64;
  return topology.hosts <= kMost && topology.gpus_per_host <= kMost &&
         std::all_of(layout.tables.begin(), layout.tables.end(),
                     [](const TablePlacement& one) { return one.row_shards <= kMost; });
}

void check_text(std::string_view text) {
  const auto parts = documents_of(text);
  if (parts.size() != 3) return;
  const auto workload = workload_from_json(parts[0], "workload");
  const auto topology = topology_from_json(parts[1], "topology");
  const auto layout = layout_from_json(parts[2], "layout");
  if (!workload || !topology || !layout || !is_small(*topology, *layout)) return;
  for (const Executor executor : {Executor::engine, Executor::hugectr, Executor::torchrec}) {
    const auto violations = check(*workload, *topology, *layout, executor);
    for (const Violation& violation : violations) {
      SHARDSCOPE_CHECK(!violation.message.empty() && !violation.cure.empty(), "a mute violation");
    }
    if (has_errors(violations)) continue;
    for (const MemoryUse& use : memory_of(*workload, *topology, *layout, executor).gpus) {
      SHARDSCOPE_CHECK(use.total() >= 0 && use.communication >= 0 && use.indices >= 0,
                       "negative memory");
    }
  }
}

}  // namespace
}  // namespace shardscope::fuzz

// Whatever was read is checked without fault; what has no error is accounted for, never negative.
SHARDSCOPE_FUZZ_TARGET(check) {
  shardscope::fuzz::check_text(shardscope::fuzz::text_of(input));
}
