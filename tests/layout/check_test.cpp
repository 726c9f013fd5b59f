#include "layout/check.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/layout/check_case.hpp"

namespace shardscope {
namespace {

using check_case::Breaker;
using check_case::broken_rules;
using check_case::Case;
using check_case::valid_case;

constexpr Executor kEngine = Executor::engine;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& one : violations) text += one.rule + ": " + one.message + "\n";
  return text;
}

TEST(Check, ValidCasesBreakNoRule) {
  for (const Executor executor : {Executor::engine, Executor::hugectr, Executor::torchrec}) {
    EXPECT_EQ(text_of(valid_case(executor).check()), "") << to_string(executor);
  }
}

class BrokenRule : public testing::TestWithParam<Breaker> {};

TEST_P(BrokenRule, IsTheOnlyOneReportedWithMessageAndCure) {
  Case one = valid_case(GetParam().executor);
  GetParam().apply(one);
  const std::vector<Violation> violations = one.check();
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{GetParam().rule})) << text_of(violations);
  for (const Violation& violation : violations) {
    EXPECT_FALSE(violation.message.empty());
    EXPECT_FALSE(violation.cure.empty());
  }
}

const Breaker kWorkloadRules[] = {
    {"batch.zero", kEngine, [](Case& one) { one.workload.global_batch = 0; }},
    {"workload.rows_cap", kEngine, [](Case& one) { one.workload.rows_cap = -1; }},
    {"table.rows", kEngine, [](Case& one) { one.workload.tables[1].rows = 0; }},
    {"table.name", kEngine,
     [](Case& one) { one.workload.tables[1].name = one.layout.table_names[1] = ""; }},
    {"table.name_twice", kEngine,
     [](Case& one) { one.workload.tables[1].name = one.layout.table_names[1] = "rb"; }},
    {"table.state_words", kEngine,
     [](Case& one) {
       one.workload.tables[0].optimizer.kind = OptimizerKind::other;
       one.workload.tables[0].optimizer.words_per_row = -1;
     }},
    {"table.unread", kEngine, [](Case& one) { one.workload.features[1].table = 0; }},
    {"key.i32_too_small", Executor::torchrec,
     [](Case& one) { one.workload.tables[1].rows = (std::int64_t{1} << 31) + 7; }},
    {"feature.name_twice", kEngine, [](Case& one) { one.workload.features[1].name = "f"; }},
    {"feature.num_poolings", kEngine, [](Case& one) { one.workload.features[0].num_poolings = 0; }},
    {"feature.hotness", kEngine,
     [](Case& one) { one.workload.features[0].hotness = Hotness::uniform(4, 3); }},
    {"feature.hotness_weights", kEngine,
     [](Case& one) {
       one.workload.features[0].hotness = {HotnessKind::histogram, 1, 3, {0, 0, 0}};
     }},
    {"feature.ids", kEngine,
     [](Case& one) { one.workload.features[0].hotness = Hotness::fixed(2147483647); }},
    {"feature.weighted", kEngine, [](Case& one) { one.workload.features[2].weighted = true; }},
    {"concat.fixed_hotness", kEngine,
     [](Case& one) { one.workload.features[2].hotness = Hotness::uniform(1, 2); }},
    {"ids.alpha", kEngine, [](Case& one) { one.workload.features[0].ids.alpha = kNotANumber; }},
    {"ids.heavy_hitters", kEngine,
     [](Case& one) {
       one.workload.features[0].ids.kind = IdDistributionKind::heavy_hitters;
       one.workload.features[0].ids.heavy_hitters = {0.6, 0.6};
     }},
    {"ids.reuse", kEngine,
     [](Case& one) {
       one.workload.features[0].ids.kind = IdDistributionKind::reuse_histogram;
       one.workload.features[0].ids.reuse = {{4, 0.5}, {2, 0.5}};
     }},
    {"ids.stream", kEngine,
     [](Case& one) { one.workload.features[0].ids.kind = IdDistributionKind::recorded; }},
    {"dense.shape", kEngine,
     [](Case& one) { one.workload.dense.interaction = Interaction::concat; }},
};
INSTANTIATE_TEST_SUITE_P(Workload, BrokenRule, testing::ValuesIn(kWorkloadRules));

