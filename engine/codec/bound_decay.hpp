#pragma once
// Bounds that are wider early in training and reach their value at a given iteration: gradients
// forgive more while the model is far from its minimum (Feng et al., SC'24). Both ends of an
// exchange compute the factor from the iteration's number.

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscope::engine {

enum class DecayKind : std::uint8_t {
  none,         ///< 1 throughout
  step,         ///< ten equal steps from `start` down to 1
  linear,       ///< a straight line
  logarithmic,  ///< fast at the end: 1 - ln(1 + (t / T) (e - 1))
  constant,     ///< `start`, then 1 at once
};

struct BoundDecay {
  DecayKind kind = DecayKind::none;
  double start = 2;                 ///< factor of the first iteration
  std::int64_t iterations = 65536;  ///< until the factor is 1

  /// Factor of the bounds in iteration `iteration`, from 0: between 1 and start.
  [[nodiscard]] double factor(std::int64_t iteration) const;

  friend bool operator==(const BoundDecay&, const BoundDecay&) = default;
};

/// "none", "step", "linear", "logarithmic", "constant".
[[nodiscard]] std::optional<DecayKind> decay_kind(std::string_view name);
[[nodiscard]] const char* to_string(DecayKind kind);

}  // namespace shardscope::engine
