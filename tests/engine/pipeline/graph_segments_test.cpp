#include "engine/pipeline/graph_segments.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace shardscope::engine {
namespace {

constexpr SchedulePresence kAllWorks{true, true, true, true};

using StepFilter = std::function<bool(const ScheduleStep&)>;

std::vector<GraphSegment> segments_of(ScheduleKind kind, const SchedulePresence& presence,
                                      const StepFilter& holds) {
  const Schedule schedule = make_schedule(kind, presence);
  std::vector<bool> list;
  for (const ScheduleStep& step : schedule.steps) list.push_back(holds(step));
  return graph_segments(schedule, list);
}

std::size_t graph_count(const std::vector<GraphSegment>& segments) {
  std::size_t count = 0;
  for (const GraphSegment& segment : segments) count += segment.graph ? 1 : 0;
  return count;
}

bool input_dist_stays_outside(const ScheduleStep& step) {
  return step.stage != Stage::input_dist;
}

bool exchanges_stay_outside(const ScheduleStep& step) {
  return !is_exchange(step.stage);
}

bool counts_of_ub_stay_outside(const ScheduleStep& step) {
  return input_dist_stays_outside(step) && !(is_exchange(step.stage) && step.work == Work::UB);
}

TEST(GraphSegments, AreOneFromModelForwardToUpdateWhereAllSizesAreFixed) {
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    const auto segments = segments_of(kind, {true, true, false, true}, input_dist_stays_outside);
    EXPECT_EQ(segments.size(), 2U) << to_string(kind);
    EXPECT_EQ(graph_count(segments), 1U) << to_string(kind);
    const std::size_t streams = kind == ScheduleKind::serial ? 1 : 3;
    for (const GraphSegment& segment : segments) {
      if (segment.graph) {
        EXPECT_EQ(segment.streams.size(), streams) << to_string(kind);
      }
    }
  }
}

TEST(GraphSegments, HoldEveryStepOnceAndInOrder) {
  for (const StepFilter& holds :
       {StepFilter(input_dist_stays_outside), StepFilter(exchanges_stay_outside),
        StepFilter(counts_of_ub_stay_outside)}) {
    for (const ScheduleKind kind :
         {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
      const Schedule schedule = make_schedule(kind, kAllWorks);
      std::size_t next = 0;
      for (const GraphSegment& segment : segments_of(kind, kAllWorks, holds)) {
        EXPECT_EQ(segment.first, next);
        next += segment.count;
        for (std::size_t i = segment.first; i < next; ++i) {
          EXPECT_EQ(segment.graph, holds(schedule.steps[i]));
        }
      }
      EXPECT_EQ(next, schedule.steps.size());
    }
  }
}

// What overlaps an exchange without graphs starts before it has ended with them, too.
TEST(GraphSegments, NeverWaitForAnExchangeThatTheirFirstStepDoesNotWaitFor) {
  for (const ScheduleKind kind : {ScheduleKind::intra, ScheduleKind::inter}) {
    const Schedule schedule = make_schedule(kind, kAllWorks);
    const auto holds = [&](std::size_t i) { return exchanges_stay_outside(schedule.steps[i]); };
    for (const GraphSegment& segment : segments_of(kind, kAllWorks, exchanges_stay_outside)) {
      if (!segment.graph) continue;
      const auto awaits = [&](std::size_t step, std::size_t exchange) {
        // By its waits and by its stream, step by step.
        std::vector<std::size_t> open{step};
        while (!open.empty()) {
          const std::size_t at = open.back();
          open.pop_back();
          if (at == exchange) return true;
          for (const std::uint16_t wait : schedule.steps[at].waits) open.push_back(wait);
          for (std::size_t b = at; b-- > 0;) {
            if (schedule.steps[b].stream != schedule.steps[at].stream) continue;
            open.push_back(b);
            break;
          }
        }
        return false;
      };
      for (std::size_t i = segment.first + 1; i < segment.first + segment.count; ++i) {
        for (std::size_t exchange = 0; exchange < segment.first; ++exchange) {
          if (holds(exchange) || !awaits(i, exchange)) continue;
          EXPECT_TRUE(awaits(segment.first, exchange)) << "step " << i << " of " << to_string(kind);
        }
      }
    }
  }
}

TEST(GraphSegments, AreSplitAtWhatNoGraphHolds) {
  const auto serial = segments_of(ScheduleKind::serial, kAllWorks, exchanges_stay_outside);
  EXPECT_EQ(graph_count(serial), 4U) << "lookups, dense part, reduction, update";
  const auto intra = segments_of(ScheduleKind::intra, kAllWorks, counts_of_ub_stay_outside);
  EXPECT_LT(graph_count(intra),
            graph_count(segments_of(ScheduleKind::intra, kAllWorks, exchanges_stay_outside)));
}

}  // namespace
}  // namespace shardscope::engine
