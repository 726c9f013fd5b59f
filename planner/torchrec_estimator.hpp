#pragma once
// TorchRec's own estimate of a table: milliseconds and HBM of every shard under each of its
// sharding types, for fused kernels. Formulas of torchrec/distributed/planner (estimator and
// shard_estimators, August 2026); what they leave out (skew, duplicates, launches, overlap) is left
// out here too.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

enum class TorchRecForm : std::uint8_t {
  data_parallel,
  table_wise,
  column_wise,
  row_wise,
  table_row_wise,
  table_column_wise,
  grid_shard,
};

/// "column_wise" and so on, as in a ShardingPlan.
[[nodiscard]] const char* to_string(TorchRecForm value);

/// What TorchRec's Topology holds. Bytes and bytes/s.
struct TorchRecMachine {
  std::int32_t world = 1;
  std::int32_t local_world = 1;
  double batch = 512;  ///< samples a rank
  double hbm_bytes = 0;
  double hbm_bytes_per_s = 0;
  double intra_bytes_per_s = 0;
  double inter_bytes_per_s = 0;
  double backward_multiplier = 2;
  /// Outputs count min(1, ids a bag) since May 2026; older versions counted every bag.
  bool outputs_limited_by_ids = true;
};

/// The machine of a topology: peak rates, capacity, ranks of a fast domain as a host.
[[nodiscard]] TorchRecMachine torchrec_machine(const Topology& topology, std::int64_t batch);

/// One feature's ids a bag and bags a sample.
struct TorchRecInput {
  double pooling = 1;
  double num_poolings = 1;
};

struct TorchRecTable {
  std::string name;
  std::string module_path;
  std::int64_t rows = 0;
  std::int32_t dim = 0;
  double element_bytes = 4;
  double output_bytes = 4;  ///< an element of the exchanged vectors
  bool pooled = true;       ///< else sequence
  bool weighted = false;
  /// Optimizer state as a multiple of the weights (row-wise adagrad: 1 / dim).
  double optimizer_multiplier = 0;
  std::vector<TorchRecInput> inputs;
};

[[nodiscard]] std::vector<TorchRecTable> torchrec_tables(const Workload& workload);

struct TorchRecShard {
  std::int64_t first_row = 0;
  std::int32_t first_column = 0;
  std::int64_t rows = 0;
  std::int32_t columns = 0;
  double forward_compute_ms = 0;
  double forward_comms_ms = 0;
  double backward_compute_ms = 0;
  double backward_comms_ms = 0;
  double hbm_bytes = 0;

  [[nodiscard]] double total_ms() const {
    return forward_compute_ms + forward_comms_ms + backward_compute_ms + backward_comms_ms;
  }
};

/// Shards of a table under a form. `column_width`: of the column forms; 0: TorchRec's choice (the
/// smallest divisor of dim that is at least 128 and a multiple of 4, else the whole).
[[nodiscard]] std::vector<TorchRecShard> torchrec_shards(const TorchRecTable& table,
                                                         TorchRecForm form,
                                                         const TorchRecMachine& machine,
                                                         std::int32_t column_width = 0);

/// Fills the estimates of one shard whose geometry is given (unequal columns too).
void torchrec_estimate(const TorchRecTable& table, TorchRecForm form,
                       const TorchRecMachine& machine, TorchRecShard& shard);

}  // namespace shardscope
