#pragma once
// What does not fit and what would, and what a layout is warned of, as people and machines read it.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "layout/check.hpp"
#include "planner/shortage.hpp"

namespace shardscope::app {

/// Crowded GPUs, their tables, the moves that relieve them.
[[nodiscard]] std::string shortage_text(const Inputs& inputs, const LayoutShortage& found);
[[nodiscard]] nlohmann::ordered_json shortage_json(const Inputs& inputs,
                                                   const LayoutShortage& found);

/// What any layout lacks, and each change with what it frees.
[[nodiscard]] std::string shortage_text(const Inputs& inputs, const Shortage& found);
[[nodiscard]] nlohmann::ordered_json shortage_json(const Inputs& inputs, const Shortage& found);

/// Prints why memory does not suffice for the layout (null: for any) and returns `error`: text or
/// {fits, error, layout_shortage, shortage} on standard output. Prints nothing where memory is not
/// the reason, and no text either: then `error` says it all.
[[nodiscard]] Status report_misfit(const Inputs& inputs, const PredictOptions& how,
                                   const Layout* layout, bool json, Error error);

/// "warning  rule ... Cure: ..." of every warning, an empty line after them; nothing for none.
[[nodiscard]] std::string warnings_text(const std::vector<Violation>& warnings);
[[nodiscard]] nlohmann::ordered_json warnings_json(const std::vector<Violation>& warnings,
                                                   const Workload& workload);

/// {rule, severity, table, row, column, rank, amount, message, cure}.
[[nodiscard]] nlohmann::ordered_json violation_json(const Violation& violation,
                                                    const Workload& workload);

}  // namespace shardscope::app
