#pragma once
// What a proposed layout changes, in groups that a person can take or leave.

#include <cstdint>
#include <string>
#include <vector>

#include "ui/model/document.hpp"

namespace shardscope::ui {

/// Tables that change in the same way.
struct PlanGroup {
  std::string label;    ///< "cat_20", "20 tables, hot 100"
  std::string was;      ///< "RB, 1 GPU"
  std::string becomes;  ///< "RB, 8 GPUs"
  std::vector<std::int32_t> tables;
  double gain_s = 0;  ///< of this group alone; negative is slower
  double moved_bytes = 0;
  bool ticked = true;
};

struct PlanDiff {
  std::vector<PlanGroup> groups;       ///< by falling gain
  std::vector<double> moved_into_gpu;  ///< bytes, all groups
  bool options_differ = false;         ///< choices of whole clusters (exchange, codecs)
};

[[nodiscard]] PlanDiff plan_diff(Document& document, const Layout& proposed);

/// The current layout with the ticked groups' tables as proposed. With all ticked: the proposal.
[[nodiscard]] Layout ticked_layout(const Layout& current, const Layout& proposed,
                                   const PlanDiff& diff);

/// "RB, 2 × 1 on 2 GPUs", "DP".
[[nodiscard]] std::string placement_words(const TablePlacement& placement);

}  // namespace shardscope::ui
