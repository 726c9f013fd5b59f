#include "layout/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace shardscope {
namespace {

struct Dependency {
  Stage producer;
  Work from;
  Stage consumer;
  Work to;
};

/// Everything a step reads, or would overwrite too early, within one iteration and one batch.
std::vector<Dependency> dependencies_of(const SchedulePresence& presence) {
  std::vector<Dependency> all;
  for (const Work work : {Work::RB, Work::UB}) {
    all.push_back({Stage::input_dist, work, Stage::model_forward, work});
    all.push_back({Stage::input_dist, work, Stage::index_calculation, work});
    all.push_back({Stage::model_forward, work, Stage::network_forward, work});
    all.push_back({Stage::network_forward, work, Stage::dense_forward, Work::top_mlp});
    all.push_back({Stage::network_forward, work, Stage::network_backward, work});
    all.push_back({Stage::dense_backward, Work::top_mlp, Stage::network_backward, work});
    all.push_back({Stage::network_backward, work, Stage::local_reduce, work});
    all.push_back({Stage::index_calculation, work, Stage::local_reduce, work});
    all.push_back({Stage::local_reduce, work, Stage::update, work});
  }
  all.push_back({Stage::model_forward, Work::DP, Stage::dense_forward, Work::top_mlp});
  all.push_back({Stage::model_forward, Work::DP, Stage::local_reduce, Work::DP});
  all.push_back({Stage::dense_backward, Work::top_mlp, Stage::local_reduce, Work::DP});
  all.push_back({Stage::index_calculation, Work::DP, Stage::local_reduce, Work::DP});
  all.push_back({Stage::local_reduce, Work::DP, Stage::allreduce, Work::DP});
  all.push_back({Stage::allreduce, Work::DP, Stage::update, Work::DP});
  all.push_back({Stage::dense_forward, Work::bottom_mlp, Stage::dense_forward, Work::top_mlp});
  all.push_back({Stage::dense_forward, Work::top_mlp, Stage::dense_backward, Work::top_mlp});
  all.push_back({Stage::dense_backward, Work::top_mlp, Stage::dense_backward, Work::bottom_mlp});
  all.push_back({Stage::dense_backward, Work::bottom_mlp, Stage::allreduce, Work::dense});
  all.push_back({Stage::allreduce, Work::dense, Stage::update, Work::dense});
  const auto has = [&](Work work) {
    return work == Work::DP   ? presence.dp
           : work == Work::RB ? presence.rb
           : work == Work::UB ? presence.ub
                              : presence.dense;
  };
  std::vector<Dependency> present;
  for (const Dependency& one : all) {
    if (has(one.from) && has(one.to)) present.push_back(one);
  }
  return present;
}

std::optional<std::size_t> index_of(const Schedule& schedule, Stage stage, Work work,
                                    bool next_batch = false) {
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduleStep& step = schedule.steps[i];
    if (step.stage == stage && step.work == work && step.next_batch == next_batch) return i;
  }
  return std::nullopt;
}

/// before[a][b]: a has finished before b starts, through streams and waits.
std::vector<std::vector<bool>> happens_before(const Schedule& schedule) {
  const std::size_t n = schedule.steps.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (std::size_t b = 0; b < n; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const auto& waits = schedule.steps[b].waits;
      const bool edge = schedule.steps[a].stream == schedule.steps[b].stream ||
                        std::find(waits.begin(), waits.end(), a) != waits.end();
      if (!edge) continue;
      before[a][b] = true;
      for (std::size_t c = 0; c < a; ++c) {
        if (before[c][a]) before[c][b] = true;
      }
    }
  }
  return before;
}

std::vector<SchedulePresence> every_presence() {
  std::vector<SchedulePresence> all;
  for (int bits = 0; bits < 16; ++bits) {
    all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
  }
  return all;
}

std::string describe(ScheduleKind kind, const SchedulePresence& presence) {
  return std::string(to_string(kind)) + (presence.dp ? " DP" : "") + (presence.rb ? " RB" : "") +
         (presence.ub ? " UB" : "") + (presence.dense ? " dense" : "");
}

class EverySchedule : public testing::TestWithParam<ScheduleKind> {};

TEST_P(EverySchedule, ConsumersWaitForProducersInEveryPresence) {
  for (const SchedulePresence& presence : every_presence()) {
    SCOPED_TRACE(describe(GetParam(), presence));
    const Schedule schedule = make_schedule(GetParam(), presence);
    const auto before = happens_before(schedule);
    for (const Dependency& one : dependencies_of(presence)) {
      SCOPED_TRACE(std::string(to_string(one.producer)) + " " + to_string(one.from) + " -> " +
                   to_string(one.consumer) + " " + to_string(one.to));
      const auto consumer = index_of(schedule, one.consumer, one.to);
      ASSERT_TRUE(consumer);
      if (GetParam() == ScheduleKind::inter && one.producer == Stage::input_dist) {
        // Made by the previous iteration, which has ended.
        EXPECT_TRUE(index_of(schedule, one.producer, one.from, true));
        EXPECT_FALSE(index_of(schedule, one.producer, one.from));
        continue;
      }
      const auto producer = index_of(schedule, one.producer, one.from);
      ASSERT_TRUE(producer);
      EXPECT_TRUE(before[*producer][*consumer]);
    }
  }
}

