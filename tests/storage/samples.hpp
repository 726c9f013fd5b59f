#pragma once
// Runs and records for the tests of this folder.

#include <cstdint>
#include <vector>

#include "profiler/record_sink.hpp"
#include "profiler/span.hpp"

namespace shardscope::test {

inline RunInfo sample_run(const std::string& label = "A") {
  RunInfo info;
  info.label = label;
  info.mode = Mode::emulated;
  info.backend = "cpu";
  info.comm = "threads";
  info.wire = "10,2";
  info.schedule = "intra";
  info.workload_json = R"({"name": "dcnv2", "tables": []})";
  info.topology_json = R"({"name": "dgx-h100"})";
  info.layout_json = R"({"name": "table_row_wise", "parent": "", "note": "first"})";
  info.environment_json = R"({"host": "test"})";
  info.seed = 18446744073709551615ULL;
  info.global_batch = 65536;
  info.rows_cap = 100000;
  info.ranks = 2;
  return info;
}

/// Two ranks, two stages an iteration; rank 1 takes twice as long. Iteration 0 is warm-up.
inline std::vector<Span> sample_spans(std::int32_t iterations) {
  std::vector<Span> spans;
  for (std::int32_t i = 0; i < iterations; ++i) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Span lookup;
      lookup.start_ns = std::int64_t{i} * 10'000'000;
      lookup.end_ns = lookup.start_ns + 1'000'000 * (rank + 1);
      lookup.busy_ns = 900'000 * (rank + 1);
      lookup.rows = 5000;
      lookup.iteration = i;
      lookup.rank = rank;
      lookup.stage = Stage::model_forward;
      lookup.work = Work::RB;
      spans.push_back(lookup);
      Span exchange = lookup;
      exchange.start_ns = lookup.start_ns + 3'000'000;
      exchange.end_ns = exchange.start_ns + 2'000'000;
      exchange.busy_ns = 100'000;
      exchange.intra_bytes = 4096;
      exchange.inter_bytes = 1024;
      exchange.rows = 0;
      exchange.stage = Stage::network_forward;
      spans.push_back(exchange);
    }
  }
  return spans;
}

inline std::vector<Iteration> sample_iterations(std::int32_t count) {
  std::vector<Iteration> iterations;
  for (std::int32_t i = 0; i < count; ++i) {
    Iteration iteration;
    iteration.index = i;
    iteration.block = i / 4;
    iteration.start_ns = std::int64_t{i} * 10'000'000;
    iteration.end_ns = iteration.start_ns + 5'000'000;
    iteration.warm_up = i == 0;
    iteration.traced = true;
    iteration.loss = 0.7 - 0.01 * i;
    iterations.push_back(iteration);
  }
  return iterations;
}

}  // namespace shardscope::test