const Breaker kTopologyRules[] = {
    {"topology.shape", kEngine, [](Case& one) { one.topology.hosts = 0; }},
    {"topology.fast_domain", kEngine, [](Case& one) { one.topology.fast_domain = 3; }},
    {"topology.quantity", kEngine,
     [](Case& one) { one.topology.gpu.memory_bytes_per_s.value = -1; }},
    {"topology.share", kEngine, [](Case& one) { one.topology.gpu.gather_efficiency.value = 1.2; }},
    {"topology.not_stated", kEngine, [](Case& one) { one.topology.gpu.memory_bytes.value = 0; }},
    {"topology.by_size", kEngine,
     [](Case& one) {
       one.topology.intra.by_size = {{10, 1e9}, {5, 1e9}};
     }},
    {"topology.reserve", kEngine, [](Case& one) { one.topology.reserve_bytes = -1; }},
};
INSTANTIATE_TEST_SUITE_P(Topology, BrokenRule, testing::ValuesIn(kTopologyRules));

const Breaker kLayoutRules[] = {
    {"layout.ranks", kEngine, [](Case& one) { one.layout.ranks = 8; }},
    {"layout.tables", kEngine, [](Case& one) { one.layout.tables.pop_back(); }},
    {"layout.table_name", kEngine, [](Case& one) { one.layout.table_names[2] = "other"; }},
    {"batch.below_ranks", kEngine, [](Case& one) { one.workload.global_batch = 3; }},
    {"columns.cuts", kEngine,
     [](Case& one) {
       one.placement(0).column_cuts = {0, 8, 8};
     }},
    {"columns.coverage", kEngine,
     [](Case& one) {
       one.placement(0).column_cuts = {0, 8, 15};
     }},
    {"dp.owners", kEngine, [](Case& one) { one.placement(1).owners = {0}; }},
    {"dp.cut", kEngine,
     [](Case& one) {
       one.placement(1).column_cuts = {0, 4, 8};
     }},
    {"rows.shards", kEngine, [](Case& one) { one.placement(0).row_shards = 0; }},
    {"rows.cuts_need_block", kEngine,
     [](Case& one) {
       one.placement(0).row_cuts = {0, 10, 1000};
     }},
    {"rows.cuts", kEngine,
     [](Case& one) {
       one.placement(0).mapping = RowMapping::block;
       one.placement(0).row_cuts = {0, 1000};
     }},
    {"rows.coverage", kEngine,
     [](Case& one) {
       one.placement(0).mapping = RowMapping::block;
       one.placement(0).row_cuts = {0, 10, 999};
     }},
    {"rows.empty_shard", kEngine,
     [](Case& one) {
       one.placement(0).mapping = RowMapping::block;
       one.placement(0).row_cuts = {0, 0, 1000};
     }},
    {"owners.count", kEngine, [](Case& one) { one.placement(0).owners.pop_back(); }},
    {"owners.range", kEngine, [](Case& one) { one.placement(0).owners[2] = 4; }},
    {"tiers.count", kEngine,
     [](Case& one) {
       one.placement(0).tiers = {{}, {}};
     }},
    {"tiers.cache_load_factor", kEngine,
     [](Case& one) {
       one.placement(2).tiers = {{Tier::hbm, 0}};
     }},
    {"rb.unpooled", kEngine, [](Case& one) { one.placement(2).cluster = ClusterType::RB; }},
    {"exchange.only_rb", kEngine,
     [](Case& one) { one.placement(2).exchange = Exchange::hierarchical; }},
    {"codec.slot", kEngine,
     [](Case& one) { one.options(ClusterType::DP).codecs.forward_intra.bound = -1; }},
    {"engine.codec", kEngine,
     [](Case& one) { one.options(ClusterType::RB).codecs.forward_inter.name = "hybrid"; }},
    {"engine.tier", kEngine, [](Case& one) { one.placement(2).tiers = {{Tier::uvm}}; }},
    {"engine.optimizer", kEngine,
     [](Case& one) { one.workload.tables[0].optimizer.kind = OptimizerKind::other; }},
    {"engine.optimizer_words", kEngine,
     [](Case& one) { one.workload.tables[0].optimizer.words_per_element = 3; }},
    {"engine.per_shard", kEngine,
     [](Case& one) { one.workload.tables[0].optimizer.per_shard = true; }},
};
INSTANTIATE_TEST_SUITE_P(Layout, BrokenRule, testing::ValuesIn(kLayoutRules));

