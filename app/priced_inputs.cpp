#include "app/priced_inputs.hpp"

#include <utility>

#include "app/codec_tuning.hpp"
#include "app/fit_report.hpp"
#include "app/planning_codecs.hpp"
#include "app/recorded_stats.hpp"

namespace shardscope::app {

Result<Layout> load_valid_layout(const std::string& layout, const Inputs& inputs,
                                 const PredictOptions& how, bool json) {
  Result<Layout> loaded = load_layout(layout, inputs, how);
  if (!loaded) return fail(report_misfit(inputs, how, nullptr, json, loaded.error()).error());
  if (const Status valid = require_valid(inputs, *loaded, how.executor); !valid)
    return fail(report_misfit(inputs, how, &*loaded, json, valid.error()).error());
  return loaded;
}

Result<PricedInputs> load_priced_inputs(const InputOptions& inputs, const PredictHow& how,
                                        const std::string& layout, bool json,
                                        const std::string& wire) {
  Result<Inputs> loaded = load_inputs(inputs);
  if (!loaded) return fail(loaded.error());
  if (!wire.empty()) {
    auto slower = topology_at_wire(std::move(loaded->topology), wire);
    if (!slower) return fail(slower.error());
    loaded->topology = std::move(*slower);
  }
  const PredictOptions options = measured_options(*loaded, how);
  PricedInputs priced{std::move(*loaded), options, {}};
  Result<Layout> valid = load_valid_layout(layout, priced.inputs, priced.how, json);
  if (!valid) return fail(valid.error());
  priced.layout = std::move(*valid);
  if (Status known = measure_codecs_of(priced.inputs, priced.layout, priced.how); !known)
    return fail(known.error());
  return priced;
}

}  // namespace shardscope::app
