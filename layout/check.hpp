#pragma once
// The rules of a valid layout, per executor. A check returns every violation with its cure.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

enum class Severity : std::uint8_t { error, warning };

/// One broken rule. -1 where an index does not apply.
struct Violation {
  std::string rule;  ///< stable id, e.g. "memory.gpu", "columns.multiple_of_4"
  Severity severity = Severity::error;
  std::int32_t table = -1;
  std::int32_t row = -1;
  std::int32_t column = -1;
  std::int32_t rank = -1;
  std::int64_t amount = 0;  ///< bytes over, rows missing, ... as the message says
  std::string message;      ///< with names and numbers
  std::string cure;         ///< one action

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// Rules of the workload alone (names, ranges, references between tables and features).
[[nodiscard]] std::vector<Violation> check_workload(const Workload& workload);

/// Rules of the topology alone.
[[nodiscard]] std::vector<Violation> check_topology(const Topology& topology);

/// Every violation of (workload, topology, layout) for that executor; empty when valid. Includes
/// the two above; rules that need a broken part are skipped, never guessed.
[[nodiscard]] std::vector<Violation> check(const Workload& workload, const Topology& topology,
                                           const Layout& layout, Executor executor);

[[nodiscard]] bool has_errors(const std::vector<Violation>& violations);

[[nodiscard]] const char* to_string(Severity value);

}  // namespace shardscope
