#pragma once
// What exchanges reach by message size, from nccl-tests' output and from traces.

#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/trace_stages.hpp"

namespace shardscope::storage {

struct ExchangeCurve {
  std::int32_t ranks = 0;               ///< that took part; 0: not told
  std::vector<BandwidthPoint> by_size;  ///< ascending; message: bytes between two ranks
  std::int64_t samples = 0;
};

/// The table that alltoall_perf (or another of nccl-tests) prints: size, ..., time (us). `ranks` is
/// taken where the output does not list them.
[[nodiscard]] Result<ExchangeCurve> read_nccl_tests(std::string_view text, std::int32_t ranks,
                                                    ImportNotes& notes);

/// From the collectives of a trace that are not all-reduces and whose size is known, waiting taken
/// out: the median rate of each power of two.
[[nodiscard]] ExchangeCurve exchange_curve(const ImportedTrace& trace);

}  // namespace shardscope::storage
