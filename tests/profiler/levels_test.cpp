#include "profiler/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace shardscope {
namespace {

/// Spans of a track as a pipeline makes them: bursts, gaps, some long, some empty.
std::vector<Span> random_track(std::mt19937_64& random, std::int64_t count) {
  std::vector<Span> spans;
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random() % 20;
    now += kind == 0 ? static_cast<std::int64_t>(random() % 100'000)
                     : static_cast<std::int64_t>(random() % 50);
    Span span;
    span.start_ns = now;
    span.end_ns = now + static_cast<std::int64_t>(random() % (kind < 2 ? 20'000 : 300));
    span.busy_ns = (span.end_ns - span.start_ns) / 2;
    span.stage = static_cast<Stage>(random() % kStages);
    span.waiting = kind == 3;
    now = span.end_ns;
    spans.push_back(span);
  }
  return spans;
}

struct LevelSums {
  std::int64_t count = 0;
  std::int64_t covered_ns = 0;
  std::int64_t busy_ns = 0;

  friend bool operator==(const LevelSums&, const LevelSums&) = default;
};

LevelSums sums_of(std::span<const LevelNode> nodes) {
  LevelSums sums;
  for (const LevelNode& node : nodes) {
    sums.count += node.count;
    sums.covered_ns += node.covered_ns;
    sums.busy_ns += node.busy_ns;
  }
  return sums;
}

TEST(Levels, EveryLevelSumsUpTheSameSpansInAnEighthOfTheNodes) {
  std::mt19937_64 random(1);
  for (const std::int64_t count : {1, 7, 8, 9, 64, 65, 1000}) {
    const Levels levels = make_levels(random_track(random, count));
    for (std::size_t level = 1; level < levels.size(); ++level) {
      EXPECT_EQ(levels[level].size(), (levels[level - 1].size() + 7) / 8);
      EXPECT_EQ(sums_of(levels[level]), sums_of(levels[0]));
    }
    EXPECT_EQ(levels.back().size(), 1u) << count << " spans";
    EXPECT_EQ(levels.back()[0].count, count);
  }
}

TEST(Levels, ANodeHasTheLongestOfItsSpans) {
  std::mt19937_64 random(2);
  const std::vector<Span> spans = random_track(random, 500);
  const Levels levels = make_levels(spans);
  const auto longest = std::max_element(spans.begin(), spans.end(), [](auto& a, auto& b) {
    return a.end_ns - a.start_ns < b.end_ns - b.start_ns;
  });
  const LevelNode& root = levels.back()[0];
  EXPECT_EQ(root.longest_start_ns, longest->start_ns);
  EXPECT_EQ(root.longest_end_ns, longest->end_ns);
  EXPECT_EQ(root.longest_stage, longest->stage);
  EXPECT_EQ(root.longest_waiting, longest->waiting);
}

TEST(Levels, OfNoSpansThereAreNone) {
  EXPECT_TRUE(make_levels({}).empty());
  EXPECT_TRUE(visible(Levels{}, 0, 100, 1).empty());
}

TEST(Levels, SpansAreSortedByStart) {
  std::vector<Span> spans(2);
  spans[0].start_ns = 20;
  spans[0].end_ns = 30;
  spans[1].start_ns = 5;
  spans[1].end_ns = 8;
  const Levels levels = make_levels(spans);
  EXPECT_EQ(levels[0][0].first_start_ns, 5);
  EXPECT_EQ(levels[0][0].first_span, 1);
}

/// The promises of visible(), checked against the spans themselves.
void expect_promises(const std::vector<Span>& spans, const Levels& levels, std::int64_t begin,
                     std::int64_t end, std::int64_t resolution) {
  const std::vector<LevelNode> items = visible(levels, begin, end, resolution);
  std::int64_t touching = 0;
  std::int64_t wide = 0;
  for (const Span& span : spans) {
    if (span.start_ns >= end || span.end_ns < begin) continue;
    ++touching;
    if (span.end_ns - span.start_ns < resolution) continue;
    ++wide;
    const bool alone = std::any_of(items.begin(), items.end(), [&](const LevelNode& item) {
      return item.count == 1 && item.first_start_ns == span.start_ns && item.end_ns == span.end_ns;
    });
    EXPECT_TRUE(alone) << "a span of " << span.end_ns - span.start_ns << " ns was folded";
  }
  EXPECT_GE(sums_of(items).count, touching);
  std::int64_t previous = std::numeric_limits<std::int64_t>::min();
  for (const LevelNode& item : items) {
    EXPECT_GE(item.first_start_ns, previous);
    previous = item.first_start_ns;
    if (item.count > 1) {
      EXPECT_LT(item.end_ns - item.first_start_ns, 2 * resolution);
    }
  }
  const std::int64_t cells = (end - begin) / resolution + 3;
  EXPECT_LE(static_cast<std::int64_t>(items.size()), 2 * cells + wide);
}

TEST(Levels, VisibleKeepsLongSpansAndFoldsShortOnes) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const std::vector<Span> spans =
        random_track(random, 1 + static_cast<std::int64_t>(random() % 3000));
    const Levels levels = make_levels(spans);
    const std::int64_t length = spans.back().end_ns + 1;
    for (int view = 0; view < 10; ++view) {
      const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
      const auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)) + 1;
      const std::int64_t resolution = 1 + static_cast<std::int64_t>(random() % 5000);
      expect_promises(spans, levels, std::min(a, b), std::max(a, b), resolution);
      if (HasFailure()) return;
    }
  }
}

TEST(Levels, AViewOfEverythingCountsEverySpanOnce) {
  std::mt19937_64 random(3);
  const std::vector<Span> spans = random_track(random, 5000);
  const Levels levels = make_levels(spans);
  const std::int64_t end = spans.back().end_ns + 1;
  for (const std::int64_t items : {10, 100, 1000, 100'000}) {
    const auto seen = visible(levels, 0, end, resolution_for(0, end, items));
    EXPECT_EQ(sums_of(seen), sums_of(levels[0]));
    EXPECT_LE(static_cast<std::int64_t>(seen.size()), items + 4);
  }
}

TEST(Levels, PanningDoesNotRegroupWhatStaysInView) {
  std::mt19937_64 random(4);
  const std::vector<Span> spans = random_track(random, 2000);
  const Levels levels = make_levels(spans);
  const std::int64_t end = spans.back().end_ns;
  const auto before = visible(levels, 0, end / 2, 1000);
  const auto after = visible(levels, 777, end / 2 + 777, 1000);
  // Everything that starts well inside both views is the same item in both.
  std::int64_t compared = 0;
  for (const LevelNode& item : before) {
    if (item.first_start_ns < 5000 || item.end_ns > end / 2 - 5000) continue;
    EXPECT_NE(std::find(after.begin(), after.end(), item), after.end());
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace shardscope
