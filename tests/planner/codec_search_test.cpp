#include "planner/codec_search.hpp"

#include <gtest/gtest.h>

#include "layout/check.hpp"
#include "layout/memory.hpp"
#include "planner/bound.hpp"
#include "planner/codec_options.hpp"
#include "planner/optimize.hpp"
#include "planner/what_if.hpp"
#include "random_case.hpp"

namespace shardscope {
namespace {

using testing_planner::cases;
using testing_planner::random_case;
using testing_planner::random_layout;
using testing_planner::RandomCase;

CodecProfile steady_profile(const char* codec, double ratio, double bytes_per_s) {
  CodecProfile profile{.codec = codec, .ratio = ratio};
  profile.by_size = {{1 << 10, bytes_per_s / 2, bytes_per_s / 2},
                     {1 << 16, bytes_per_s, 2 * bytes_per_s},
                     {1 << 20, bytes_per_s, bytes_per_s}};
  return profile;
}

/// Rates by kind of wire: RB's sums compress more than UB's rows.
PredictOptions coding_options(const RandomCase& made, double bytes_per_s,
                              ScheduleKind schedule = ScheduleKind::serial) {
  PredictOptions options{.executor = Executor::engine, .schedule = schedule};
  options.codecs = {steady_profile("fixed", 8, bytes_per_s),
                    steady_profile("dedup-fixed", 20, bytes_per_s / 2),
                    steady_profile("bf16", 1.99, 3 * bytes_per_s)};
  options.codecs[1].cluster = ClusterType::RB;
  options.allowed_codecs = {{"fixed", "dedup-fixed"}, {"bf16"}, {}};
  options.allowed_codecs.bounds.assign(made.workload.tables.size(), 0.03);
  return options;
}

/// Two domains, slow wires, values that codecs take.
RandomCase slow_network(std::uint64_t seed) {
  RandomCase made = random_case(seed, {.max_tables = 4, .max_domains = 2, .max_domain_size = 2});
  made.workload.wire = DType::fp32;
  made.topology.inter.bytes_per_s.value = 1e8;
  made.topology.intra.bytes_per_s.value = 4e9;
  return made;
}

bool has_codecs(const Layout& layout) {
  for (std::size_t t = 0; t < layout.tables.size(); ++t)
    if (layout.tables[t].cluster != ClusterType::DP && !(layout.codecs_of(t) == CodecSlots{}))
      return true;
  return false;
}

bool always() {
  return true;
}

double most_memory(const RandomCase& made, const Layout& layout) {
  std::int64_t most = 0;
  for (const MemoryUse& use :
       memory_of(made.workload, made.topology, layout, Executor::engine).gpus)
    most = std::max(most, use.total());
  return static_cast<double>(most);
}

TEST(CodecSearch, LeavesClustersPlainWhoseCodedMessagesDoNotFit) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < cases(40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomCase made = slow_network(seed);
    made.topology.gpu.memory_bytes.value = 1e18;
    const PlanContext roomy(made.workload, made.topology, coding_options(made, 1e12));
    const Layout coded = with_paying_codecs(roomy, made.layout, always);
    const double plain = most_memory(made, made.layout);
    if (!has_codecs(coded) || most_memory(made, coded) <= plain) continue;
    made.topology.gpu.memory_bytes.value = plain;
    const PlanContext tight(made.workload, made.topology, coding_options(made, 1e12));
    const Layout found = with_paying_codecs(tight, made.layout, always);
    EXPECT_LE(most_memory(made, found), plain);
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(CodecSearch, TakesWhatPaysAndRefusesWhatDoesNot) {
  int compressed = 0;
  for (std::uint64_t seed = 0; seed < cases(40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = slow_network(seed);
    const PlanContext fast(made.workload, made.topology, coding_options(made, 1e12));
    const Layout smaller = with_paying_codecs(fast, made.layout, always);
    const double raw = *predicted_seconds(made.workload, made.topology, made.layout, fast.options);
    const double coded = *predicted_seconds(made.workload, made.topology, smaller, fast.options);
    EXPECT_LE(coded, raw * (1 + 1e-12));
    if (has_codecs(smaller)) {
      ++compressed;
      EXPECT_LT(coded, raw);
    }
    const PlanContext slow(made.workload, made.topology, coding_options(made, 1e6));
    EXPECT_FALSE(has_codecs(with_paying_codecs(slow, made.layout, always)));
  }
  EXPECT_GT(compressed, 0);
}

TEST(CodecSearch, ReplacesCodecsThatAreNotAllowed) {
  const RandomCase made = slow_network(3);
  PlanContext context(made.workload, made.topology, coding_options(made, 1e12));
  Layout layout = made.layout;
  for (TablePlacement& table : layout.tables) table.codecs = CodecSlots{{}, {"zstd"}, {}, {}};
  const Layout found = with_paying_codecs(context, layout, always);
  for (std::size_t t = 0; t < found.tables.size(); ++t)
    EXPECT_NE(found.codecs_of(t).forward_inter.name, "zstd");
}

/// Any of the options, or plain wires, in every slot.
Layout with_random_codecs(const PlanContext& context, Layout layout, std::mt19937_64& random) {
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    layout.tables[t].codecs.reset();
    CodecSlots slots;
    for (const CodecOption& option :
         codec_options(context.loads, context.topology, context.options.allowed_codecs, t,
                       layout.tables[t].cluster, layout.exchange_of(t)))
      if (random() % 2 == 0) slot_of(slots, option.slot) = option.codec;
    layout.tables[t].codecs = slots;
  }
  return layout;
}

TEST(CodecSearch, TheBoundIsBelowEveryChoiceOfTheCodecsAllowed) {
  int coded = 0;
  for (std::uint64_t seed = 0; seed < cases(120); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = slow_network(seed);
    const PlanContext context(
        made.workload, made.topology,
        coding_options(made, seed % 2 == 0 ? 1e12 : 3e9, static_cast<ScheduleKind>(seed % 3)));
    const double bound = lower_bound(context).seconds;
    EXPECT_GT(bound, 0);
    std::mt19937_64 random(seed);
    for (int n = 0; n < 30; ++n) {
      const Layout layout =
          with_random_codecs(context, random_layout(made.workload, made.topology, random), random);
      coded += has_codecs(layout) ? 1 : 0;
      EXPECT_LE(bound, *predicted_seconds(made.workload, made.topology, layout, context.options) *
                           (1 + 1e-9));
    }
  }
  EXPECT_GT(coded, 0);
}

TEST(CodecSearch, OptimizeChoosesThemWithTheLayout) {
  int coded = 0, shorter = 0;
  for (std::uint64_t seed = 0; seed < cases(30); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = slow_network(seed);
    OptimizeOptions options{.predict = coding_options(made, 1e11)};
    const auto plan = optimize(made.workload, made.topology, options);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_GE(plan->seconds, plan->lower_bound_s * (1 - 1e-9));
    EXPECT_FALSE(has_errors(check(made.workload, made.topology, plan->layout, Executor::engine)));
    coded += has_codecs(plan->layout) ? 1 : 0;
    options.predict.allowed_codecs = {};
    const auto plain = optimize(made.workload, made.topology, options);
    ASSERT_TRUE(plain) << to_string(plain.error());
    EXPECT_FALSE(has_codecs(plain->layout));
    EXPECT_LE(plan->seconds, plain->seconds * 1.01);
    shorter += plan->seconds < plain->seconds * 0.99 ? 1 : 0;
  }
  EXPECT_GT(coded, 0);
  EXPECT_GT(shorter, 0);
}

TEST(CodecPrices, CodedExchangesAreSmallerAndCostBothEnds) {
  for (std::uint64_t seed = 0; seed < cases(20); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomCase made = slow_network(seed);
    if (made.topology.domains() < 2) continue;
    PredictOptions options = coding_options(made, 1e9);
    const Prediction raw = *predict(made.workload, made.topology, made.layout, options);
    Layout layout = made.layout;
    for (TablePlacement& table : layout.tables)
      table.codecs = CodecSlots{{}, {"fixed", 0.03, true}, {}, {"bf16"}};
    const Prediction coded = *predict(made.workload, made.topology, layout, options);
    ASSERT_EQ(raw.stages.size(), coded.stages.size());
    for (std::size_t s = 0; s < raw.stages.size(); ++s) {
      const PredictedStage& before = raw.stages[s];
      const PredictedStage& after = coded.stages[s];
      const bool network =
          (after.stage == Stage::network_forward || after.stage == Stage::network_backward) &&
          (after.work == Work::RB || after.work == Work::UB);
      if (!network || before.inter_bytes <= 0) {
        EXPECT_DOUBLE_EQ(before.inter_bytes, after.inter_bytes);
        continue;
      }
      const double ratio = after.stage == Stage::network_forward ? 8 : 1.99;
      const double ranks = made.topology.ranks();
      const double sizes = 2 * 8 * ranks * ranks;  // at most: flat and along rails
      EXPECT_LE(after.inter_bytes, before.inter_bytes / ratio + sizes);
      EXPECT_GE(after.inter_bytes, before.inter_bytes / ratio);
      // Without codec time the stage would be as fast as its wires.
      PredictOptions free = coding_options(made, 1e15);
      const Prediction timeless = *predict(made.workload, made.topology, layout, free);
      EXPECT_GT(after.mean_s, timeless.stages[s].mean_s);
    }
  }
}

TEST(CodecPrices, VectorsWithoutACodecCostWhereOthersHaveOne) {
  std::uint64_t seed = 1;
  RandomCase made = slow_network(seed);
  while (made.layout.tables.size() < 2) made = slow_network(++seed);
  made.topology = testing_planner::some_topology(2, 2);
  made.layout.ranks = 4;
  for (std::size_t t = 0; t < made.layout.tables.size(); ++t)
    made.layout.tables[t] = table_wise(made.workload.tables[t], static_cast<std::int32_t>(t % 4));
  for (Feature& feature : made.workload.features) feature.pooling = Pooling::sum;
  const PredictOptions free = coding_options(made, 1e10);
  PredictOptions counted = free;
  counted.codecs.push_back(steady_profile("raw", 1, 1e9));
  const auto extra = [&](const Layout& layout) {
    return *predicted_seconds(made.workload, made.topology, layout, counted) -
           *predicted_seconds(made.workload, made.topology, layout, free);
  };
  EXPECT_DOUBLE_EQ(extra(made.layout), 0);
  Layout layout = made.layout;
  layout.tables[0].codecs = CodecSlots{{}, {"fixed", 0.03, true}, {}, {}};
  EXPECT_GT(extra(layout), 0);
  for (TablePlacement& table : layout.tables) table.codecs = layout.tables[0].codecs;
  EXPECT_DOUBLE_EQ(extra(layout), 0);
}

TEST(CodecPrices, WhatIfAgreesWithPredict) {
  for (std::uint64_t seed = 0; seed < cases(40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomCase made = slow_network(seed);
    const PlanContext context(made.workload, made.topology, coding_options(made, 1e10));
    std::mt19937_64 random(seed);
    auto what_if = WhatIf::create(made.workload, made.topology, made.layout, context.options);
    ASSERT_TRUE(what_if);
    const Layout coded = with_random_codecs(context, made.layout, random);
    for (std::size_t t = 0; t < coded.tables.size(); ++t) what_if->set_table(t, coded.tables[t]);
    EXPECT_NEAR(what_if->seconds(),
                *predicted_seconds(made.workload, made.topology, coded, context.options),
                1e-9 * what_if->seconds());
  }
}

}  // namespace
}  // namespace shardscope
