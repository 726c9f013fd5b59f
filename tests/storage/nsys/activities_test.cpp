// GPU activity as scripts written for Nsight Systems find it. The queries below are what such
// scripts ask: real tables, names through StringIds, launches joined by correlation and process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/access.hpp"
#include "storage/import/import_files.hpp"
#include "storage/nsys/export.hpp"
#include "storage/nsys/schema.hpp"
#include "storage/nsys/values.hpp"
#include "storage/session_writer.hpp"
#include "storage/sqlite/query.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage::nsys {
namespace {

using Kind = ActivityRecord::Kind;

/// A launch and its kernel, a copy and a synchronization of one rank.
std::vector<ActivityRecord> sample_activities(std::int32_t rank) {
  ActivityRecord launch;
  launch.kind = Kind::runtime;
  launch.start_ns = 1000;
  launch.end_ns = 1200;
  launch.rank = rank;
  launch.correlation = 7;
  launch.thread = 4242;
  launch.name = "cudaLaunchKernel_v7000";
  launch.attributed = true;
  launch.iteration = 3;
  launch.stage = Stage::model_forward;
  launch.work = Work::UB;
  ActivityRecord kernel = launch;
  kernel.kind = Kind::kernel;
  kernel.start_ns = 2000;
  kernel.end_ns = 9000;
  kernel.device = rank;
  kernel.stream = 13;
  kernel.name = "void shardscope::gather<float, 4>(float const*, float*)";
  kernel.grid = {128, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.registers_per_thread = 40;
  ActivityRecord copy = kernel;
  copy.kind = Kind::memcpy;
  copy.correlation = 8;
  copy.bytes = 65536;
  copy.detail = 1;  // host to device
  copy.source = MemoryKind::pinned;
  copy.destination = MemoryKind::device;
  copy.name = "";
  ActivityRecord wait = copy;
  wait.kind = Kind::synchronization;
  wait.correlation = 9;
  wait.detail = 3;
  wait.attributed = false;
  return {launch, kernel, copy, wait};
}

class Activities : public testing::Test {
 protected:
  std::int64_t record(const std::string& label) {
    SessionWriter writer(session_);
    RunInfo info = test::sample_run(label);
    for (std::int32_t id = 0; id < 2; ++id) {
      info.gpus.push_back({.id = id,
                           .name = "NVIDIA H200",
                           .uuid = "GPU-" + std::to_string(id),
                           .memory_bytes = std::int64_t{141} << 30,
                           .multiprocessors = 132,
                           .compute_major = 9});
    }
    const std::int64_t run = writer.begin_run(info).value();
    for (std::int32_t rank = 0; rank < 2; ++rank) writer.activities(run, sample_activities(rank));
    const Status ended = writer.end_run(run, {});
    EXPECT_TRUE(ended) << to_string(ended.error());
    return run;
  }

  static std::vector<std::string> lines(Database& database, const std::string& sql) {
    const auto rows = select(database, sql, [](const Statement& row) {
      std::string line;
      for (int i = 0; i < row.columns(); ++i) {
        if (i > 0) line += '|';
        line += row.text(i);
      }
      return line;
    });
    EXPECT_TRUE(rows) << (rows ? "" : to_string(rows.error()));
    return rows.value_or(std::vector<std::string>{});
  }
  std::vector<std::string> lines(const std::string& sql) {
    const ReadAccess access(session_);
    return lines(access.database(), sql);
  }

  test::TempDirectory directory_;
  Session session_ = Session::create(directory_.file("a.shardscope")).value();
};

TEST_F(Activities, ThereAreNoTablesBeforeThereIsActivity) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  writer.spans(run, test::sample_spans(1));
  ASSERT_TRUE(writer.end_run(run, {}));
  EXPECT_EQ(lines("SELECT count(*) FROM sqlite_master WHERE name LIKE 'CUPTI%' OR name = "
                  "'StringIds'"),
            std::vector<std::string>{"0"});
}

TEST_F(Activities, OnlyTablesWithRowsAppear) {
  record("A");
  EXPECT_THAT(
      lines("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'CUPTI%' "
            "ORDER BY name"),
      testing::ElementsAre("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                           "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"));
}

TEST_F(Activities, KernelsAreSummedUpByTheirShortName) {
  record("A");
  EXPECT_THAT(lines("SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                    "JOIN StringIds s ON s.id = k.shortName GROUP BY value"),
              testing::ElementsAre("gather|2|14000"));
  EXPECT_THAT(lines("SELECT gridX, blockX, registersPerThread, streamId FROM "
                    "CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1"),
              testing::ElementsAre("128|256|40|13"));
}

TEST_F(Activities, ALaunchMeetsOnlyTheKernelOfItsOwnRunAndRank) {
  record("A");
  record("B");
  EXPECT_THAT(lines("SELECT count(*), count(DISTINCT k.globalPid) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                    "r JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId AND "
                    "k.globalPid / 0x1000000 % 0x1000000 = r.globalTid / 0x1000000 % 0x1000000"),
              testing::ElementsAre("4|4"));
  EXPECT_THAT(lines("SELECT DISTINCT globalTid % 0x1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
              testing::ElementsAre("4242"));
}

TEST_F(Activities, MemoryKindsAreNsightsAndNotCuptis) {
  record("A");
  EXPECT_THAT(lines("SELECT o.label, s.label, d.label, sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY "
                    "JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = copyKind JOIN ENUM_CUDA_MEM_KIND s ON "
                    "s.id = srcKind JOIN ENUM_CUDA_MEM_KIND d ON d.id = dstKind GROUP BY 1, 2, 3"),
              testing::ElementsAre("Host-to-Device|Pinned|Device|131072"));
  EXPECT_EQ(memory_kind(MemoryKind::unknown), 7);
  EXPECT_EQ(memory_kind(MemoryKind::pageable), 0);
  EXPECT_EQ(memory_kind(MemoryKind::managed_static), 6);
}

TEST_F(Activities, AStageIsARangeAroundItsLaunches) {
  record("A");
  EXPECT_THAT(
      lines("SELECT COALESCE(n.text, s.value), count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s "
            "ON s.id = n.textId JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid "
            "AND r.start >= n.start AND r.end <= n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON "
            "k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & ~0xffffff) "
            "WHERE n.eventType = 59 GROUP BY 1"),
      testing::ElementsAre("model_forward UB|2"));
}

TEST_F(Activities, KernelsCanBeSummedUpByStage) {
  record("A");
  EXPECT_THAT(lines("SELECT stages.name, sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                    "activity_stages a ON a.global_pid = k.globalPid AND a.correlation = "
                    "k.correlationId JOIN stages ON stages.id = a.stage GROUP BY 1"),
              testing::ElementsAre("model_forward|14000"));
}

TEST_F(Activities, TimesCountFromTheSessionsStart) {
  const std::int64_t run = record("A");
  EXPECT_EQ(lines("SELECT min(k.start) - (SELECT start_ns FROM runs WHERE id = " +
                  std::to_string(run) + ") FROM CUPTI_ACTIVITY_KIND_KERNEL k"),
            std::vector<std::string>{"2000"});
}

TEST_F(Activities, DevicesAndProcessesAreListed) {
  record("A");
  record("B");
  EXPECT_THAT(lines("SELECT id, name, smCount, computeMajor FROM TARGET_INFO_GPU ORDER BY id"),
              testing::ElementsAre("0|NVIDIA H200|132|9", "1|NVIDIA H200|132|9"));
  EXPECT_THAT(lines("SELECT name FROM PROCESSES ORDER BY globalPid"),
              testing::ElementsAre("run 1 rank 0", "run 1 rank 1", "run 2 rank 0", "run 2 rank 1"));
  EXPECT_THAT(lines("SELECT count(*) FROM TARGET_INFO_CUDA_DEVICE"), testing::ElementsAre("8"));
}

TEST_F(Activities, AnExportHasOneRunFromItsOwnStart) {
  record("A");
  const std::int64_t run = record("B");
  const std::string path = directory_.file("b.sqlite");
  const Status exported = export_run(session_, run, path);
  ASSERT_TRUE(exported) << to_string(exported.error());
  Database database = Database::open(path, Database::Open::read_only).value();
  EXPECT_THAT(lines(database, "SELECT count(*), min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
              testing::ElementsAre("2|2000"));
  EXPECT_THAT(lines(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
              testing::ElementsAre("2"));
  EXPECT_THAT(lines(database, "SELECT name FROM PROCESSES ORDER BY 1"),
              testing::ElementsAre("run 2 rank 0", "run 2 rank 1"));
  EXPECT_THAT(lines(database, "SELECT value FROM META_DATA_CAPTURE WHERE name = 'SHARDSCOPE_MODE'"),
              testing::ElementsAre("emulated"));
  EXPECT_THAT(
      lines(database, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'"),
      testing::ElementsAre("3.16.1"));
  EXPECT_THAT(lines(database, "SELECT count(*) FROM sqlite_master WHERE name = 'runs'"),
              testing::ElementsAre("0"));
  EXPECT_THAT(lines(database, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").at(0),
              lines("SELECT utcEpochNs + (SELECT start_ns FROM runs WHERE id = 2) FROM "
                    "TARGET_INFO_SESSION_START_TIME")
                  .at(0));
  const Status again = export_run(session_, run, path);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::usage);
}

TEST_F(Activities, AnExportComesBackWithItsRanksAndSteps) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  for (const std::int32_t rank : {1, 0}) writer.activities(run, sample_activities(rank));
  writer.iterations(run, test::sample_iterations(3));
  ASSERT_TRUE(writer.end_run(run, {}));
  const std::string path = directory_.file("steps.sqlite");
  ASSERT_TRUE(export_run(session_, run, path));
  const auto back = import_files(ImportKind::nsys, {path}, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->trace->iterations.size(), 3U);
  ASSERT_EQ(back->trace->ranks.size(), 2U);
  EXPECT_EQ(back->trace->ranks[1].work.front().device, 1);
  EXPECT_EQ(back->notes.warning_count(), 0);
}

TEST_F(Activities, AnExportOfACpuRunHasItsSpansAsRanges) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  writer.spans(run, test::sample_spans(5));
  ASSERT_TRUE(writer.end_run(run, {}));
  const std::string path = directory_.file("cpu.sqlite");
  const Status exported = export_run(session_, run, path);
  ASSERT_TRUE(exported) << to_string(exported.error());
  Database database = Database::open(path, Database::Open::read_only).value();
  EXPECT_THAT(
      lines(database,
            "SELECT COALESCE(text, value), count(*), sum(end - start) FROM NVTX_EVENTS LEFT JOIN "
            "StringIds ON id = textId GROUP BY 1 ORDER BY 1"),
      testing::ElementsAre("model_forward RB|10|15000000", "network_forward RB|10|20000000"));
  EXPECT_THAT(lines(database, "SELECT name FROM PROCESSES ORDER BY 1"),
              testing::ElementsAre("run 1 rank 0", "run 1 rank 1"));
  EXPECT_EQ(export_run(session_, 99, directory_.file("x")).error().kind, ErrorKind::usage);
}

TEST_F(Activities, ThatTheDiskRefusedLeaveNoHalfMadeTables) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  const auto limit_pages = [&](const std::string& pages) {
    const ReadAccess access(session_);
    ASSERT_TRUE(access.database().integer("PRAGMA max_page_count = " + pages));
  };
  limit_pages(lines("PRAGMA page_count").at(0));
  writer.activities(run, sample_activities(0));
  EXPECT_FALSE(writer.flush());
  EXPECT_THAT(lines("SELECT count(*) FROM sqlite_master WHERE name = 'StringIds'"),
              testing::ElementsAre("0"));
  limit_pages("1000000");
  writer.activities(run, sample_activities(0));
  EXPECT_FALSE(writer.flush()) << "the first error is kept";
  EXPECT_THAT(lines("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), testing::ElementsAre("1"));
  EXPECT_THAT(lines("SELECT count FROM dropped WHERE place = 'writer'"), testing::ElementsAre("4"));
}

TEST(NsysValues, ShortNamesDropEverythingButTheName) {
  for (const auto& [demangled, name] : std::initializer_list<std::pair<const char*, const char*>>{
           {"plain", "plain"},
           {"gather(float*)", "gather"},
           {"void gather<float, 4>(float const*)", "gather"},
           {"void a::b::gather<ns::T<int>, (int)4>(ns::T<int>*)", "gather"},
           {"void a<int>::inner::scatter(int)", "scatter"},
           {"(anonymous namespace)::sort(unsigned int)", "sort"},
           {"void (anonymous namespace)::sort<(bool)1>(int)", "sort"},
           {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
           {"", ""},
           {"<<<", "<<<"},
           {"(", "("}}) {
    EXPECT_EQ(short_kernel_name(demangled), name) << demangled;
  }
}

TEST(NsysSchema, ColumnsAreThoseOfARealExport) {
  const std::string fixture = test_data::shared_path("traces/power_iteration__baseline.sqlite");
  Result<Database> real = Database::open(fixture, Database::Open::read_only);
  if (!real) GTEST_SKIP() << "no ../shared/data/traces/power_iteration__baseline.sqlite";
  Database ours = Database::open("", Database::Open::create).value();
  ASSERT_TRUE(create_common_tables(ours));
  for (const TableText& table : activity_tables()) {
    ASSERT_TRUE(create_activity_table(ours, table.name));
  }
  const auto columns = [](Database& database, const std::string& table) {
    return select(
               database,
               "SELECT name || ' ' || type || ' ' || \"notnull\" FROM pragma_table_info(?)",
               [](const Statement& row) { return row.text(0); }, table)
        .value();
  };
  int compared = 0;
  for (const auto tables : {common_tables(), activity_tables()}) {
    for (const TableText& table : tables) {
      const std::vector<std::string> theirs = columns(*real, table.name);
      if (theirs.empty()) continue;
      // The fixture is newer (3.20): of our columns none may be called or typed differently.
      for (const std::string& column : columns(ours, table.name)) {
        if (column == "uuid TEXT 0" || column == "numMultiprocessors INTEGER 0") continue;
        EXPECT_THAT(theirs, testing::Contains(column)) << table.name;
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 13);
}

}  // namespace
}  // namespace shardscope::storage::nsys