TEST_P(EverySchedule, HasNoStepOfAnAbsentPartAndNoStepTwice) {
  for (const SchedulePresence& presence : every_presence()) {
    SCOPED_TRACE(describe(GetParam(), presence));
    const Schedule schedule = make_schedule(GetParam(), presence);
    const std::size_t expected = (presence.dp ? 5U : 0U) + (presence.rb ? 7U : 0U) +
                                 (presence.ub ? 7U : 0U) + (presence.dense ? 6U : 0U);
    EXPECT_EQ(schedule.steps.size(), expected);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const ScheduleStep& step = schedule.steps[i];
      EXPECT_EQ(index_of(schedule, step.stage, step.work, step.next_batch), i);
      EXPECT_LT(step.stream, schedule.streams);
      for (const std::uint16_t wait : step.waits) {
        EXPECT_LT(wait, i);
        EXPECT_NE(schedule.steps[wait].stream, step.stream);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EverySchedule,
                         testing::Values(ScheduleKind::serial, ScheduleKind::intra,
                                         ScheduleKind::inter),
                         [](const auto& one) { return to_string(one.param); });

bool unordered(const Schedule& schedule, std::optional<std::size_t> a,
               std::optional<std::size_t> b) {
  const auto before = happens_before(schedule);
  return a && b && !before[*a][*b] && !before[*b][*a];
}

constexpr SchedulePresence kAll{true, true, true, true};

TEST(Schedule, SerialRunsOneStageAfterTheOther) {
  const Schedule schedule = make_schedule(ScheduleKind::serial, kAll);
  EXPECT_EQ(schedule.streams, 1);
  std::vector<Stage> stages;
  for (const ScheduleStep& step : schedule.steps) {
    EXPECT_TRUE(step.waits.empty());
    if (step.work == Work::RB) stages.push_back(step.stage);
  }
  EXPECT_EQ(stages,
            (std::vector<Stage>{Stage::input_dist, Stage::model_forward, Stage::network_forward,
                                Stage::index_calculation, Stage::network_backward,
                                Stage::local_reduce, Stage::update}));
  EXPECT_EQ(schedule.steps.front().stage, Stage::input_dist);
  EXPECT_EQ(schedule.steps.back().stage, Stage::update);
}

TEST(Schedule, IntraOverlapsExchangesWithTheDensePart) {
  const Schedule schedule = make_schedule(ScheduleKind::intra, kAll);
  for (const Work work : {Work::RB, Work::UB}) {
    EXPECT_TRUE(unordered(schedule, index_of(schedule, Stage::network_forward, work),
                          index_of(schedule, Stage::dense_forward, Work::bottom_mlp)));
    EXPECT_TRUE(unordered(schedule, index_of(schedule, Stage::network_backward, work),
                          index_of(schedule, Stage::dense_backward, Work::bottom_mlp)));
    EXPECT_TRUE(unordered(schedule, index_of(schedule, Stage::index_calculation, work),
                          index_of(schedule, Stage::dense_forward, Work::top_mlp)));
    EXPECT_TRUE(unordered(schedule, index_of(schedule, Stage::local_reduce, work),
                          index_of(schedule, Stage::allreduce, Work::dense)));
  }
  EXPECT_TRUE(unordered(schedule, index_of(schedule, Stage::local_reduce, Work::DP),
                        index_of(schedule, Stage::dense_backward, Work::bottom_mlp)));
}

TEST(Schedule, IntraStartsDpLookupAndBottomMlpBehindTheOwnersLookups) {
  const Schedule schedule = make_schedule(ScheduleKind::intra, kAll);
  const auto before = happens_before(schedule);
  const auto lookup = index_of(schedule, Stage::model_forward, Work::RB);
  EXPECT_TRUE(before[*lookup][*index_of(schedule, Stage::model_forward, Work::DP)]);
  EXPECT_TRUE(before[*lookup][*index_of(schedule, Stage::dense_forward, Work::bottom_mlp)]);
}

TEST(Schedule, InterPrefetchesTheNextBatchBehindIndexCalculationBesideTheBackwardPass) {
  const Schedule schedule = make_schedule(ScheduleKind::inter, kAll);
  const auto before = happens_before(schedule);
  for (const Work work : {Work::RB, Work::UB}) {
    const auto prefetch = index_of(schedule, Stage::input_dist, work, true);
    ASSERT_TRUE(prefetch);
    for (const Work index : {Work::RB, Work::UB, Work::DP}) {
      EXPECT_TRUE(before[*index_of(schedule, Stage::index_calculation, index)][*prefetch]);
    }
    EXPECT_TRUE(unordered(schedule, prefetch, index_of(schedule, Stage::network_backward, work)));
    EXPECT_TRUE(
        unordered(schedule, prefetch, index_of(schedule, Stage::dense_backward, Work::top_mlp)));
  }
}

TEST(Schedule, PresenceFollowsClustersAndInteraction) {
  Workload workload;
  Layout layout;
  layout.tables.resize(2);
  layout.tables[0].cluster = ClusterType::UB;
  layout.tables[1].cluster = ClusterType::DP;
  const SchedulePresence without_dense = presence_of(workload, layout);
  EXPECT_TRUE(without_dense.dp && without_dense.ub);
  EXPECT_FALSE(without_dense.rb || without_dense.dense);
  workload.dense.interaction = Interaction::dot;
  EXPECT_TRUE(presence_of(workload, layout).dense);
}

TEST(Schedule, NamesOfStagesAreThoseOfTheTraces) {
  EXPECT_STREQ(to_string(Stage::input_dist), "input_dist");
  EXPECT_STREQ(to_string(Stage::update), "update");
  EXPECT_STREQ(to_string(Work::bottom_mlp), "bottom_mlp");
  EXPECT_EQ(work_of(ClusterType::UB), Work::UB);
}

}  // namespace
}  // namespace shardscope