const Breaker kHugectrRules[] = {
    {"hugectr.batch", Executor::hugectr, [](Case& one) { one.workload.global_batch = 66; }},
    {"hugectr.wire", Executor::hugectr, [](Case& one) { one.workload.wire = DType::bf16; }},
    {"hugectr.dtype", Executor::hugectr,
     [](Case& one) { one.workload.tables[0].dtype = DType::fp16; }},
    {"hugectr.optimizer", Executor::hugectr,
     [](Case& one) { one.workload.tables[0].optimizer = make_optimizer(OptimizerKind::adam); }},
    {"hugectr.tier", Executor::hugectr, [](Case& one) { one.placement(2).tiers = {{Tier::uvm}}; }},
    {"hugectr.codec", Executor::hugectr,
     [](Case& one) { one.options(ClusterType::RB).codecs.forward_inter.name = "fp16"; }},
    {"hugectr.sequence", Executor::hugectr,
     [](Case& one) { one.workload.features[2].pooling = Pooling::sequence; }},
    {"hugectr.hotness", Executor::hugectr,
     [](Case& one) { one.workload.features[0].hotness = Hotness::uniform(1, 3); }},
    {"hugectr.feature", Executor::hugectr,
     [](Case& one) { one.workload.features[0].weighted = true; }},
    {"hugectr.feature", Executor::hugectr,
     [](Case& one) { one.workload.features[0].num_poolings = 2; }},
    {"hugectr.dp_concat", Executor::hugectr,
     [](Case& one) {
       one.workload.features[1].pooling = Pooling::concat;
       one.workload.features[1].hotness = Hotness::fixed(2);
     }},
    {"hugectr.rows_modulo", Executor::hugectr,
     [](Case& one) {
       one.placement(0).mapping = RowMapping::block;
       one.placement(0).row_cuts = {0, 400, 1000};
     }},
    {"hugectr.columns_equal", Executor::hugectr,
     [](Case& one) {
       one.placement(0).column_cuts = {0, 4, 16};
     }},
    {"hugectr.ev_size", Executor::hugectr,
     [](Case& one) {
       one.workload.tables[2].dim = 260;
       one.placement(2).column_cuts = {0, 260};
     }},
    {"hugectr.vectorised", Executor::hugectr,
     [](Case& one) {
       one.workload.tables[2].dim = 6;
       one.placement(2).column_cuts = {0, 6};
     }},
    {"hugectr.owner_twice", Executor::hugectr,
     [](Case& one) {
       one.placement(0).owners = {0, 2, 0, 3};
     }},
    {"hugectr.owner_order", Executor::hugectr,
     [](Case& one) {
       one.placement(0).owners = {0, 1, 2, 3};
     }},
    {"hugectr.dedup", Executor::hugectr,
     [](Case& one) { one.options(ClusterType::UB).dedup = false; }},
    {"hugectr.ub_pooled", Executor::hugectr,
     [](Case& one) { one.placement(0).cluster = ClusterType::UB; }},
    {"hugectr.exchange_mix", Executor::hugectr,
     [](Case& one) {
       one.workload.features[2].pooling = Pooling::sum;
       one.placement(2).cluster = ClusterType::RB;
       one.placement(2).exchange = Exchange::hierarchical;
     }},
    {"hugectr.domain", Executor::hugectr,
     [](Case& one) {
       one.topology.fast_domain = 4;
       one.options(ClusterType::RB).exchange = Exchange::hierarchical;
     }},
    {"hugectr.empty_gpu", Executor::hugectr,
     [](Case& one) {
       one.placement(0) = table_wise(one.workload.tables[0], 0);
       one.placement(1) = table_wise(one.workload.tables[1], 1);
     }},
    {"hugectr.combiner_mix", Executor::hugectr,
     [](Case& one) {
       one.workload.features[1].table = 2;
       one.workload.features[1].hotness = Hotness::fixed(1);
       one.workload.features.push_back({.name = "i", .table = 1});
       one.workload.features.erase(one.workload.features.begin());
       one.workload.features.push_back({.name = "j", .table = 0});
     }},
};

TEST_P(BrokenRule, NamesATableThatExists) {
  Case one = valid_case(GetParam().executor);
  GetParam().apply(one);
  for (const Violation& violation : one.check()) {
    EXPECT_LT(violation.table, static_cast<std::int32_t>(one.workload.tables.size()));
    EXPECT_GE(violation.table, -1);
  }
}

INSTANTIATE_TEST_SUITE_P(Hugectr, BrokenRule, testing::ValuesIn(kHugectrRules));

