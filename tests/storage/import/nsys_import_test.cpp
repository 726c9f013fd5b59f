#include "storage/import/nsys_import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/import/import_files.hpp"
#include "storage/import/import_kind.hpp"
#include "storage/sqlite/database.hpp"
#include "tests/shared_data.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

/// An old export: no globalPid, names in shortName, NVTX text inline.
std::string old_export(const test::TempDirectory& directory) {
  const std::string path = directory.file("old.sqlite");
  Database database = Database::open(path, Database::Open::create).value();
  const Status made = database.execute(R"sql(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'ncclKernel_SendRecv'), (2, 'mystery'), (3, 'cudaLaunchKernel');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
      contextId INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 1, 7, 11, 1), (300, 350, 0, 1, 7, 12, 2),
      (900, 800, 0, 1, 7, 13, 2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, 281479271743489, 11, 3),
      (250, 260, 281479271743489, 12, 3);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, globalTid INTEGER);
    INSERT INTO NVTX_EVENTS VALUES (40, 70, 'network_forward', 281479271743489),
      (240, 270, 'IndexCalculation', 281479271743489), (1, NULL, 'mark', 281479271743489);
  )sql");
  EXPECT_TRUE(made) << to_string(made.error());
  return path;
}

TEST(NsysImport, ReadsOldVersionsByColumnNameWithRangesAsStages) {
  const test::TempDirectory directory;
  const auto imported =
      import_files(ImportKind::nsys, {old_export(directory)}, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  const ImportedTrace& trace = *imported->trace;
  ASSERT_EQ(trace.ranks.size(), 1U);
  ASSERT_EQ(trace.ranks[0].work.size(), 2U) << "the kernel that ends before it starts is left out";
  EXPECT_EQ(trace.places[0][0].stage, Stage::network_forward);
  EXPECT_TRUE(trace.places[0][1].mapped) << "unknown kernels of a stage's range belong to it";
  EXPECT_EQ(trace.places[0][1].stage, Stage::index_calculation);
  EXPECT_GE(imported->notes.warning_count(), 1);
}

TEST(NsysImport, MergesSeveralFiles) {
  const test::TempDirectory first;
  const test::TempDirectory second;
  const auto imported = import_files(ImportKind::nsys, {old_export(first), old_export(second)}, {},
                                     built_in_kernel_map(), {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->trace->ranks.size(), 2U);
}

struct Kernel {
  std::int64_t pid = 0;
  int device = 0;
  int correlation = 0;
  int thread = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// Kernels with their launches, and a step around all of a thread's.
void write_export(const std::string& path, const std::vector<Kernel>& kernels,
                  std::int64_t utc_ns = 0) {
  Database database = Database::open(path, Database::Open::create).value();
  std::string sql = R"sql(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'ampere_sgemm_64x32'), (2, 'cudaLaunchKernel_v7000');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
      contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
      demangledName INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, globalTid INTEGER);
    CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
  )sql";
  if (utc_ns > 0) {
    sql += fmt::format("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({});", utc_ns);
  }
  for (const Kernel& one : kernels) {
    const std::int64_t pid = one.pid << 24;
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},{},1,7,{},{},1);",
                       one.start, one.end, one.device, one.correlation, pid);
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({},{},{},{},2);",
                       one.start - 5, one.start - 3, pid + one.thread, one.correlation);
    sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES ({},{},'train_step {}',{});", one.start - 9,
                       one.end, one.start / 1000, pid + one.thread);
  }
  const Status made = database.execute(sql);
  EXPECT_TRUE(made) << to_string(made.error());
}

Imported imported_nsys(const std::vector<std::string>& paths,
                       const KernelMap& map = built_in_kernel_map()) {
  auto imported = import_files(ImportKind::nsys, paths, {}, map, {});
  EXPECT_TRUE(imported) << to_string(imported.error());
  return std::move(imported).value();
}

TEST(NsysImport, TakesEachGpuOfOneProcessAsARank) {
  const test::TempDirectory directory;
  const std::string path = directory.file("host.sqlite");
  write_export(path, {{77, 1, 1, 21, 1000, 1100},
                      {77, 0, 2, 20, 1010, 1030},
                      {77, 1, 3, 21, 2000, 2100},
                      {77, 0, 4, 20, 2010, 2030}});
  const Imported imported = imported_nsys({path});
  const ImportedTrace& trace = *imported.trace;
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].work.front().device, 0);
  EXPECT_EQ(trace.ranks[1].work.front().device, 1);
  EXPECT_EQ(trace.ranks[0].calls.size(), 2U);
  ASSERT_EQ(trace.ranks[1].ranges.size(), 2U) << "a range belongs to its thread's device alone";
}

TEST(NsysImport, TakesAStrayContextOnAnotherGpuAsTheSameRank) {
  const test::TempDirectory directory;
  std::vector<Kernel> kernels = {{77, 0, 1, 5, 10, 12}};
  for (int i = 0; i < 30; ++i) kernels.push_back({77, 3, i + 2, 5, 100 + i * 10, 105 + i * 10});
  const std::string path = directory.file("rank.sqlite");
  write_export(path, kernels);
  const Imported imported = imported_nsys({path});
  ASSERT_EQ(imported.trace->ranks.size(), 1U);
  EXPECT_EQ(imported.trace->ranks[0].work.size(), 31U);
}

