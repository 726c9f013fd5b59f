#pragma once
// Rows as integers between their smallest and largest value: x' = low + q * scale with
// scale = (high - low) / levels. A row with a value that is not finite comes back as NaN.

#include <cstddef>
#include <cstdint>

namespace shardscope::engine {

struct RowScale {
  float low = 0;
  float scale = 0;  ///< NaN marks a row that is not finite
};

/// Codes of one row, 0 to levels (at most 255), one a byte.
RowScale scale_row(const float* values, std::int64_t width, int levels, std::uint8_t* codes);
void unscale_row(const std::uint8_t* codes, std::int64_t width, const RowScale& scale,
                 float* values);

}  // namespace shardscope::engine
