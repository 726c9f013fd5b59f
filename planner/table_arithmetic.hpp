#pragma once
// One table as DP, RB and UB side by side: formulas with their numbers.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"

namespace shardscope {

/// One amount of a form, e.g. {"lookup", "65,536 samples x 10 ids x 512 B", 0.000101, "s"}.
struct ArithmeticLine {
  std::string label;
  std::string formula;
  double value = 0;
  std::string unit;  ///< "s" or "B"
};

/// The table in one cluster: as it is cut today, or where it is in another cluster today, whole on
/// its first owner (DP tables: rank 0).
struct FormArithmetic {
  ClusterType cluster = ClusterType::DP;
  Exchange exchange = Exchange::flat;
  bool legal = false;        ///< for the executor, and within memory
  TablePlacement placement;  ///< what is priced
  std::vector<ArithmeticLine> lines;
  double memory_bytes = 0;  ///< it adds to its fullest owner
  double iteration_s = 0;   ///< of the whole layout with the table so
};

/// DP, RB flat, RB hierarchical (where there are several domains) and UB, in this order. Errors as
/// predict()'s; a table that does not exist is a usage error.
[[nodiscard]] Result<std::vector<FormArithmetic>> table_arithmetic(const Workload& workload,
                                                                   const Topology& topology,
                                                                   const Layout& layout,
                                                                   std::size_t table,
                                                                   const PredictOptions& options);

}  // namespace shardscope
