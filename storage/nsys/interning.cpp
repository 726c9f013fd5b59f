#include <fmt/format.h>

#include <optional>

#include "storage/nsys/activity_inserter.hpp"
#include "storage/nsys/schema.hpp"
#include "storage/nsys/values.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage::nsys {
namespace {

/// First column of the only row, if there is one.
template <class... Values>
Result<std::optional<std::int64_t>> find_one(Database& database, std::string_view sql,
                                             const Values&... values) {
  const auto rows = select(
      database, sql, [](const Statement& row) { return row.integer(0); }, values...);
  if (!rows) return fail(rows.error());
  return rows->empty() ? std::nullopt : std::optional(rows->front());
}

/// 0 stands for unknown in GpuInfo, NULL in the table.
std::optional<std::int64_t> known(std::int64_t value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

Status insert_gpus(Database& database, std::span<const GpuInfo> gpus) {
  if (gpus.empty()) return {};
  if (Status done = create_common_tables(database); !done) return done;
  for (const GpuInfo& gpu : gpus) {
    const auto there =
        find_one(database, "SELECT count(*) FROM TARGET_INFO_GPU WHERE id = ? AND uuid IS ?",
                 gpu.id, gpu.uuid);
    if (!there) return fail(there.error());
    if (there->value_or(0) > 0) continue;
    if (Status done = run_once(
            database,
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, l2CacheSize, "
            "totalMemory, memoryBandwidth, clockRate, smCount, uuid, cuDevice, computeMajor, "
            "computeMinor, smMajor, smMinor) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?)",
            kVirtualMachine, gpu.id, gpu.name, gpu.bus, known(gpu.l2_bytes),
            known(gpu.memory_bytes), known(gpu.memory_bytes_per_s), known(gpu.clock_hz),
            known(gpu.multiprocessors), gpu.uuid, gpu.id, known(gpu.compute_major),
            gpu.compute_minor, known(gpu.compute_major), gpu.compute_minor);
        !done) {
      return done;
    }
  }
  return {};
}

Result<std::int64_t> intern_process(Database& database, std::int64_t run, std::int32_t rank) {
  const auto there = find_one(
      database, "SELECT global_pid FROM run_processes WHERE run = ? AND rank = ?", run, rank);
  if (!there) return fail(there.error());
  if (*there) return **there;
  const auto last = find_one(database, "SELECT count(*) FROM run_processes");
  if (!last) return fail(last.error());
  // Numbers of our own: real ones come again, and several ranks may share one.
  const std::int64_t process = last->value_or(0) + 1;
  const std::int64_t pid = global_pid(process);
  if (Status done =
          run_once(database, "INSERT INTO run_processes VALUES (?, ?, ?)", run, rank, pid);
      !done) {
    return fail(done.error());
  }
  if (Status done = run_once(database, "INSERT INTO PROCESSES VALUES (?, ?, ?)", pid, process,
                             fmt::format("run {} rank {}", run, rank));
      !done) {
    return fail(done.error());
  }
  if (Status done = run_once(database,
                             "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid, "
                             "numMultiprocessors) SELECT id, cuDevice, ?, uuid, smCount FROM "
                             "TARGET_INFO_GPU",
                             process);
      !done) {
    return fail(done.error());
  }
  return pid;
}

Result<std::int64_t> intern_string(Database& database, const std::string& text) {
  // No index over the values, as in the original: the inserter keeps the ids it has seen.
  const auto there = find_one(database, "SELECT id FROM StringIds WHERE value = ?", text);
  if (!there) return fail(there.error());
  if (*there) return **there;
  if (Status done = run_once(database, "INSERT INTO StringIds (value) VALUES (?)", text); !done) {
    return fail(done.error());
  }
  return database.last_insert_id();
}

}  // namespace shardscope::storage::nsys