const Breaker kTorchrecRules[] = {
    {"torchrec.pooling_mix", Executor::torchrec,
     [](Case& one) { one.workload.features.push_back({.name = "i", .table = 2}); }},
    {"torchrec.ub_pooled", Executor::torchrec,
     [](Case& one) { one.workload.features[2].pooling = Pooling::sum; }},
    {"torchrec.tier_mix", Executor::torchrec,
     [](Case& one) {
       one.placement(0).tiers = {{}, {}, {}, {Tier::uvm}};
     }},
    {"torchrec.tier", Executor::torchrec,
     [](Case& one) { one.placement(2).tiers = {{Tier::hash}}; }},
    {"torchrec.tier", Executor::torchrec,
     [](Case& one) { one.placement(1).tiers = {{Tier::uvm}}; }},
    {"torchrec.codec", Executor::torchrec,
     [](Case& one) { one.options(ClusterType::RB).codecs.forward_inter.name = "hybrid"; }},
    {"torchrec.per_shard", Executor::torchrec,
     [](Case& one) {
       one.workload.tables[2].optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
       one.placement(2).column_cuts = {0, 4, 8};
       one.placement(2).owners = {1, 3};
     }},
    {"columns.multiple_of_4", Executor::torchrec,
     [](Case& one) {
       one.placement(2).column_cuts = {0, 2, 8};
       one.placement(2).owners = {1, 3};
     }},
    {"torchrec.form", Executor::torchrec,
     [](Case& one) {
       one.placement(0).owners = {0, 1, 3, 2};
     }},
    {"torchrec.rows_block", Executor::torchrec,
     [](Case& one) {
       one.placement(0) = row_wise(one.workload.tables[0], {0, 1, 2, 3});
     }},
    {"torchrec.rows_equal", Executor::torchrec,
     [](Case& one) {
       one.placement(0) = row_wise(one.workload.tables[0], {2, 3});
       one.placement(0).mapping = RowMapping::block;
       one.placement(0).row_cuts = {0, 400, 1000};
       one.options(ClusterType::RB).exchange = Exchange::hierarchical;
     }},
    {"torchrec.exchange", Executor::torchrec,
     [](Case& one) { one.options(ClusterType::RB).exchange = Exchange::hierarchical; }},
};
INSTANTIATE_TEST_SUITE_P(Torchrec, BrokenRule, testing::ValuesIn(kTorchrecRules));

TEST(Check, UnequalRowWiseBlocksAreTorchrecs) {
  Case one = valid_case(Executor::torchrec);
  one.placement(0).row_cuts = {0, 100, 500, 750, 1000};
  EXPECT_EQ(text_of(one.check()), "");
}

TEST(Check, NoTablesIsOneErrorAndNothingElseIsGuessed) {
  Case one = valid_case(kEngine);
  one.workload.tables.clear();
  one.workload.features.clear();
  one.layout.tables.clear();
  one.layout.table_names.clear();
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"workload.no_tables"}));
}

TEST(Check, FeaturesOfMissingTablesAreReportedOnce) {
  Case one = valid_case(kEngine);
  one.workload.features.push_back({.name = "lost", .table = 9});
  one.workload.features.push_back({.name = "negative", .table = -1});
  const auto violations = one.check();
  EXPECT_EQ(violations.size(), 2U) << text_of(violations);
  EXPECT_EQ(broken_rules(one), (std::set<std::string>{"feature.table"}));
}

TEST(Check, AWrongOwnerIsNamedWithItsShard) {
  Case one = valid_case(kEngine);
  one.placement(0).owners[2] = 7;
  const auto violations = one.check();
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].table, 0);
  EXPECT_EQ(violations[0].row, 1);
  EXPECT_EQ(violations[0].column, 0);
  EXPECT_EQ(violations[0].rank, 7);
}

TEST(Check, AllViolationsAreReturnedTogether) {
  Case one = valid_case(kEngine);
  one.workload.features[0].num_poolings = 0;
  one.topology.gpu.launch_s.value = -1;
  one.placement(2).cluster = ClusterType::RB;
  one.placement(0).owners[0] = 99;
  EXPECT_EQ(broken_rules(one),
            (std::set<std::string>{"feature.num_poolings", "topology.quantity"}));
  one.topology.gpu.launch_s.value = 0;
  EXPECT_EQ(broken_rules(one),
            (std::set<std::string>{"feature.num_poolings", "rb.unpooled", "owners.range"}));
}

TEST(Check, ManyViolationsOfAKindAreCountedNotListed) {
  Case one = valid_case(kEngine);
  one.placement(0) = row_wise(one.workload.tables[0], std::vector<std::int32_t>(1000, -1));
  const auto violations = one.check();
  ASSERT_EQ(violations.size(), 51U);
  EXPECT_EQ(violations.back().amount, 950);
}

TEST(Check, WarningsAreNotErrors) {
  Case one = valid_case(kEngine);
  one.workload.global_batch = 3;
  EXPECT_FALSE(has_errors(one.check()));
  one.workload.global_batch = 0;
  EXPECT_TRUE(has_errors(one.check()));
  EXPECT_STREQ(to_string(Severity::warning), "warning");
}

}  // namespace
}  // namespace shardscope
