#include "engine/codec/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "engine/codec/quantizer.hpp"
#include "layout/invariant.hpp"
#include "profiler/median.hpp"

namespace shardscope::engine {
namespace {

constexpr std::size_t kFewestRuns = 5;

template <class Run>
double median_seconds(double budget_s, const Run& run) {
  using Clock = std::chrono::steady_clock;
  run();  // the first one touches the memory
  std::vector<double> times;
  double spent = 0;
  while (times.size() < kFewestRuns || spent < budget_s) {
    const Clock::time_point start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    spent += times.back();
  }
  return median(std::move(times));
}

void compare(const float* values, const std::vector<float>& decoded, CodecMeasurement& result) {
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    if (!std::isfinite(values[i])) {
      if (std::memcmp(values + i, &decoded[i], sizeof(float)) != 0) ++result.altered_non_finite;
      continue;
    }
    const double error =
        std::fabs(static_cast<double>(values[i]) - static_cast<double>(decoded[i]));
    result.max_error = std::max(
        result.max_error, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
}

double gb_per_s(std::int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

}  // namespace

double CodecMeasurement::ratio() const {
  return static_cast<double>(value_bytes()) / static_cast<double>(wire_bytes());
}

double CodecMeasurement::encode_gb_s() const {
  return gb_per_s(value_bytes(), encode_s);
}

double CodecMeasurement::decode_gb_s() const {
  return gb_per_s(value_bytes(), decode_s);
}

double CodecMeasurement::speedup_at(double link_gb_s) const {
  return 1 / (1 / ratio() + link_gb_s / encode_gb_s() + link_gb_s / decode_gb_s());
}

CodecMeasurement measure_codec(const CodecSpec& spec, const float* values, const ChunkShape& shape,
                               const CodecScratch& scratch, double seconds) {
  CodecMeasurement result;
  result.spec = spec;
  result.shape = shape;
  result.bound_abs = absolute_bound(spec, finite_range(values, shape.values()));
  std::vector<std::byte> room(static_cast<std::size_t>(encode_room_bytes(shape.values())));
  std::vector<float> decoded(static_cast<std::size_t>(shape.values()));
  result.encode_s = median_seconds(
      seconds, [&] { result.payload_bytes = encode_chunk(spec, values, shape, scratch, room); });
  const std::span<const std::byte> payload(room.data(),
                                           static_cast<std::size_t>(result.payload_bytes));
  result.decode_s = median_seconds(seconds, [&] {
    const PayloadFault fault = decode_chunk(spec, payload, shape, scratch, decoded.data());
    SHARDSCOPE_CHECK(fault == nullptr, "a payload that its own decoder refuses");
  });
  compare(values, decoded, result);
  return result;
}

}  // namespace shardscope::engine
