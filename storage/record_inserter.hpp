#pragma once
// Turns batches of records into rows. Used by one thread, inside its transactions.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "layout/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/codec_work.hpp"
#include "profiler/span.hpp"
#include "storage/nsys/activity_inserter.hpp"
#include "storage/session_state.hpp"

namespace shardscope::storage {

/// The caller holds the session's mutex and a transaction.
class RecordInserter {
 public:
  explicit RecordInserter(SessionState& state) : state_(state), activities_(state.database) {}

  /// Before the spans of a transaction. A flood of them drops the index on spans, which would halve
  /// the speed; the end of the run builds it again.
  [[nodiscard]] Status expect_spans(std::size_t count);
  [[nodiscard]] Status spans(std::int64_t run, std::span<const Span> batch);
  [[nodiscard]] Status iterations(std::int64_t run, std::span<const Iteration> batch);
  [[nodiscard]] Status activities(std::int64_t run, std::span<const ActivityRecord> batch);
  [[nodiscard]] Status codec_work(std::int64_t run, std::span<const CodecWork> batch);
  /// Counts records that were lost in `place` (recorder | writer). 0 writes nothing.
  [[nodiscard]] Status dropped(std::int64_t run, const char* place, std::int64_t count);

  /// After a rollback: the rows that were made on the way are gone.
  void forget();

 private:
  [[nodiscard]] Status prepare();
  [[nodiscard]] Result<std::int64_t> track_of(std::int64_t run, const Span& span);

  SessionState& state_;
  bool prepared_ = false;
  Statement insert_span_;
  Statement insert_iteration_;
  Statement insert_track_;
  Statement count_spans_;
  Statement insert_codec_work_;
  std::map<std::tuple<std::int64_t, std::int32_t, std::uint8_t>, std::int64_t> tracks_;
  nsys::ActivityInserter activities_;
};

}  // namespace shardscope::storage
