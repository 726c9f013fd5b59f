#pragma once
// What codecs did inside the exchanges of a run, and its sums. Plain values.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "layout/schedule.hpp"

namespace shardscope {

/// One codec in one stage of one rank and iteration. Chunks of several codecs may alternate in a
/// message, so times are sums over the codec's chunks.
struct CodecWork {
  std::int32_t iteration = 0;
  std::int32_t rank = 0;
  Stage stage = Stage::network_forward;
  Work work = Work::RB;
  std::string codec;
  std::int64_t start_ns = 0;   ///< of the first chunk's encoding, since the run's start; of the
                               ///< iteration where times are modelled
  std::int64_t encode_ns = 0;  ///< of what the rank sends
  std::int64_t decode_ns = 0;  ///< of what it receives
  std::int64_t chunks = 0;     ///< sent
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;  ///< with headers and chunk sizes

  friend bool operator==(const CodecWork&, const CodecWork&) = default;
};

/// Sums over ranks and iterations of one codec in one stage and cluster.
struct CodecTotals {
  Stage stage = Stage::network_forward;
  Work work = Work::RB;
  std::string codec;
  std::int64_t iterations = 0;  ///< that it occurs in
  std::int64_t ranks = 0;
  std::int64_t chunks = 0;
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;
  std::int64_t encode_ns = 0;
  std::int64_t decode_ns = 0;

  /// Bytes of the values per byte sent; 0 where nothing was sent.
  [[nodiscard]] double ratio() const;
  /// Mean of one rank in one iteration.
  [[nodiscard]] double encode_ms() const;
  [[nodiscard]] double decode_ms() const;
  /// All ranks together, an iteration.
  [[nodiscard]] double before_per_iteration() const;
  [[nodiscard]] double after_per_iteration() const;

  friend bool operator==(const CodecTotals&, const CodecTotals&) = default;
};

class CodecSum {
 public:
  void add(const CodecWork& work);
  /// Ordered by stage, work, codec.
  [[nodiscard]] std::vector<CodecTotals> totals() const;

 private:
  struct Entry {
    CodecTotals totals;
    std::set<std::int32_t> iterations, ranks;
  };
  std::map<std::tuple<Stage, Work, std::string>, Entry> entries_;
};

}  // namespace shardscope
