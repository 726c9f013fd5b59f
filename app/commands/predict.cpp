#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/fit_report.hpp"
#include "app/prediction_report.hpp"
#include "app/priced_inputs.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "planner/layout_warnings.hpp"

namespace shardscope::app {
namespace {

constexpr std::int32_t kRanksWithBars = 16;

}  // namespace

Status predict_command(const PredictCommandOptions& options) {
  const Result<PricedInputs> priced =
      load_priced_inputs(options.inputs, options.how, options.layout, options.json);
  if (!priced) return fail(priced.error());
  const auto& [inputs, how, layout] = *priced;
  const Result<Prediction> prediction = predict(inputs.workload, inputs.topology, layout, how);
  if (!prediction) return fail(prediction.error());
  const std::vector<Violation> warnings =
      layout_warnings(inputs.workload, inputs.topology, layout, how);
  const auto ratio = ratio_to_reference(inputs, layout, how);
  if (options.json) {
    nlohmann::ordered_json json = prediction_json(inputs, layout, how, *prediction);
    json["ratio"] = reference_json(ratio);
    json["warnings"] = warnings_json(warnings, inputs.workload);
    fmt::print("{}\n", json.dump(2));
    return {};
  }
  const Console console = Console::of_stdout();
  const StageProfile profile = stage_profile_of(*prediction, inputs.topology.ranks());
  fmt::print("{}  layout {}\n{}\n\n{}{}{}{}\n{}", console.bold(mode_word(Mode::simulated)),
             layout.name, setting_line(inputs, how), reference_text(ratio),
             prediction_text(inputs, *prediction), layout_text(inputs, layout, how.executor),
             warnings_text(warnings), stage_table_text(profile));
  if (inputs.topology.ranks() <= kRanksWithBars)
    fmt::print("\n{}", rank_bars_text(profile, std::min(console.width - 30, 60)));
  return {};
}

}  // namespace shardscope::app
