#pragma once
// How much error a table's vectors bear: classes of bounds, from a sample of its values or from its
// size (Feng et al., SC'24; thresholds derived from the classes that they list for Criteo's
// tables).

#include <cstdint>
#include <optional>

namespace shardscope {

enum class BoundClass : std::uint8_t { tight, base, loose };

/// Bounds of the classes, as shares of the range of a chunk's values.
struct ClassBounds {
  double tight = 0.01;
  double base = 0.03;
  double loose = 0.05;

  [[nodiscard]] double of(BoundClass value) const {
    return value == BoundClass::tight ? tight : value == BoundClass::base ? base : loose;
  }
};

/// `homogenization` is (distinct rows of codes) / (distinct rows of values) of a sample: below 0.9
/// quantizing makes different rows equal, and the table is tight. Otherwise, or without a sample,
/// its size decides: from 93,000 rows tight, up to 1,000 rows loose, base between.
[[nodiscard]] BoundClass bound_class(std::int64_t rows,
                                     std::optional<double> homogenization = std::nullopt);

[[nodiscard]] const char* to_string(BoundClass value);

}  // namespace shardscope
