#pragma once
// What differs between executors in the cost model: sizes on wires and in memory, fused stages,
// schedule.

#include "layout/executor.hpp"
#include "layout/schedule.hpp"
#include "layout/workload.hpp"
#include "planner/cost_constants.hpp"

namespace shardscope {

struct ExecutorModel {
  Executor executor = Executor::engine;
  double id_bytes = 4;             ///< an id on the wire, RB
  double length_bytes = 4;         ///< a bag's length, per row shard
  double request_bytes = 4;        ///< a row asked for, UB
  double activation_bytes = 4;     ///< dense part
  double reduced_bytes = 4;        ///< an element of a reduced gradient in memory
  double allreduced_bytes = 4;     ///< an element of a DP or dense gradient on the wire
  bool touch_marks = false;        ///< DP gradients carry one element more a row
  bool ring_allreduce = true;      ///< inside the domain, then along rails; else chunks to all
  bool grouped_allreduce = false;  ///< DP gradients share the dense all-reduce's latency
  bool dense_dp_update = true;     ///< DP updates every row, touched or not
  bool fused_tables = true;        ///< one kernel for all tables of a cluster
  bool coded_sizes = false;        ///< sizes of coded messages are exchanged first

  // input_dist and index calculation: bytes of memory traffic.
  double source_key_bytes = cost::kSourceBytesPerKey;  ///< an id, where it is read
  double owner_key_bytes = cost::kOwnerBytesPerKey;    ///< an id, where its row is
  double bag_bytes = 0;                                ///< a bag's length, at each side
  double split_key_bytes = 0;      ///< more for an id of a table cut by rows, where it is read
  double dedup_key_bytes = 0;      ///< more for an id that is deduplicated, where it is read
  double index_bag_bytes = 0;      ///< a bag's length in index calculation
  bool ub_consumer_sorts = false;  ///< gradients of repeated ids are summed before they are sent
  double ub_forward_passes = 1;    ///< over the rows that a UB consumer asked for
  double ub_backward_passes = 1;
};

[[nodiscard]] ExecutorModel executor_model(Executor executor, const Workload& workload);

/// The schedule an executor runs. engine: make_schedule of that kind. hugectr: likewise (inter is
/// its MLPerf setting). torchrec: its sparse-dist pipeline whatever the kind.
[[nodiscard]] Schedule executor_schedule(Executor executor, ScheduleKind kind,
                                         const SchedulePresence& presence);

/// The kind an executor runs when the user does not choose: inter for all but the engine (serial
/// is the engine's default).
[[nodiscard]] ScheduleKind default_schedule(Executor executor);

}  // namespace shardscope
