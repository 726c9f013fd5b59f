#pragma once
// Why a layout takes as long as it does: which rank, stage and tables, what binds, and which single
// edits would help most. Pure values for every front end.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"

namespace shardscope {

/// What an iteration can be bound by.
enum class Limit : std::uint8_t {
  memory_bandwidth,
  compute,     ///< GEMMs
  fast_wires,  ///< inside a fast domain
  network,     ///< between domains
  launches,    ///< kernels' fixed cost
  imbalance,   ///< the slowest rank of a stage over the mean rank
  input,       ///< readers
};
inline constexpr std::size_t kLimits = 7;
[[nodiscard]] const char* to_string(Limit value);

/// The iteration if one limit cost nothing: the further below today's, the more it binds.
struct LimitEffect {
  Limit limit = Limit::memory_bandwidth;
  double without_s = 0;
};

/// A table's own work on one rank, seconds alone on the device.
struct TableCost {
  std::int32_t table = 0;
  double lookup_s = 0;
  double reduction_s = 0;  ///< local_reduce and update
  double indexing_s = 0;   ///< index_calculation, owner's part of input_dist
  double wire_s = 0;       ///< vectors, gradients and ids over the busiest link classes; all-reduce
  [[nodiscard]] double total_s() const { return lookup_s + reduction_s + indexing_s + wire_s; }
};

/// One table placed otherwise.
struct SuggestedEdit {
  std::int32_t table = 0;
  TablePlacement placement;
  std::string what;    ///< "cut t3 into 4 row shards on ranks 8, 9, 10, 11 instead of rank 2"
  double seconds = 0;  ///< iteration after it
};

struct Explanation {
  double iteration_s = 0;
  std::int32_t critical_rank = 0;            ///< the one that others wait for
  Stage critical_stage = Stage::input_dist;  ///< largest part of the critical path
  Work critical_work = Work::RB;
  std::vector<LimitEffect> limits;   ///< most binding first
  std::vector<TableCost> costliest;  ///< five, on the critical rank, dearest first
  std::vector<SuggestedEdit> edits;  ///< up to three, of different tables, best first
  /// Iteration with all RB tables exchanged the other way; 0 where that makes no difference.
  double other_exchange_s = 0;
  Exchange other_exchange = Exchange::hierarchical;
  std::string verdict;  ///< one sentence of the above
};

/// Errors as predict()'s. Edits stay legal for the executor and within memory.
[[nodiscard]] Result<Explanation> explain_layout(const Workload& workload, const Topology& topology,
                                                 const Layout& layout,
                                                 const PredictOptions& options);

/// A placement in words: "RB flat, 4 row x 2 column shards on ranks 0-7".
[[nodiscard]] std::string describe(const TablePlacement& placement, Exchange exchange);

}  // namespace shardscope
