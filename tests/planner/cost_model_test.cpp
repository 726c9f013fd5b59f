#include "planner/cost_model.hpp"

#include <cmath>

#include "layout/bytes.hpp"
#include "planner/table_facts.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::random_case;
using testing_planner::RandomCase;
using testing_planner::some_topology;

/// Counts of a batch as the model expects them, in layout/'s form.
BatchCounts expected_by_model(const RandomCase& made) {
  const WorkloadFacts facts = workload_facts(made.workload, made.topology.ranks(), {});
  BatchCounts counts = expected_counts(made.workload, made.layout);
  const std::int32_t ranks = made.topology.ranks();
  for (std::size_t t = 0; t < facts.tables.size(); ++t) {
    const TablePlacement& placement = made.layout.tables[t];
    const TableFacts& table = facts.tables[t];
    const bool dedup = made.layout.options(ClusterType::UB).dedup;
    for (std::size_t j = 0; j < counts.unique[t].size(); ++j) {
      double keys = 1, rows = 1;
      if (placement.cluster != ClusterType::DP) {
        const auto row = static_cast<std::int32_t>(j);
        const bool modulo = placement.mapping == RowMapping::modulo;
        rows =
            static_cast<double>(placement.rows_in(row, made.workload.tables[t].rows)) / table.rows;
        keys = modulo ? table.modulo_share(row, placement.row_shards)
                      : table.block_share(placement.row_cuts[j], placement.row_cuts[j + 1]);
        if (!modulo)
          rows = table.block_unique_share(placement.row_cuts[j], placement.row_cuts[j + 1]);
      }
      counts.unique[t][j] = std::llround(table.batch_unique * rows);
      for (std::int32_t r = 0; r < ranks; ++r) {
        const std::size_t at = static_cast<std::size_t>(r) * counts.unique[t].size() + j;
        if (!counts.requests[t].empty())
          counts.requests[t][at] =
              std::llround(dedup ? table.rank_unique * rows : table.rank_keys * keys);
        for (std::size_t f = 0; f < made.workload.features.size(); ++f) {
          const Feature& feature = made.workload.features[f];
          if (feature.table != static_cast<std::int32_t>(t)) continue;
          counts.ids[f][at] =
              std::llround(facts.rank_batch * feature.num_poolings * feature.hotness.mean() * keys);
        }
      }
    }
  }
  return counts;
}

TEST(CostModel, SendsTheBytesThatTheEngineCounts) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const std::vector<RankTraffic> counted =
        traffic_of(made.workload, made.topology, made.layout, expected_by_model(made));
    const auto prediction = predict(made.workload, made.topology, made.layout, {});
    ASSERT_TRUE(prediction) << to_string(prediction.error());
    for (std::size_t i = 0; i < prediction->stages.size(); ++i) {
      const PredictedStage& stage = prediction->stages[i];
      double intra = 0, inter = 0;
      for (const RankTraffic& traffic : counted) {
        intra += static_cast<double>(traffic.at(stage.stage, stage.work).intra);
        inter += static_cast<double>(traffic.at(stage.stage, stage.work).inter);
      }
      SCOPED_TRACE(testing::Message() << to_string(stage.stage) << " " << to_string(stage.work));
      // input_dist also exchanges counts, an int64 a list and peer, which traffic_of leaves to
      // the communicator's own messages where no list exists.
      const double slack = stage.stage == Stage::input_dist ? 0.02 : 0.005;
      EXPECT_NEAR(stage.intra_bytes, intra, intra * slack + 3000);
      EXPECT_NEAR(stage.inter_bytes, inter, inter * slack + 3000);
      compared += intra + inter > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(CostModel, MoreBandwidthOrLessLatencyIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    for (const ScheduleKind kind :
         {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
      const PredictOptions options{.executor = Executor::hugectr, .schedule = kind};
      const double before = *predicted_seconds(made.workload, made.topology, made.layout, options);
      Topology better = made.topology;
      for (Quantity* quantity : {&better.gpu.memory_bytes_per_s, &better.intra.bytes_per_s,
                                 &better.inter.bytes_per_s, &better.gpu.gemm_flops_per_s}) {
        quantity->value *= 1.5;
        const double after = *predicted_seconds(made.workload, better, made.layout, options);
        EXPECT_LE(after, before * (1 + 1e-9));
      }
      better.inter.latency_s.value *= 0.5;
      EXPECT_LE(*predicted_seconds(made.workload, better, made.layout, options),
                before * (1 + 1e-9));
    }
  }
}

TEST(CostModel, OverlapNeverCosts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = random_case(seed);
    const auto seconds = [&](ScheduleKind kind) {
      return *predicted_seconds(made.workload, made.topology, made.layout,
                                {.executor = Executor::hugectr, .schedule = kind});
    };
    EXPECT_LE(seconds(ScheduleKind::intra), seconds(ScheduleKind::serial) * (1 + 1e-9));
    EXPECT_LE(seconds(ScheduleKind::inter), seconds(ScheduleKind::serial) * (1 + 1e-9));
  }
}

