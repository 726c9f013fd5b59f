#include "run_case.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "layout/buffers.hpp"
#include "layout/codec_bytes.hpp"

namespace shardscope::engine {

namespace {

constexpr std::int32_t kCaseBatches = 2;

std::vector<RankBatch> parts_of(const PipelineCase& value, std::int64_t iteration) {
  std::vector<RankBatch> parts;
  const std::int32_t ranks = value.topology.ranks();
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(*source_of(value)->make(iteration % kCaseBatches, rank, ranks));
  }
  return parts;
}

/// Empty, or how two lists of values differ.
std::optional<std::string> compare_values(const PipelineCase& value, const std::string& what,
                                          const std::vector<float>& got,
                                          const std::vector<Near>& expected) {
  if (got.size() != expected.size()) {
    return fmt::format("{}: {} values instead of {}", what, got.size(), expected.size());
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Near& near = expected[i];
    const double distance = std::abs(static_cast<double>(got[i]) - near.value);
    const bool equal =
        value.exact ? got[i] == static_cast<float>(near.value) : distance <= near.error;
    if (equal) continue;
    return fmt::format("{}: element {} is {} instead of {}: {} apart, bound {} (n {}, sum |x| {})",
                       what, i, got[i], near.value, distance, value.exact ? 0 : near.error,
                       near.terms, near.magnitude);
  }
  return std::nullopt;
}

/// Exchanges whose bytes follow no formula; coded_test.cpp holds them to what codecs report.
bool runs_coded(const PipelineCase& value, Stage stage, Work work) {
  if (stage != Stage::network_forward && stage != Stage::network_backward) return false;
  const ClusterType cluster = work == Work::RB ? ClusterType::RB : ClusterType::UB;
  return is_coded(value.topology, value.layout, cluster,
                  stage == Stage::network_forward ? Direction::forward : Direction::backward);
}

std::optional<std::string> compare_traffic(const PipelineCase& value, const Engine& engine,
                                           std::int64_t iterations) {
  const auto expected =
      traffic_of(value.workload, value.topology, value.layout,
                 count_batch(value.workload, value.layout, parts_of(value, iterations - 1)));
  const auto got = engine.traffic();
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    for (int s = 0; s < kStages; ++s) {
      for (int w = 0; w < kWorks; ++w) {
        const auto stage = static_cast<Stage>(s);
        const auto work = static_cast<Work>(w);
        const LinkBytes a = got[rank].at(stage, work);
        const LinkBytes b = expected[rank].at(stage, work);
        if (a == b || runs_coded(value, stage, work)) continue;
        return fmt::format("rank {} {} {}: {}+{} bytes sent instead of {}+{} (intra+inter)", rank,
                           to_string(work), to_string(stage), a.intra, a.inter, b.intra, b.inter);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> compare_arena(const PipelineCase& value, const Engine& engine) {
  BatchCounts capacity;
  for (std::int64_t b = 0; b < kCaseBatches; ++b) {
    raise_to(capacity, count_batch(value.workload, value.layout, parts_of(value, b)));
  }
  const Schedule schedule =
      make_schedule(value.schedule, presence_of(value.workload, value.layout));
  const std::vector<std::int64_t> peaks = engine.arena_peak_bytes();
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    const std::int64_t accounted =
        arena_bytes(engine_buffers(value.workload, value.topology, value.layout, schedule,
                                   static_cast<std::int32_t>(rank), capacity));
    if (peaks[rank] <= accounted && 10 * peaks[rank] >= 9 * accounted) continue;
    return fmt::format("rank {} used {} bytes of its arena, the accounting says {}", rank,
                       peaks[rank], accounted);
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Engine>> engine_of(const PipelineCase& value, Fault fault,
                                          CommunicatorWrapper wrap) {
  EngineConfig config;
  config.workload = value.workload;
  config.topology = value.topology;
  config.layout = value.layout;
  config.schedule = value.schedule;
  config.comm = value.comm;
  config.seed = value.seed;
  config.batches = kCaseBatches;
  config.loss_scale = value.loss_scale;
  config.initial = value.exact ? InitialWeights::dyadic : InitialWeights::uniform;
  config.deferred_streams = value.deferred;
  config.device = value.device;
  config.fault = fault;
  config.wrap_communicator = std::move(wrap);
  const std::int32_t ranks = value.topology.ranks();
  return Engine::create(
      config, source_of(value),
      [value, ranks](std::int64_t iteration, std::int32_t rank, const RankBatch& batch,
                     std::vector<std::vector<float>>& gradients) {
        gradients =
            gradients_of(value, iteration,
                         first_sample_of_rank(value.workload.global_batch, rank, ranks), batch);
      });
}

Reference reference_of(const PipelineCase& value) {
  return Reference(value.workload,
                   {value.seed, value.exact ? InitialWeights::dyadic : InitialWeights::uniform,
                    value.loss_scale});
}

void step_reference(const PipelineCase& value, Reference& reference, std::int64_t from,
                    std::int64_t to) {
  for (std::int64_t i = from; i < to; ++i) {
    const RankBatch batch = *source_of(value)->make(i % kCaseBatches, 0, 1);
    reference.step(i, batch, gradients_of(value, i, 0, batch));
  }
}

std::optional<std::string> compare_with_reference(const PipelineCase& value, const Engine& engine,
                                                  const Reference& reference,
                                                  std::int64_t iterations) {
  for (std::size_t f = 0; f < value.workload.features.size(); ++f) {
    std::vector<float> output;
    for (std::int32_t rank = 0; rank < value.topology.ranks(); ++rank) {
      const std::vector<float> part = engine.output(static_cast<std::int32_t>(f), rank);
      output.insert(output.end(), part.begin(), part.end());
    }
    auto wrong = compare_values(value, "output of " + value.workload.features[f].name, output,
                                reference.output(f));
    if (wrong) return wrong;
  }
  for (std::size_t t = 0; t < value.workload.tables.size(); ++t) {
    auto wrong = compare_values(value, "weights of " + value.workload.tables[t].name,
                                engine.weights(static_cast<std::int32_t>(t)), reference.weights(t));
    if (wrong) return wrong;
  }
  return compare_traffic(value, engine, iterations);
}

std::optional<std::string> run_case(const PipelineCase& value, Fault fault) {
  auto engine = engine_of(value, fault);
  if (!engine) return "create: " + to_string(engine.error());
  if (auto block = (*engine)->run(value.iterations, nullptr); !block) {
    return "run: " + to_string(block.error());
  }
  Reference reference = reference_of(value);
  step_reference(value, reference, 0, value.iterations);
  if (auto wrong = compare_with_reference(value, **engine, reference, value.iterations)) {
    return wrong;
  }
  return compare_arena(value, **engine);
}

}  // namespace shardscope::engine
