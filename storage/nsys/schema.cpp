#include "storage/nsys/schema.hpp"

#include <fmt/format.h>

#include <array>

#include "layout/invariant.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage::nsys {
namespace {

constexpr std::array kCommonTables = {
    TableText{"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"},
    TableText{"ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER"},
    TableText{"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"},
    TableText{"ANALYSIS_DETAILS",
              "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, "
              "stopTime INTEGER NOT NULL"},
    TableText{"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"},
    TableText{"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"},
    TableText{"TARGET_INFO_SYSTEM_ENV",
              "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, "
              "nameEnum INTEGER NOT NULL, value TEXT NOT NULL"},
    TableText{"TARGET_INFO_GPU",
              "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, "
              "isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, "
              "memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, "
              "uuid TEXT, luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, "
              "ctrlDevPath TEXT, revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, "
              "maxIPC INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, "
              "maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, "
              "threadsPerWarp INTEGER, asyncEngines INTEGER, maxWarpsPerSm INTEGER, "
              "maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, "
              "maxBlockDimY INTEGER, maxBlockDimZ INTEGER, maxGridDimX INTEGER, "
              "maxGridDimY INTEGER, maxGridDimZ INTEGER, computeMajor INTEGER, "
              "computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER"},
    TableText{"TARGET_INFO_CUDA_DEVICE",
              "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, "
              "numMultiprocessors INTEGER"},
    TableText{"TARGET_INFO_CUDA_CONTEXT_INFO",
              "nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, "
              "processId INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
              "parentContextId INTEGER, isGreenContext INTEGER"},
};

constexpr std::array kActivityTables = {
    TableText{"CUPTI_ACTIVITY_KIND_KERNEL",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
              "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
              "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
              "shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
              "cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, "
              "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, "
              "blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
              "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
              "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, "
              "gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
              "sharedMemoryLimitConfig INTEGER"},
    TableText{"CUPTI_ACTIVITY_KIND_MEMCPY",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
              "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
              "correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, "
              "copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, "
              "dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, "
              "dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, "
              "virtualAddress INTEGER, copyCount INTEGER"},
    TableText{"CUPTI_ACTIVITY_KIND_MEMSET",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
              "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
              "correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, "
              "bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER"},
    TableText{"CUPTI_ACTIVITY_KIND_RUNTIME",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
              "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, "
              "returnValue INTEGER NOT NULL, callchainId INTEGER"},
    TableText{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
              "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
              "correlationId INTEGER, globalPid INTEGER, deprecatedSyncType INTEGER, "
              "syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER"},
    TableText{"CUPTI_ACTIVITY_KIND_OVERHEAD",
              "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, "
              "globalTid INTEGER, correlationId INTEGER, nameId INTEGER, overheadType INTEGER"},
    TableText{"NVTX_EVENTS",
              "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
              "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "
              "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
              "int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, "
              "floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT"},
};

Status create_table(Database& database, const TableText& table) {
  return database.execute(
      fmt::format("CREATE TABLE IF NOT EXISTS {} ({})", table.name, table.columns));
}

Status fill_enum(Database& database, const EnumTable& table) {
  if (Status done = create_table(
          database, {table.name, "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT"});
      !done) {
    return done;
  }
  Result<Statement> insert =
      database.prepare(fmt::format("INSERT OR IGNORE INTO {} VALUES (?, ?, ?)", table.name));
  if (!insert) return fail(insert.error());
  for (const EnumValue& value : table.values) {
    if (Status done = insert->run(value.id, value.name, value.label); !done) return done;
  }
  return {};
}

Status fill_meta_data(Database& database) {
  const Result<std::int64_t> rows = database.integer("SELECT count(*) FROM META_DATA_EXPORT");
  if (!rows) return fail(rows.error());
  if (*rows > 0) return {};
  const std::pair<const char*, std::string_view> facts[] = {
      {"EXPORT_PRODUCT_NAME", "Shardscope"}, {"EXPORT_SCHEMA_VERSION", kSchemaVersion},
      {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},  {"EXPORT_SCHEMA_VERSION_MINOR", "16"},
      {"EXPORT_SCHEMA_VERSION_MICRO", "1"},  {"EXPORT_PARAM_LAZY", "true"},
  };
  for (const auto& [name, value] : facts) {
    if (Status done = run_once(database, "INSERT INTO META_DATA_EXPORT VALUES (?, ?)", name, value);
        !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

std::span<const TableText> common_tables() {
  return kCommonTables;
}
std::span<const TableText> activity_tables() {
  return kActivityTables;
}

Status create_common_tables(Database& database) {
  for (const TableText& table : kCommonTables) {
    if (Status done = create_table(database, table); !done) return done;
  }
  for (const EnumTable& table : enum_tables()) {
    if (Status done = fill_enum(database, table); !done) return done;
  }
  return fill_meta_data(database);
}

Status create_activity_table(Database& database, std::string_view name) {
  for (const TableText& table : kActivityTables) {
    if (name == table.name) return create_table(database, table);
  }
  invariant_failed("name", __FILE__, __LINE__, "no activity table has that name");
}

}  // namespace shardscope::storage::nsys
