#include "storage/import/nsys_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "storage/import/nsys_devices.hpp"
#include "storage/nsys/values.hpp"
#include "storage/sqlite/database.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kLastPlausibleNs = std::int64_t{1} << 60;
constexpr std::int32_t kMostProcessRanks = 65536;
constexpr std::int64_t kMostCopyBytes = std::int64_t{1} << 50;

/// Reads one file; every query names only columns that the file has.
class NsysReader {
 public:
  NsysReader(Database& database, const std::string& path, ImportNotes& notes)
      : database_(database), path_(path), notes_(notes), devices_(path) {}

  Result<std::vector<RankTrace>> read() {
    if (Status done = read_tables(); !done) return fail(done.error());
    if (!columns_.contains("CUPTI_ACTIVITY_KIND_KERNEL") &&
        !columns_.contains("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) {
      return fail({ErrorKind::usage, "the database has no GPU activity", path_,
                   "the table CUPTI_ACTIVITY_KIND_KERNEL of 'nsys export --type sqlite'",
                   "Profile with --trace=cuda,nvtx"});
    }
    Status done = read_strings();
    if (done) done = read_kernels();
    if (done) done = read_graphs();
    if (done) done = read_memory("CUPTI_ACTIVITY_KIND_MEMCPY", ActivityRecord::Kind::memcpy);
    if (done) done = read_memory("CUPTI_ACTIVITY_KIND_MEMSET", ActivityRecord::Kind::memset);
    devices_.settle();
    if (done) done = read_ranks();
    if (done) done = read_calls();
    if (done) done = read_ranges();
    if (!done) return fail(done.error());
    return traces();
  }

 private:
  using Columns = std::set<std::string>;

  Status read_tables() {
    const auto tables = select(database_, "SELECT name FROM sqlite_master WHERE type = 'table'",
                               [](const Statement& row) { return row.text(0); });
    if (!tables) return fail(tables.error());
    for (const std::string& table : *tables) {
      const auto names = select(
          database_, "SELECT name FROM pragma_table_info(?)",
          [](const Statement& row) { return row.text(0); }, table);
      if (!names) return fail(names.error());
      columns_[table] = Columns(names->begin(), names->end());
    }
    return {};
  }

  [[nodiscard]] bool has(const std::string& table, const char* column) const {
    const auto found = columns_.find(table);
    return found != columns_.end() && found->second.contains(column);
  }

  /// The first of the columns that the table has, else the constant.
  [[nodiscard]] std::string column(const std::string& table, std::vector<const char*> names,
                                   const char* otherwise = "0") const {
    for (const char* name : names) {
      if (has(table, name)) return fmt::format("\"{}\"", name);
    }
    return otherwise;
  }

  Status read_strings() {
    if (!columns_.contains("StringIds")) {
      notes_.warn(0, "the file has no StringIds: kernels have no names", "the table StringIds");
      return {};
    }
    return for_each_row(database_, "SELECT id, value FROM StringIds", [&](const Statement& row) {
      strings_.emplace(row.integer(0), row.text(1));
    });
  }

  [[nodiscard]] std::string string_of(std::int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? fmt::format("string {}", id) : found->second;
  }

  /// A row's times; false for those that cannot be (also kernels whose stamps were lost).
  bool times(const Statement& row, std::int64_t& start, std::int64_t& end) {
    start = row.integer(0);
    end = row.integer(1);
    const bool sound = start >= -kLastPlausibleNs && end <= kLastPlausibleNs && end >= start;
    if (!sound) ++unsound_;
    return sound;
  }

  Status read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!columns_.contains(table)) return {};
    const auto of = [&](std::vector<const char*> names) { return column(table, std::move(names)); };
    const std::string sql = fmt::format(
        "SELECT {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {} FROM {}",
        of({"start"}), of({"end"}), of({"deviceId"}), of({"contextId"}), of({"streamId"}),
        of({"correlationId"}), of({"globalPid"}), of({"demangledName", "shortName", "name"}),
        of({"gridX"}), of({"gridY"}), of({"gridZ"}), of({"blockX"}), of({"blockY"}), of({"blockZ"}),
        of({"registersPerThread"}), of({"dynamicSharedMemory"}), table);
    return for_each_row(database_, sql, [&](const Statement& row) {
      GpuWork work;
      if (!times(row, work.start_ns, work.end_ns)) return;
      work.device = row.integer32(2);
      work.context = row.integer32(3);
      work.stream = row.integer32(4);
      work.correlation = static_cast<std::uint32_t>(row.integer(5));
      for (int i = 0; i < 3; ++i) {
        work.grid[static_cast<std::size_t>(i)] = row.integer32(8 + i);
        work.block[static_cast<std::size_t>(i)] = row.integer32(11 + i);
      }
      work.registers = row.integer32(14);
      work.shared_bytes = row.integer32(15);
      RankTrace& trace = devices_.device(row.integer(6), work.device);
      work.name = trace.names.id(string_of(row.integer(7)));
      ++trace.events;
      trace.work.push_back(work);
    });
  }

  Status read_memory(const std::string& table, ActivityRecord::Kind kind) {
    if (!columns_.contains(table)) return {};
    const bool copy = kind == ActivityRecord::Kind::memcpy;
    const auto of = [&](std::vector<const char*> names) { return column(table, std::move(names)); };
    const std::string sql = fmt::format(
        "SELECT {}, {}, {}, {}, {}, {}, {}, {}, {} FROM {}", of({"start"}), of({"end"}),
        of({"deviceId"}), of({"contextId"}), of({"streamId"}), of({"correlationId"}),
        of({"globalPid"}), of({"bytes"}), copy ? of({"copyKind"}) : of({"value"}), table);
    return for_each_row(database_, sql, [&](const Statement& row) {
      GpuWork work;
      if (!times(row, work.start_ns, work.end_ns)) return;
      work.kind = kind;
      work.device = row.integer32(2);
      work.context = row.integer32(3);
      work.stream = row.integer32(4);
      work.correlation = static_cast<std::uint32_t>(row.integer(5));
      work.bytes = std::clamp<std::int64_t>(row.integer(7), 0, kMostCopyBytes);
      work.detail = row.integer32(8);
      RankTrace& trace = devices_.device(row.integer(6), work.device);
      work.name = trace.names.id(copy ? "Memcpy" : "Memset");
      ++trace.events;
      trace.work.push_back(work);
    });
  }

  /// Launches of whole graphs, where their kernels were not traced one by one.
  Status read_graphs() {
    const std::string table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if (!columns_.contains(table)) return {};
    const auto of = [&](std::vector<const char*> names) { return column(table, std::move(names)); };
    const std::string sql =
        fmt::format("SELECT {}, {}, {}, {}, {}, {}, {}, {} FROM {}", of({"start"}), of({"end"}),
                    of({"deviceId"}), of({"contextId"}), of({"streamId"}), of({"correlationId"}),
                    of({"globalPid"}), of({"graphId"}), table);
    std::int64_t launches = 0;
    const Status done = for_each_row(database_, sql, [&](const Statement& row) {
      GpuWork work;
      if (!times(row, work.start_ns, work.end_ns)) return;
      work.device = row.integer32(2);
      work.context = row.integer32(3);
      work.stream = row.integer32(4);
      work.correlation = static_cast<std::uint32_t>(row.integer(5));
      RankTrace& trace = devices_.device(row.integer(6), work.device);
      work.name = trace.names.id(fmt::format("CUDA graph {}", row.integer(7)));
      ++trace.events;
      ++launches;
      trace.work.push_back(work);
    });
    if (done && launches > 0) {
      notes_.warn(
          0,
          fmt::format("{} launches of CUDA graphs were traced as a whole: their kernels are "
                      "not in the file",
                      launches),
          "nsys profile --cuda-graph-trace=node");
    }
    return done;
  }

  /// Processes that are named "... rank N".
  Status read_ranks() {
    if (!has("PROCESSES", "globalPid") || !has("PROCESSES", "name")) return {};
    return for_each_row(
        database_, "SELECT globalPid, name FROM PROCESSES", [&](const Statement& row) {
          constexpr std::string_view kRank = "rank ";
          const std::string name = row.text(1);
          const std::size_t at = name.rfind(kRank);
          if (at == std::string::npos) return;
          std::int32_t rank = -1;
          std::from_chars(name.data() + at + kRank.size(), name.data() + name.size(), rank);
          if (rank >= 0 && rank < kMostProcessRanks) devices_.set_rank(row.integer(0), rank);
        });
  }

  Status read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!columns_.contains(table)) return {};
    const std::string sql =
        fmt::format("SELECT {}, {}, {}, {}, {} FROM {}", column(table, {"start"}),
                    column(table, {"end"}), column(table, {"globalTid"}),
                    column(table, {"correlationId"}), column(table, {"nameId"}), table);
    return for_each_row(database_, sql, [&](const Statement& row) {
      CpuRange call;
      if (!times(row, call.start_ns, call.end_ns)) return;
      call.thread = static_cast<std::int32_t>(row.integer(2) & 0xffffff);
      call.correlation = static_cast<std::uint32_t>(row.integer(3));
      devices_.add_call(row.integer(2), call, string_of(row.integer(4)));
    });
  }

  /// Push/pop and start/end ranges; their text is inline or in StringIds.
  Status read_ranges() {
    const std::string table = "NVTX_EVENTS";
    if (!columns_.contains(table)) return {};
    const std::string sql =
        fmt::format("SELECT {}, {}, {}, {}, {} FROM {} WHERE {} IS NOT NULL",
                    column(table, {"start"}), column(table, {"end"}, "NULL"),
                    column(table, {"globalTid"}), column(table, {"text"}, "NULL"),
                    column(table, {"textId"}, "NULL"), table, column(table, {"end"}, "NULL"));
    return for_each_row(database_, sql, [&](const Statement& row) {
      CpuRange range;
      if (!times(row, range.start_ns, range.end_ns)) return;
      range.thread = static_cast<std::int32_t>(row.integer(2) & 0xffffff);
      const std::string text = !row.is_null(3)   ? row.text(3)
                               : !row.is_null(4) ? string_of(row.integer(4))
                                                 : std::string();
      devices_.add_range(row.integer(2), range, text);
    });
  }
  Result<std::vector<RankTrace>> traces() {
    std::string device;
    if (has("TARGET_INFO_GPU", "name")) {
      const auto name = database_.text("SELECT name FROM TARGET_INFO_GPU ORDER BY id LIMIT 1");
      if (name) device = *name;
    }
    std::int64_t clock = 0;
    if (has("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) {
      const auto start =
          database_.integer("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
      if (start && *start > 0 && *start < kLastPlausibleNs * 2) clock = *start;
    }
    if (unsound_ > 0) {
      notes_.warn(0, fmt::format("{} records have impossible times and are left out", unsound_),
                  "start <= end");
    }
    std::vector<RankTrace> ranks = devices_.take();
    for (RankTrace& trace : ranks) {
      trace.device_name = device;
      trace.clock_utc_ns = clock;
    }
    return ranks;
  }

  Database& database_;
  std::string path_;
  ImportNotes& notes_;
  std::map<std::string, Columns> columns_;
  std::map<std::int64_t, std::string> strings_;
  NsysDevices devices_;
  std::int64_t unsound_ = 0;
};

}  // namespace

Result<std::vector<RankTrace>> read_nsys(const std::string& path, ImportNotes& notes) {
  auto database = Database::open(path, Database::Open::read_only);
  if (!database) return fail(database.error());
  // A damaged file that is not ours is an input like any other that cannot be read.
  if (const auto tables = database->integer("SELECT count(*) FROM sqlite_master"); !tables) {
    return fail({ErrorKind::usage, "the database cannot be read (" + tables.error().what + ")",
                 path, "a session, or an export of Nsight Systems", "Export the trace again"});
  }
  return NsysReader(*database, path, notes).read();
}

}  // namespace shardscope::storage
