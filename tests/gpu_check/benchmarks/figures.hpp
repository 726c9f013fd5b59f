#pragma once
// What is measured, by kernel.

#include <array>

#include "tests/gpu_check/benchmarks/device_bench.hpp"

namespace shardscope::engine::testing {

/// Bytes a second of a copy within the device, both directions counted.
[[nodiscard]] double copy_speed(DeviceBench& bench);

/// Bytes: rows read, ids, lengths, output.
[[nodiscard]] double gather_speed(DeviceBench& bench, DType type, bool skewed);

/// Backward and row-wise adagrad of the same bags: gradient rows, sort, sums, update. Bytes: the
/// bags' gradients, of each distinct row its reduced gradient (written, read twice), its weights
/// and state (read, written), and the ids.
[[nodiscard]] double backward_speed(DeviceBench& bench, bool skewed);

/// Milliseconds of forward, backward and update of the same bags: what a framework's embedding bag
/// is compared with.
[[nodiscard]] double step_ms(DeviceBench& bench);

/// Lookup, index calculation, reduction and update of 26 tables, a list a stage, batch 8,192, a
/// single id a bag: an iteration when the host enqueues one behind the other, and what of it the
/// GPU works. One graph an iteration where the bench's stream has graphs.
struct LaunchFigures {
  double iteration_ms = 0;
  double gpu_ms = 0;
  [[nodiscard]] double overhead() const {
    return iteration_ms > gpu_ms ? 1 - gpu_ms / iteration_ms : iteration_ms > 0 ? 0 : 1;
  }
};
[[nodiscard]] LaunchFigures many_tables(DeviceBench& bench);

/// fp32 bytes a second of encoding (quantize, planes) and of decoding, at 64 MiB.
[[nodiscard]] std::array<double, 2> codec_speed(DeviceBench& bench);

}  // namespace shardscope::engine::testing
