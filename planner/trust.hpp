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

/// Seconds the readers of all hosts need for one global batch; 0 where they do not limit.
[[nodiscard]] double reader_seconds(const Workload& workload, const Topology& topology);

}  // namespace shardscope
