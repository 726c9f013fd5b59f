#pragma once
// Turns activity records into rows of Nsight Systems' tables.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "layout/result.hpp"
#include "profiler/activity.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage::nsys {

/// Used by one thread; the caller holds the session's mutex and a transaction. Tables appear with
/// the first record that needs them. Each (run, rank) is a process of its own, so that correlation
/// ids of different runs and ranks never meet. Calls of the API that are attributed to a stage give
/// a range of that stage in NVTX_EVENTS on the calling thread.
class ActivityInserter {
 public:
  explicit ActivityInserter(Database& database) : database_(database) {}

  [[nodiscard]] Status insert(std::int64_t run, std::span<const ActivityRecord> batch);
  /// After a rollback: tables and rows that were made on the way are gone.
  void forget();

 private:
  [[nodiscard]] Result<Statement*> statement(const char* table, const char* text);
  [[nodiscard]] Result<std::int64_t> string_id(const std::string& text);
  [[nodiscard]] Result<std::int64_t> process_of_rank(std::int64_t run, std::int32_t rank);
  [[nodiscard]] Result<std::int64_t> start_of_run(std::int64_t run);
  [[nodiscard]] Status insert_record(std::int64_t pid, std::int64_t start_ns,
                                     const ActivityRecord& record);
  [[nodiscard]] Status insert_kernel(std::int64_t pid, std::int64_t start_ns,
                                     const ActivityRecord& record);
  [[nodiscard]] Status insert_memory(std::int64_t pid, std::int64_t start_ns,
                                     const ActivityRecord& record);
  [[nodiscard]] Status insert_call(std::int64_t pid, std::int64_t start_ns,
                                   const ActivityRecord& record);
  [[nodiscard]] Status insert_attribution(std::int64_t pid, const ActivityRecord& record);
  [[nodiscard]] Status insert_stage_ranges(std::int64_t run, std::int64_t start_ns,
                                           std::span<const ActivityRecord> batch);
  [[nodiscard]] Status insert_range(std::int64_t run, std::int64_t start_ns,
                                    const ActivityRecord& first, std::int64_t end_ns);

  Database& database_;
  bool created_ = false;
  std::unordered_map<std::string, std::int64_t> strings_;
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> processes_;  ///< (run, rank)
  std::map<std::int64_t, std::int64_t> run_starts_;
  std::map<std::string, Statement, std::less<>> statements_;  ///< by text
};

/// Adds the devices of a run to TARGET_INFO_GPU, those that are not there yet.
[[nodiscard]] Status insert_gpus(Database& database, std::span<const GpuInfo> gpus);

/// globalPid of a rank of a run; made, with its rows in PROCESSES and TARGET_INFO_CUDA_DEVICE, if
/// new.
[[nodiscard]] Result<std::int64_t> intern_process(Database& database, std::int64_t run,
                                                  std::int32_t rank);

/// Id in StringIds; made if new.
[[nodiscard]] Result<std::int64_t> intern_string(Database& database, const std::string& text);

}  // namespace shardscope::storage::nsys
