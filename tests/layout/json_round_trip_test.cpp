#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "layout/json.hpp"
#include "tests/layout/random_values.hpp"

namespace shardscope {
namespace {

using testing_values::RandomValues;

constexpr int kCases = 300;

std::uint64_t fresh_seed() {
  const char* given = std::getenv("SHARDSCOPE_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SHARDSCOPE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Writing, reading and writing again gives the same value and the same text.
template <class T, class Read>
void expect_round_trip(const T& value, Read read) {
  const std::string text = to_json(value);
  const Result<T> back = read(text, "written.json");
  ASSERT_TRUE(back) << to_string(back.error()) << "\n" << text;
  EXPECT_EQ(*back, value) << text;
  EXPECT_EQ(to_json(*back), text);
}

TEST(JsonRoundTrip, KeepsEveryWorkload) {
  RandomValues random(fresh_seed());
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    expect_round_trip(random.workload(), workload_from_json);
  }
}

TEST(JsonRoundTrip, KeepsEveryTopology) {
  RandomValues random(fresh_seed());
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    expect_round_trip(random.topology(), topology_from_json);
  }
}

TEST(JsonRoundTrip, KeepsEveryLayout) {
  RandomValues random(fresh_seed());
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    expect_round_trip(random.layout(), layout_from_json);
  }
}

TEST(JsonRoundTrip, KeepsEveryTableStats) {
  RandomValues random(fresh_seed());
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    expect_round_trip(random.table_stats(), table_stats_from_json);
  }
}

}  // namespace
}  // namespace shardscope
