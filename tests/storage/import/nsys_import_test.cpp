#include "storage/import/nsys_import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/import/import_files.hpp"
#include "storage/sqlite/database.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/temp_directory.hpp"

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
