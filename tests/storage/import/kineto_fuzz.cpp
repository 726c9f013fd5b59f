#include "storage/import/kineto.hpp"

#include <algorithm>
#include <cstring>

#include "layout/invariant.hpp"
#include "storage/import/trace_stages.hpp"
#include "storage/import/trace_tables.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

class FuzzedBytes : public shardscope::storage::ByteStream {
 public:
  explicit FuzzedBytes(std::string_view text) : text_(text) {}
  shardscope::Result<std::size_t> read(char* out, std::size_t bytes) override {
    const std::size_t count = std::min(bytes, text_.size() - at_);
    std::memcpy(out, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

// Any text as the trace of two ranks: every span lies in a rank and no time runs backwards.
SHARDSCOPE_FUZZ_TARGET(kineto) {
  FuzzedBytes bytes(shardscope::fuzz::text_of(input));
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