TEST(NsysImport, NumbersProcessesByTheirGpu) {
  const test::TempDirectory directory;
  const std::string path = directory.file("host.sqlite");
  write_export(path, {{90, 0, 1, 1, 500, 600}, {80, 1, 1, 1, 100, 200}});
  const Imported imported = imported_nsys({path});
  ASSERT_EQ(imported.trace->ranks.size(), 2U);
  EXPECT_EQ(imported.trace->ranks[0].work.front().device, 0);
}

TEST(NsysImport, NumbersFilesByTheNumbersInTheirNames) {
  const test::TempDirectory directory;
  std::vector<std::string> paths;
  for (const char* name : {"report_0.sqlite", "report_10.sqlite", "report_2.sqlite"}) {
    paths.push_back(directory.file(name));
    write_export(paths.back(), {{1, 0, 1, 1, 100, 200}});
  }
  const Imported imported = imported_nsys(paths);
  ASSERT_EQ(imported.trace->ranks.size(), 3U);
  EXPECT_THAT(imported.trace->ranks[1].file, testing::EndsWith("report_2.sqlite"));
  EXPECT_THAT(imported.trace->ranks[2].file, testing::EndsWith("report_10.sqlite"));
}

TEST(NsysImport, AlignsFilesByTheirStartTimes) {
  const test::TempDirectory directory;
  const std::vector<std::string> paths = {directory.file("a_rank0.sqlite"),
                                          directory.file("a_rank1.sqlite")};
  write_export(paths[0], {{1, 0, 1, 1, 100, 200}}, 1'700'000'000'000'000'000);
  write_export(paths[1], {{1, 0, 1, 1, 100, 200}}, 1'700'000'000'000'005'000);
  const Imported imported = imported_nsys(paths);
  ASSERT_EQ(imported.trace->ranks.size(), 2U);
  EXPECT_EQ(imported.trace->ranks[1].work[0].start_ns - imported.trace->ranks[0].work[0].start_ns,
            5000);
}

TEST(NsysImport, OpensADirectoryOfExports) {
  const test::TempDirectory directory;
  write_export(directory.file("a_rank0.sqlite"), {{1, 0, 1, 1, 100, 200}});
  write_export(directory.file("a_rank1.sqlite"), {{1, 0, 1, 1, 100, 200}});
  const std::string folder = std::filesystem::path(directory.file("x")).parent_path().string();
  const auto kind = recognise(folder);
  ASSERT_TRUE(kind);
  EXPECT_EQ(*kind, ImportKind::nsys);
  EXPECT_EQ(imported_nsys({folder}).trace->ranks.size(), 2U);
}

TEST(NsysImport, TakesStepsFromRangesThatTheMapCallsSteps) {
  const test::TempDirectory directory;
  const std::string path = directory.file("steps.sqlite");
  write_export(path, {{1, 0, 1, 1, 1000, 1100}, {1, 0, 2, 1, 2000, 2100}});
  const auto map = parse_kernel_map("range train_step step", "map");
  ASSERT_TRUE(map);
  const Imported imported = imported_nsys({path}, *map);
  ASSERT_EQ(imported.trace->iterations.size(), 2U);
  EXPECT_EQ(imported.trace->iterations[0].index, 1);
  EXPECT_EQ(imported.trace->iterations[1].index, 2);
  EXPECT_EQ(imported.trace->places[0][1].iteration, 2);
}

TEST(NsysImport, KeepsGraphsThatWereTracedAsAWhole) {
  const test::TempDirectory directory;
  const std::string path = directory.file("graphs.sqlite");
  {
    Database database = Database::open(path, Database::Open::create).value();
    ASSERT_TRUE(database.execute(R"sql(
      CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
      CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
        graphId INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 300, 0, 1, 7, 1, 0, 5);
    )sql"));
  }
  const Imported imported = imported_nsys({path});
  ASSERT_EQ(imported.trace->unmapped.size(), 1U);
  EXPECT_EQ(imported.trace->unmapped[0].name, "CUDA graph 5");
  EXPECT_THAT(imported.notes.warnings().front().expected,
              testing::HasSubstr("--cuda-graph-trace=node"));
}

TEST(NsysImport, ReadsARealExport) {
  const std::string path = test_data::shared_path("traces/power_iteration__baseline.sqlite");
  if (!test_data::read_file(path)) GTEST_SKIP() << "absent: " << path;
  ImportNotes notes("nsys");
  const auto traces = read_nsys(path, notes);
  ASSERT_TRUE(traces) << to_string(traces.error());
  ASSERT_EQ(traces->size(), 1U);
  EXPECT_GT(traces->front().work.size(), 100U);
  EXPECT_GT(traces->front().ranges.size(), 0U);
  EXPECT_FALSE(traces->front().device_name.empty());
}

TEST(NsysImport, RefusesOtherDatabases) {
  const test::TempDirectory directory;
  const std::string path = directory.file("other.sqlite");
  Database database = Database::open(path, Database::Open::create).value();
  ASSERT_TRUE(database.execute("CREATE TABLE t (a INTEGER)"));
  database.close();
  ImportNotes notes("nsys");
  const auto traces = read_nsys(path, notes);
  ASSERT_FALSE(traces);
  EXPECT_THAT(traces.error().expected, testing::HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL"));
}

}  // namespace
}  // namespace shardscope::storage
