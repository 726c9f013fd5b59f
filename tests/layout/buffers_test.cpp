#include "layout/buffers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace shardscope {
namespace {

struct BuffersCase {
  Workload workload;
  Topology topology;
  Layout layout;

  [[nodiscard]] std::vector<BufferSpec> of(std::int32_t rank, ScheduleKind kind) const {
    const Schedule schedule = make_schedule(kind, presence_of(workload, layout));
    return engine_buffers(workload, topology, layout, schedule, rank,
                          expected_counts(workload, layout));
  }
};

/// One DP, one RB (2 x 2 shards) and one UB table over 2 x 2 ranks.
BuffersCase three_clusters() {
  BuffersCase value;
  value.topology.hosts = 2;
  value.topology.gpus_per_host = 2;
  value.topology.fast_domain = 2;
  for (const char* name : {"dp", "rb", "ub"}) {
    Table table{.name = name, .rows = 64, .dim = 8};
    table.optimizer = make_optimizer(OptimizerKind::adagrad);
    Feature feature;
    feature.name = name;
    feature.table = static_cast<std::int32_t>(value.workload.tables.size());
    feature.hotness = Hotness::fixed(2);
    value.workload.tables.push_back(table);
    value.workload.features.push_back(feature);
    value.layout.table_names.emplace_back(name);
  }
  value.workload.global_batch = 16;
  value.layout.ranks = 4;
  TablePlacement rb = row_wise(value.workload.tables[1], {0, 1});
  rb.column_cuts = {0, 4, 8};
  rb.owners = {0, 1, 2, 0};
  value.layout.tables = {data_parallel(value.workload.tables[0]), rb,
                         table_wise(value.workload.tables[2], 3, ClusterType::UB)};
  return value;
}

std::int64_t bytes_named(const std::vector<BufferSpec>& list, const std::string& name,
                         std::int32_t table) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const BufferSpec& buffer) {
    return buffer.name == name && buffer.table == table;
  });
  return found == list.end() ? -1 : found->bytes;
}

TEST(Buffers, NamesAreUniquePerTable) {
  const BuffersCase value = three_clusters();
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    std::set<std::pair<std::string, std::int32_t>> seen;
    for (const BufferSpec& buffer : value.of(rank, ScheduleKind::inter)) {
      EXPECT_TRUE(seen.emplace(buffer.name, buffer.table).second) << buffer.name;
    }
  }
}

TEST(Buffers, WeightsAndStateFollowTheShardsOfTheRank) {
  const BuffersCase value = three_clusters();
  const auto rank0 = value.of(0, ScheduleKind::serial);
  EXPECT_EQ(bytes_named(rank0, "weights", 0), 64 * 8 * 4);
  EXPECT_EQ(bytes_named(rank0, "weights[0,0]", 1), 32 * 4 * 4);
  EXPECT_EQ(bytes_named(rank0, "state[0,0]", 1), 32 * 4 * 4);
  EXPECT_EQ(bytes_named(rank0, "weights[1,1]", 1), 32 * 4 * 4);
  EXPECT_EQ(bytes_named(rank0, "weights[0,1]", 1), -1);
  EXPECT_EQ(bytes_named(rank0, "weights[0,0]", 2), -1);
  EXPECT_EQ(bytes_named(value.of(3, ScheduleKind::serial), "weights[0,0]", 2), 64 * 8 * 4);
}

TEST(Buffers, PrefetchDoublesOnlyTheResultsOfInputDist) {
  const BuffersCase value = three_clusters();
  const auto serial = value.of(0, ScheduleKind::serial);
  const auto inter = value.of(0, ScheduleKind::inter);
  std::int64_t doubled = 0;
  for (const BufferSpec& buffer : inter) {
    if (buffer.name.ends_with(".next")) doubled += aligned_bytes(buffer.bytes);
  }
  EXPECT_GT(doubled, 0);
  EXPECT_EQ(arena_bytes(inter), arena_bytes(serial) + doubled);
}

TEST(Buffers, SendBuffersHoldTheMessagesOfTheByteFormula) {
  const BuffersCase value = three_clusters();
  const auto rank0 = value.of(0, ScheduleKind::serial);
  // Rank 0 owns column 0 of row shard 0 and column 1 of row shard 1: two partials of 4 columns for
  // 4 bags a consumer.
  EXPECT_EQ(bytes_named(rank0, "rb.flat.send", -1), 4 * (2 * 4 * 4 * 4));
  EXPECT_EQ(bytes_named(rank0, "rb.flat.gradient_receive", -1), 4 * (2 * 4 * 4 * 4));
  EXPECT_EQ(bytes_named(rank0, "rb.partial", -1), 0);
}

TEST(Buffers, SumsSaturateForTablesNoMachineHolds) {
  BuffersCase value = three_clusters();
  value.workload.tables[0].rows = std::int64_t{1} << 60;
  EXPECT_EQ(arena_bytes(value.of(0, ScheduleKind::serial)),
            std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace shardscope
