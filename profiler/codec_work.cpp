#include "profiler/codec_work.hpp"

#include <algorithm>

namespace shardscope {

namespace {

double per(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(count, 1));
}

}  // namespace

double CodecTotals::ratio() const {
  return bytes_after > 0 ? per(bytes_before, bytes_after) : 0;
}

double CodecTotals::encode_ms() const {
  return per(encode_ns, iterations) / static_cast<double>(std::max<std::int64_t>(ranks, 1)) * 1e-6;
}

double CodecTotals::decode_ms() const {
  return per(decode_ns, iterations) / static_cast<double>(std::max<std::int64_t>(ranks, 1)) * 1e-6;
}

double CodecTotals::before_per_iteration() const {
  return per(bytes_before, iterations);
}

double CodecTotals::after_per_iteration() const {
  return per(bytes_after, iterations);
}

void CodecSum::add(const CodecWork& work) {
  Entry& entry = entries_[{work.stage, work.work, work.codec}];
  entry.totals.chunks += work.chunks;
  entry.totals.bytes_before += work.bytes_before;
  entry.totals.bytes_after += work.bytes_after;
  entry.totals.encode_ns += work.encode_ns;
  entry.totals.decode_ns += work.decode_ns;
  entry.iterations.insert(work.iteration);
  entry.ranks.insert(work.rank);
}

std::vector<CodecTotals> CodecSum::totals() const {
  std::vector<CodecTotals> all;
  for (const auto& [key, entry] : entries_) {
    CodecTotals& totals = all.emplace_back(entry.totals);
    std::tie(totals.stage, totals.work, totals.codec) = key;
    totals.iterations = static_cast<std::int64_t>(entry.iterations.size());
    totals.ranks = static_cast<std::int64_t>(entry.ranks.size());
  }
  return all;
}

}  // namespace shardscope
