#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "app/prediction_report.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"

namespace shardscope::app {
namespace {

constexpr std::int32_t kRanksWithBars = 16;

}  // namespace

Status predict_command(const PredictCommandOptions& options) {
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const PredictOptions how = predict_options(options.how);
  const Result<Layout> layout = load_layout(options.layout, *inputs, how);
  if (!layout) return fail(layout.error());
  if (Status valid = require_valid(*inputs, *layout, how.executor); !valid) return valid;
  const Result<Prediction> prediction = predict(inputs->workload, inputs->topology, *layout, how);
  if (!prediction) return fail(prediction.error());
  if (options.json) {
    fmt::print("{}\n", prediction_json(*inputs, *layout, how, *prediction).dump(2));
    return {};
  }
  const Console console = Console::of_stdout();
  const StageProfile profile = stage_profile_of(*prediction, inputs->topology.ranks());
  fmt::print("{}  layout {}\n{}\n\n{}{}\n{}", console.bold(mode_word(Mode::simulated)),
             layout->name, setting_line(*inputs, how), prediction_text(*inputs, *prediction),
             layout_text(*inputs, *layout, how.executor), stage_table_text(profile));
  if (inputs->topology.ranks() <= kRanksWithBars)
    fmt::print("\n{}", rank_bars_text(profile, std::min(console.width - 30, 60)));
  return {};
}

}  // namespace shardscope::app
