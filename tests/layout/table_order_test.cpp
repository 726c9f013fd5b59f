#include "layout/table_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardscope {
namespace {

Workload three_tables() {
  Workload workload;
  for (const char* name : {"a", "b", "c"}) {
    Table table;
    table.name = name;
    workload.tables.push_back(table);
  }
  return workload;
}

Layout owned_by(const std::vector<std::string>& names, const std::vector<std::int32_t>& owners) {
  Layout layout;
  layout.ranks = 4;
  layout.table_names = names;
  for (const std::int32_t owner : owners) {
    TablePlacement placement;
    placement.owners = {owner};
    layout.tables.push_back(placement);
  }
  return layout;
}

TEST(TableOrder, PlacementsFollowTheirNames) {
  Layout layout = owned_by({"c", "a", "b"}, {3, 1, 2});
  put_in_order_of(three_tables(), layout);
  EXPECT_EQ(layout.table_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(layout.tables[0].owners, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(layout.tables[1].owners, (std::vector<std::int32_t>{2}));
  EXPECT_EQ(layout.tables[2].owners, (std::vector<std::int32_t>{3}));
}

TEST(TableOrder, NamesThatDifferRepeatOrLackLeaveTheLayoutAsItIs) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"c", "a", "x"}, {"c", "a", "a"}, {"c", "a"}}) {
    const Layout before = owned_by(names, {3, 1, 2});
    Layout layout = before;
    put_in_order_of(three_tables(), layout);
    EXPECT_EQ(layout, before);
  }
}

}  // namespace
}  // namespace shardscope
