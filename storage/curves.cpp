#include "storage/curves.hpp"

#include "storage/access.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {

Status save_curve(const Session& session, std::int64_t run, std::span<const CurvePoint> points) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  for (const CurvePoint& point : points) {
    if (Status done = run_once(
            access->database(), "INSERT OR REPLACE INTO curves VALUES (?, ?, ?, ?, ?, ?, ?)", run,
            point.split, point.iteration, point.samples, point.time_ns, point.loss, point.auc);
        !done) {
      return done;
    }
  }
  return access->commit();
}

Result<std::vector<CurvePoint>> load_curve(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  return select(
      access.database(),
      "SELECT split, iteration, samples, time_ns, loss, auc FROM curves WHERE run = ? "
      "ORDER BY split, iteration",
      [](const Statement& row) {
        return CurvePoint{row.text(0),    row.integer(1), row.integer(2),
                          row.integer(3), row.real(4),    row.real(5)};
      },
      run);
}

}  // namespace shardscope::storage
