#pragma once
// When a prediction's absolute time deserves belief.

#include <string>

#include "planner/cost_model.hpp"

namespace shardscope {

struct TrustJudgement {
  Trust trust = Trust::ok;
  std::string ask;
  std::string reason;
};

/// `reader_paces`: the input floor is above the simulated iteration.
[[nodiscard]] TrustJudgement judge_trust(const Topology& topology, bool reader_paces);

/// What the speed of the layout's codecs takes from a judgement: one in a slot whose profile was
/// published of other machines (Origin::published) makes ok extrapolated and says so.
[[nodiscard]] TrustJudgement with_codec_trust(TrustJudgement judgement, const Topology& topology,
                                              const Layout& layout,
                                              const std::vector<CodecProfile>& codecs);

/// Seconds the readers of all hosts need for one global batch; 0 where they do not limit.
[[nodiscard]] double reader_seconds(const Workload& workload, const Topology& topology);

}  // namespace shardscope
