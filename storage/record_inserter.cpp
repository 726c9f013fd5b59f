#include "storage/record_inserter.hpp"

#include <utility>

namespace shardscope::storage {
namespace {

/// Spans in one commit that count as a flood: some 300,000 a second at the usual period.
constexpr std::size_t kFloodSpans = 32'768;

}  // namespace

Status RecordInserter::expect_spans(std::size_t count) {
  if (count < kFloodSpans) return {};
  return state_.database.execute("DROP INDEX IF EXISTS spans_track_start");
}

Status RecordInserter::prepare() {
  if (prepared_) return {};
  const std::pair<Statement*, const char*> statements[] = {
      {&insert_span_, "INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert_iteration_, "INSERT OR REPLACE INTO iterations VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert_track_, "INSERT INTO tracks (run, rank, stream) VALUES (?, ?, ?)"},
      {&count_spans_, "UPDATE tracks SET spans = spans + ? WHERE id = ?"},
      {&insert_codec_work_,
       "INSERT OR REPLACE INTO codec_work VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
  };
  for (const auto& [target, text] : statements) {
    Result<Statement> statement = state_.database.prepare(text);
    if (!statement) return fail(statement.error());
    *target = std::move(*statement);
  }
  prepared_ = true;
  return {};
}

Result<std::int64_t> RecordInserter::track_of(std::int64_t run, const Span& span) {
  const auto key = std::tuple(run, span.rank, span.stream);
  const auto known = tracks_.find(key);
  if (known != tracks_.end()) return known->second;
  if (Status done = insert_track_.run(run, span.rank, std::int64_t{span.stream}); !done) {
    return fail(done.error());
  }
  const std::int64_t track = state_.database.last_insert_id();
  tracks_.emplace(key, track);
  return track;
}

Status RecordInserter::spans(std::int64_t run, std::span<const Span> batch) {
  if (Status done = prepare(); !done) return done;
  for (std::size_t begin = 0; begin < batch.size();) {
    // Batches come ring by ring: one look-up a stretch of the same track.
    const Span& head = batch[begin];
    const Result<std::int64_t> track = track_of(run, head);
    if (!track) return fail(track.error());
    std::size_t end = begin;
    for (; end < batch.size(); ++end) {
      const Span& span = batch[end];
      if (span.rank != head.rank || span.stream != head.stream) break;
      if (Status done = insert_span_.run(*track, span.start_ns, span.end_ns, span.busy_ns,
                                         span.intra_bytes, span.inter_bytes, span.rows,
                                         span.iteration, static_cast<std::int64_t>(span.stage),
                                         static_cast<std::int64_t>(span.work), span.waiting);
          !done) {
        return done;
      }
    }
    if (Status done = count_spans_.run(static_cast<std::int64_t>(end - begin), *track); !done) {
      return done;
    }
    begin = end;
  }
  return {};
}

Status RecordInserter::iterations(std::int64_t run, std::span<const Iteration> batch) {
  if (Status done = prepare(); !done) return done;
  for (const Iteration& iteration : batch) {
    if (Status done = insert_iteration_.run(run, iteration.index, iteration.block,
                                            iteration.start_ns, iteration.end_ns, iteration.warm_up,
                                            iteration.traced, iteration.loss);
        !done) {
      return done;
    }
  }
  return {};
}

Status RecordInserter::activities(std::int64_t run, std::span<const ActivityRecord> batch) {
  return activities_.insert(run, batch);
}

Status RecordInserter::codec_work(std::int64_t run, std::span<const CodecWork> batch) {
  if (Status done = prepare(); !done) return done;
  for (const CodecWork& one : batch) {
    if (Status done = insert_codec_work_.run(
            run, one.iteration, one.rank, static_cast<std::int64_t>(one.stage),
            static_cast<std::int64_t>(one.work), one.codec, one.start_ns, one.encode_ns,
            one.decode_ns, one.chunks, one.bytes_before, one.bytes_after);
        !done) {
      return done;
    }
  }
  return {};
}

Status RecordInserter::dropped(std::int64_t run, const char* place, std::int64_t count) {
  if (count == 0) return {};
  Result<Statement> insert = state_.database.prepare("INSERT INTO dropped VALUES (?, ?, ?)");
  if (!insert) return fail(insert.error());
  return insert->run(run, place, count);
}

void RecordInserter::forget() {
  tracks_.clear();
  activities_.forget();
}

}  // namespace shardscope::storage
