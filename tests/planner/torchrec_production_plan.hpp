#pragma once
// The anonymised production plan of TorchRec's documentation: 1,935 tables on 96 ranks.

#include <vector>

#include "planner/torchrec_estimator.hpp"

namespace shardscope::testing_planner {

struct ProductionTable {
  TorchRecTable table;
  TorchRecForm form = TorchRecForm::column_wise;
  std::int32_t column_width = 0;
  double perf_ms = 0;
  double hbm_gib = 0;
  std::vector<std::int32_t> ranks;  ///< by shard
};

/// Empty where the file is absent.
[[nodiscard]] std::vector<ProductionTable> production_plan();

/// Its machine: 96 ranks in hosts of 8, 2,560 samples a rank, TorchRec's default HBM rate, and the
/// one collective rate that its times imply (25.98 GiB/s).
[[nodiscard]] TorchRecMachine production_machine();

}  // namespace shardscope::testing_planner
