#include "engine/codec/bound_decay.hpp"

#include <cmath>
#include <numbers>

namespace shardscope::engine {

double BoundDecay::factor(std::int64_t iteration) const {
  if (kind == DecayKind::none || iterations <= 0 || iteration >= iterations) return 1;
  const double passed = static_cast<double>(iteration) / static_cast<double>(iterations);
  const double excess = start - 1;
  switch (kind) {
    case DecayKind::none:
      return 1;
    case DecayKind::step:
      return 1 + excess * (1 - std::floor(10 * passed) / 10);
    case DecayKind::linear:
      return 1 + excess * (1 - passed);
    case DecayKind::logarithmic:
      return 1 + excess * (1 - std::log1p(passed * (std::numbers::e - 1)));
    case DecayKind::constant:
      return start;
  }
  return 1;
}

std::optional<DecayKind> decay_kind(std::string_view name) {
  for (const DecayKind kind : {DecayKind::none, DecayKind::step, DecayKind::linear,
                               DecayKind::logarithmic, DecayKind::constant}) {
    if (name == to_string(kind)) return kind;
  }
  return std::nullopt;
}

const char* to_string(DecayKind kind) {
  switch (kind) {
    case DecayKind::none:
      return "none";
    case DecayKind::step:
      return "step";
    case DecayKind::linear:
      return "linear";
    case DecayKind::logarithmic:
      return "logarithmic";
    case DecayKind::constant:
      return "constant";
  }
  return "";
}

}  // namespace shardscope::engine
