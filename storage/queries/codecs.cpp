#include "storage/queries/codecs.hpp"

#include <algorithm>
#include <utility>

#include "storage/access.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

std::int64_t not_below_0(const Statement& row, int column) {
  return std::max<std::int64_t>(row.integer(column), 0);
}

}  // namespace

Result<std::vector<CodecTotals>> run_codecs(const Session& session, std::int64_t run) {
  const ReadAccess access(session);
  std::vector<CodecTotals> all;
  const auto read = [&](const Statement& row) {
    const std::int64_t stage = row.integer(0);
    const std::int64_t work = row.integer(1);
    if (stage < 0 || stage >= kStages || work < 0 || work >= kWorks) return;
    all.push_back({static_cast<Stage>(stage), static_cast<Work>(work), row.text(2),
                   not_below_0(row, 3), not_below_0(row, 4), not_below_0(row, 5),
                   not_below_0(row, 6), not_below_0(row, 7), not_below_0(row, 8),
                   not_below_0(row, 9)});
  };
  // Sums in floating point first: a damaged file may hold numbers whose sum is no integer.
  Status done =
      for_each_row(access.database(),
                   "SELECT stage, work, codec, COUNT(DISTINCT iteration), COUNT(DISTINCT rank), "
                   "CAST(TOTAL(chunks) AS INTEGER), CAST(TOTAL(bytes_before) AS INTEGER), "
                   "CAST(TOTAL(bytes_after) AS INTEGER), CAST(TOTAL(encode_ns) AS INTEGER), "
                   "CAST(TOTAL(decode_ns) AS INTEGER) FROM codec_work WHERE run = ? "
                   "GROUP BY stage, work, codec ORDER BY stage, work, codec",
                   read, run);
  if (!done) return fail(done.error());
  return all;
}

}  // namespace shardscope::storage
