#pragma once
// What every command that prices a layout starts from.

#include <string>

#include "app/inputs.hpp"

namespace shardscope::app {

/// A layout that its executor can train, on its inputs.
struct PricedInputs {
  Inputs inputs;
  PredictOptions how;
  Layout layout;
};

/// Loads, checks, and measures what predictions need: recorded ids, codecs in the layout's slots.
/// `wire` replaces the links' bandwidths. What does not fit is explained on standard output
/// (app/fit_report.hpp).
[[nodiscard]] Result<PricedInputs> load_priced_inputs(const InputOptions& inputs,
                                                      const PredictHow& how,
                                                      const std::string& layout, bool json,
                                                      const std::string& wire = {});

/// A layout for inputs at hand, explained likewise.
[[nodiscard]] Result<Layout> load_valid_layout(const std::string& layout, const Inputs& inputs,
                                               const PredictOptions& how, bool json);

}  // namespace shardscope::app