TEST(CostModel, EveryStageIsNamedAndTheIntervalHoldsThePrediction) {
  const RandomCase made = random_case(11);
  for (const Executor executor : {Executor::engine, Executor::hugectr, Executor::torchrec}) {
    const auto prediction =
        predict(made.workload, made.topology, made.layout, {.executor = executor});
    ASSERT_TRUE(prediction);
    EXPECT_EQ(prediction->stages.size(), prediction->schedule.steps.size());
    EXPECT_GT(prediction->iteration_s, 0);
    EXPECT_LT(prediction->low_s, prediction->iteration_s);
    EXPECT_GT(prediction->high_s, prediction->iteration_s);
    for (const PredictedStage& stage : prediction->stages) {
      EXPECT_EQ(stage.rank_s.size(), static_cast<std::size_t>(made.topology.ranks()));
      EXPECT_LE(stage.mean_s, stage.max_s + 1e-12);
    }
  }
}

TEST(CostModel, RefusesALayoutOfAnotherSize) {
  RandomCase made = random_case(3);
  made.layout.ranks += 1;
  const auto prediction = predict(made.workload, made.topology, made.layout, {});
  ASSERT_FALSE(prediction);
  EXPECT_EQ(prediction.error().kind, ErrorKind::usage);
}

TEST(CostModel, HierarchicalSavesNicBytesOfRowShardsInOneHost) {
  Workload workload;
  workload.global_batch = 65536;
  workload.tables.push_back({.name = "t", .rows = 1000000, .dim = 128});
  workload.features.push_back({.name = "f", .table = 0, .hotness = Hotness::fixed(10)});
  const Topology topology = some_topology(4, 8);
  Layout layout;
  layout.ranks = 32;
  layout.table_names = {"t"};
  layout.tables = {row_wise(workload.tables[0], {0, 1, 2, 3, 4, 5, 6, 7})};
  const auto sent = [&](Exchange exchange) {
    layout.clusters[1].exchange = exchange;
    const auto prediction = predict(workload, topology, layout, {.executor = Executor::hugectr});
    for (const PredictedStage& stage : prediction->stages)
      if (stage.stage == Stage::network_forward) return stage.inter_bytes;
    return 0.0;
  };
  EXPECT_NEAR(sent(Exchange::flat) / sent(Exchange::hierarchical), 8, 1e-9);
}

TEST(CostModel, ReaderSetsThePace) {
  RandomCase made = random_case(5);
  made.topology.reader_bytes_per_s.value = 1e6;
  const auto prediction = predict(made.workload, made.topology, made.layout, {});
  ASSERT_TRUE(prediction);
  EXPECT_EQ(prediction->trust, Trust::input_bound);
  EXPECT_GT(prediction->iteration_s, prediction->simulation.iteration_s);
}

TEST(CostModel, CodecsShrinkWiresAndCostTime) {
  RandomCase made = random_case(8);
  made.topology = some_topology(2, 4);
  made.layout.ranks = 8;
  for (std::size_t t = 0; t < made.layout.tables.size(); ++t)
    made.layout.tables[t] = table_wise(made.workload.tables[t], static_cast<std::int32_t>(t % 8));
  const auto plain = predict(made.workload, made.topology, made.layout, {});
  for (CodecSlot* slot : {&made.layout.clusters[1].codecs.forward_intra,
                          &made.layout.clusters[1].codecs.forward_inter})
    slot->name = "half";
  PredictOptions options;
  options.codecs = {{.codec = "half", .ratio = 4, .by_size = {{1e6, 10e9, 20e9}}}};
  const auto packed = predict(made.workload, made.topology, made.layout, options);
  ASSERT_TRUE(plain && packed);
  for (std::size_t i = 0; i < plain->stages.size(); ++i) {
    const PredictedStage& before = plain->stages[i];
    const PredictedStage& after = packed->stages[i];
    const bool coded = before.stage == Stage::network_forward;
    // Along rails every rank tells one other how long its message is.
    EXPECT_NEAR(after.inter_bytes, coded ? before.inter_bytes / 4 + 8 * 8 : before.inter_bytes,
                before.inter_bytes * 1e-9);
  }
  EXPECT_GT(packed->simulation.busy_s[0], plain->simulation.busy_s[0]);
}

}  // namespace
}  // namespace shardscope
