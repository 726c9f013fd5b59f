#include "storage/import/kineto/kineto.hpp"

#include "layout/invariant.hpp"
#include "storage/import/trace/trace_stages.hpp"
#include "storage/import/trace/trace_tables.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/import/text_stream.hpp"

// Any text as the trace of two ranks: every span lies in a rank and no time runs backwards.
SHARDSCOPE_FUZZ_TARGET(kineto) {
  shardscope::test::TextStream bytes(std::string(shardscope::fuzz::text_of(input)), 1 << 16);
  shardscope::storage::ImportNotes notes("input");
  auto trace = shardscope::storage::read_kineto(bytes, "input", notes);
  if (!trace) return;
  std::vector<shardscope::storage::RankTrace> ranks;
  ranks.push_back(*trace);
  ranks.push_back(std::move(*trace));
  ranks.back().rank = ranks.front().rank == 1 ? 0 : 1;
  const auto arranged = shardscope::storage::arrange_trace(
      std::move(ranks), shardscope::storage::built_in_kernel_map(), notes);
  for (const shardscope::Span& span : arranged.spans) {
    SHARDSCOPE_CHECK(span.end_ns >= span.start_ns && (span.rank == 0 || span.rank == 1),
                     "a span runs backwards");
  }
}
