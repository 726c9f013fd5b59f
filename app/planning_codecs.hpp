#pragma once
// What codecs do to the tables of a model, measured here, for whoever predicts or plans.

#include <vector>

#include "app/inputs.hpp"
#include "app/options.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {

/// Lets planners choose codecs: `request.codec` is a codec's name, or "auto" for the choice among
/// those that keep a bound (by the table's class; otherwise the request's). Measured on one rank's
/// vectors of one batch, in every cluster that the engine can train the table in, a few seconds in
/// all; further tables take over what the most similar one does. Refused for executors that have no
/// codecs, and for wires that are not fp32.
[[nodiscard]] Status allow_codecs(const Inputs& inputs, const CodecRequest& request,
                                  std::uint64_t seed, PredictOptions& how);

/// Adds profiles of the codecs that stand in the layout's slots, at their bounds. Executors other
/// than the engine convert 16-bit values at their memory's speed.
[[nodiscard]] Status measure_codecs_of(const Inputs& inputs, const Layout& layout,
                                       PredictOptions& how);

}  // namespace shardscope::app
