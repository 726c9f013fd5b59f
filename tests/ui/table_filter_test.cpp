#include "ui/model/table_filter.hpp"

#include <gtest/gtest.h>

namespace shardscope::ui {
namespace {

bool kept(const char* text, const FilteredTable& table) {
  const auto filter = TableFilter::parse(text);
  EXPECT_TRUE(filter) << text;
  return filter && filter->matches(table);
}

TEST(TableFilter, TermsMustAllHold) {
  const std::vector<std::int32_t> owners = {3, 5};
  const FilteredTable table{"cat_10", ClusterType::RB, 3e6, 128, 10, 24, 2.9, 0.22, 2, &owners};
  EXPECT_TRUE(kept("", table));
  EXPECT_TRUE(kept("CAT", table));
  EXPECT_TRUE(kept("rows>1M cl:RB gpu:3 hot>=10", table));
  EXPECT_TRUE(kept("rb cost<0.5 shards=2", table));
  EXPECT_FALSE(kept("rows>40M", table));
  EXPECT_FALSE(kept("UB", table));
  EXPECT_FALSE(kept("gpu:4", table));
  EXPECT_FALSE(kept("cat dog", table));
  EXPECT_FALSE(kept("hot>10", table));
}

TEST(TableFilter, AReplicatedTableIsOnEveryGpu) {
  const std::vector<std::int32_t> none;
  EXPECT_TRUE(kept("gpu:100", {"t", ClusterType::DP, 1, 1, 1, 1, 1, 1, 1, &none}));
}

TEST(TableFilter, UnreadableTermsAreNamed) {
  for (const char* text : {"rows>", "rows>x", "speed>3", "cl:XX", "gpu:abc", "hot>=1Q"}) {
    const auto filter = TableFilter::parse(text);
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().place, text);
  }
}

}  // namespace
}  // namespace shardscope::ui
