#pragma once
// What the Scale workspace remembers: the matrix and the planner beside it.

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "ui/model/matrix_model.hpp"
#include "ui/model/plan_diff.hpp"
#include "ui/model/plan_job.hpp"

namespace shardscope::ui {

struct ScaleState {
  MatrixModel matrix;
  int value = 0;  ///< MatrixValue
  int show = 0;   ///< 0 current, 1 proposed, 2 difference
  std::string find;
  std::set<std::string> folded;
  float scroll = 0;
  float plan_scroll = 0;

  std::string planner = "optimize";
  std::string time_limit = "2.0";
  std::string seed = "1";
  std::string rules;  ///< parse_plan_rules()
  std::shared_ptr<PlanWork> job;
  std::shared_ptr<const Layout> proposed;
  std::optional<Evaluation> proposed_evaluation;
  std::optional<PlanDiff> diff;
  double bound_s = 0;
  std::string failure;
  int planned_for = -1;  ///< history node that the proposal was compared with
};

/// What the History workspace remembers.
struct HistoryState {
  int selected = -1;  ///< layout compared with the current one; -1: the reference
  std::optional<PlanDiff> diff;
  int diff_from = -1;
  int diff_to = -1;
  float scroll = 0;
};

}  // namespace shardscope::ui
