#include "ui/panels/titles.hpp"

#include <gtest/gtest.h>

namespace shardscope::ui {
namespace {

TEST(Titles, TablesAreSummedUpWithTheirOptimizer) {
  Workload workload;
  EXPECT_EQ(tables_sentence(workload), "none");
  workload.tables = {
      {.name = "a", .rows = 1000, .dim = 4, .optimizer = make_optimizer(OptimizerKind::adam)},
      {.name = "b", .rows = 2000, .dim = 4, .optimizer = make_optimizer(OptimizerKind::adam)}};
  EXPECT_TRUE(tables_sentence(workload).ends_with("with Adam")) << tables_sentence(workload);
  workload.tables[1].optimizer = make_optimizer(OptimizerKind::sgd);
  EXPECT_TRUE(tables_sentence(workload).ends_with("with several optimizers"))
      << tables_sentence(workload);
}

}  // namespace
}  // namespace shardscope::ui
