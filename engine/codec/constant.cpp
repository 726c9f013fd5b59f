// Body of const: one row for all. A column is sent as the middle of its smallest and largest value
// where both lie within the bound of it.

#include <cmath>
#include <cstring>

#include "engine/codec/codec_body.hpp"
#include "engine/codec/quantizer.hpp"

namespace shardscope::engine {
namespace {

/// Whether |a - b| > bound, exactly: what the subtraction rounds away decides where it is equal.
bool differ_by_more(float a, float b, double bound) {
  const double high = std::fmax(a, b);
  const double low = std::fmin(a, b);
  const double difference = high - low;
  const double from_high = difference - high;
  const double rest = (high - (difference - from_high)) + (-low - from_high);
  return difference > bound || (difference == bound && rest > 0);
}

bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

/// The value that stands for a column; false where none is within the bound of all of them.
bool column_value(const BodyInput& input, std::int64_t column, double bound, float& value) {
  const auto [rows, dim] = input.shape;
  const float* at = input.values + column;
  float low = *at;
  float high = *at;
  bool equal = true;
  bool finite = true;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float x = at[r * dim];
    equal = equal && same_bits(x, *at);
    finite = finite && std::isfinite(x);
    low = std::fmin(low, x);
    high = std::fmax(high, x);
  }
  value = *at;
  if (equal) return true;
  if (!finite) return false;
  value = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
  return !differ_by_more(value, low, bound) && !differ_by_more(high, value, bound);
}

}  // namespace

std::byte* encode_constant(const BodyInput& input, BodyOutput& output) {
  const std::int64_t dim = input.shape.dim;
  if (4 * dim > output.room) return nullptr;
  const double bound = absolute_bound(input.spec, finite_range(input.values, input.shape.values()));
  output.tag.body = BodyForm::own;
  for (std::int64_t c = 0; c < dim; ++c) {
    float value = 0;
    if (!column_value(input, c, bound, value)) return nullptr;
    store_le(output.at + 4 * c, value);
  }
  return output.at + 4 * dim;
}

PayloadFault decode_constant(const BodyReader& reader) {
  const auto bytes = static_cast<std::size_t>(4 * reader.shape.dim);
  const auto row = reader.bytes.take_bytes(bytes);
  if (reader.bytes.failed()) return "ends inside its row";
  for (std::int64_t r = 0; r < reader.shape.rows; ++r) {
    std::memcpy(reader.out + r * reader.shape.dim, row.data(), bytes);
  }
  return nullptr;
}

}  // namespace shardscope::engine
