#pragma once
// One table as DP, RB and UB side by side.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ui/model/document.hpp"

namespace shardscope::ui {

struct Alternative {
  bool allowed = false;
  bool current = false;
  std::string why_not;       ///< where it is not allowed
  double iteration_s = 0;    ///< of the whole layout with the table so
  double load_s = 0;         ///< of the table over all GPUs
  double memory_bytes = 0;   ///< weights and state over all GPUs
  double wire_bytes = 0;     ///< sent by all GPUs in one iteration
  std::string formula;       ///< of the wire bytes, with its numbers
  std::optional<Edit> edit;  ///< what a click applies; nothing for the current one
};

/// The table in that cluster, on the least loaded owner; an error says why it cannot be.
[[nodiscard]] Result<Edit> as_cluster(const Document& document, std::int32_t table,
                                      ClusterType cluster);

/// Kept until the layout or the table changes.
class Alternatives {
 public:
  [[nodiscard]] const std::array<Alternative, kClusterTypes>& of(Document& document,
                                                                 std::int32_t table);

 private:
  std::array<Alternative, kClusterTypes> values_;
  int node_ = -1;
  std::int32_t table_ = -1;
};

}  // namespace shardscope::ui
