#include "storage/queries/activities.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "storage/access.hpp"
#include "storage/run_scan.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kCallsBefore = 10'000'000'000;
constexpr std::int64_t kProcessMask = ~std::int64_t{0xffffff};  ///< of a globalTid

/// A call's process and correlation, and what it launched.
using Launches = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>>;

Result<std::set<std::string>> tables_of(Database& database) {
  const auto names = select(
      database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'CUPTI_%'",
      [](const Statement& row) { return row.text(0); });
  if (!names) return fail(names.error());
  return std::set<std::string>(names->begin(), names->end());
}

class Reader {
 public:
  Reader(Database& database, std::int64_t run, std::int64_t origin)
      : database_(database), run_(run), origin_(origin) {}

  Status kernels(std::int64_t begin, std::int64_t end, std::int64_t limit) {
    return for_each_row(
        database_,
        "SELECT p.rank, k.start, k.end, s.value, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, "
        "k.blockZ, k.globalPid, k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
        "run_processes p ON p.global_pid = k.globalPid AND p.run = ? LEFT JOIN StringIds s ON "
        "s.id = k.demangledName WHERE k.start < ? AND k.end > ? LIMIT ?",
        [&](const Statement& row) {
          DeviceWork work = read(row);
          work.name = row.text(3);
          for (int i = 0; i < 3; ++i) {
            work.grid[static_cast<std::size_t>(i)] = row.integer32(4 + i);
            work.block[static_cast<std::size_t>(i)] = row.integer32(7 + i);
          }
          keep(std::move(work), row.integer(10), row.integer(11));
        },
        run_, end + origin_, begin + origin_, limit);
  }

  Status copies(std::int64_t begin, std::int64_t end, std::int64_t limit) {
    return for_each_row(
        database_,
        "SELECT p.rank, k.start, k.end, k.bytes, k.globalPid, k.correlationId FROM "
        "CUPTI_ACTIVITY_KIND_MEMCPY k JOIN run_processes p ON p.global_pid = k.globalPid AND "
        "p.run = ? WHERE k.start < ? AND k.end > ? LIMIT ?",
        [&](const Statement& row) {
          DeviceWork work = read(row);
          work.name = "copy";
          work.bytes = row.integer(3);
          keep(std::move(work), row.integer(4), row.integer(5));
        },
        run_, end + origin_, begin + origin_, limit);
  }

  Status calls(std::int64_t begin, std::int64_t end) {
    return for_each_row(
        database_,
        "SELECT r.globalTid, r.correlationId, r.start, r.end, s.value FROM "
        "CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = r.nameId WHERE "
        "r.start < ? AND r.start >= ?",
        [&](const Statement& row) {
          const auto found = launches_.find({row.integer(0) & kProcessMask, row.integer(1)});
          if (found == launches_.end()) return;
          for (const std::size_t index : found->second) {
            works_[index].call = {row.text(4), relative(row.integer(2)), relative(row.integer(3))};
          }
        },
        end + origin_, std::max(begin, kCallsBefore) - kCallsBefore + origin_);
  }

  [[nodiscard]] std::vector<DeviceWork> take() {
    std::sort(works_.begin(), works_.end(), [](const DeviceWork& a, const DeviceWork& b) {
      return std::tuple(a.rank, a.start_ns, a.end_ns) < std::tuple(b.rank, b.start_ns, b.end_ns);
    });
    return std::move(works_);
  }

 private:
  /// Times of other programs' files may be anything.
  [[nodiscard]] std::int64_t relative(std::int64_t ns) const { return limited_time(ns) - origin_; }
  [[nodiscard]] DeviceWork read(const Statement& row) const {
    DeviceWork work;
    work.rank = row.integer32(0);
    work.start_ns = relative(row.integer(1));
    work.end_ns = std::max(work.start_ns, relative(row.integer(2)));
    return work;
  }
  void keep(DeviceWork work, std::int64_t process, std::int64_t correlation) {
    launches_[{process, correlation}].push_back(works_.size());
    works_.push_back(std::move(work));
  }

  Database& database_;
  std::int64_t run_;
  std::int64_t origin_;
  std::vector<DeviceWork> works_;
  Launches launches_;
};

}  // namespace

Result<std::vector<DeviceWork>> device_work(const Session& session, std::int64_t run,
                                            std::int64_t begin_ns, std::int64_t end_ns,
                                            std::int64_t limit) {
  begin_ns = limited_time(begin_ns);
  end_ns = std::max(begin_ns, limited_time(end_ns));
  const ReadAccess access(session);
  Database& database = access.database();
  const auto tables = tables_of(database);
  if (!tables) return fail(tables.error());
  const auto starts = select(
      database, "SELECT start_ns FROM runs WHERE id = ?",
      [](const Statement& row) { return row.integer(0); }, run);
  if (!starts) return fail(starts.error());
  if (starts->empty()) return std::vector<DeviceWork>{};
  Reader reader(database, run, limited_time(starts->front()));
  Status done;
  if (tables->contains("CUPTI_ACTIVITY_KIND_KERNEL"))
    done = reader.kernels(begin_ns, end_ns, limit);
  if (done && tables->contains("CUPTI_ACTIVITY_KIND_MEMCPY")) {
    done = reader.copies(begin_ns, end_ns, limit);
  }
  if (done && tables->contains("CUPTI_ACTIVITY_KIND_RUNTIME"))
    done = reader.calls(begin_ns, end_ns);
  if (!done) return fail(done.error());
  std::vector<DeviceWork> works = reader.take();
  if (static_cast<std::int64_t>(works.size()) > limit)
    works.resize(static_cast<std::size_t>(limit));
  return works;
}

}  // namespace shardscope::storage
