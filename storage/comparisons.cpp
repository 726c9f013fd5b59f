#include "storage/comparisons.hpp"

#include <optional>

#include "profiler/clock.hpp"
#include "storage/access.hpp"
#include "storage/sqlite/query.hpp"

namespace shardscope::storage {
namespace {

std::optional<std::int64_t> run_or_null(std::int64_t run) {
  return run != 0 ? std::optional(run) : std::nullopt;
}

}  // namespace

Result<std::int64_t> save_comparison(const Session& session, const ComparisonRecord& c) {
  Result<WriteAccess> access = WriteAccess::begin(session);
  if (!access) return fail(access.error());
  if (Status done = run_once(
          access->database(),
          "INSERT INTO comparisons (run_a, run_b, label_a, label_b, mode, created_utc_ns, ratio, "
          "low, high, confidence, a_ms, b_ms, blocks, looks, dropped_iterations, reason, "
          "stages_json, sentence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          run_or_null(c.run_a), run_or_null(c.run_b), c.label_a, c.label_b, c.mode, utc_ns(),
          c.ratio, c.low, c.high, c.confidence, c.a_ms, c.b_ms, c.blocks, c.looks,
          c.dropped_iterations, c.reason, c.stages_json, c.sentence);
      !done) {
    return fail(done.error());
  }
  const std::int64_t id = access->database().last_insert_id();
  if (Status done = access->commit(); !done) return fail(done.error());
  return id;
}

Result<std::vector<ComparisonRecord>> list_comparisons(const Session& session) {
  const ReadAccess access(session);
  return select(access.database(),
                "SELECT id, run_a, run_b, label_a, label_b, mode, ratio, low, high, confidence, "
                "a_ms, b_ms, blocks, looks, dropped_iterations, reason, stages_json, sentence, "
                "created_utc_ns FROM comparisons ORDER BY id",
                [](const Statement& row) {
                  return ComparisonRecord{.id = row.integer(0),
                                          .run_a = row.integer(1),
                                          .run_b = row.integer(2),
                                          .label_a = row.text(3),
                                          .label_b = row.text(4),
                                          .mode = row.text(5),
                                          .ratio = row.real(6),
                                          .low = row.real(7),
                                          .high = row.real(8),
                                          .confidence = row.real(9),
                                          .a_ms = row.real(10),
                                          .b_ms = row.real(11),
                                          .blocks = row.integer(12),
                                          .looks = row.integer(13),
                                          .dropped_iterations = row.integer(14),
                                          .reason = row.text(15),
                                          .stages_json = row.text(16),
                                          .sentence = row.text(17),
                                          .created_utc_ns = row.integer(18)};
                });
}

}  // namespace shardscope::storage
