#pragma once
// The tables that nccl-tests (all_reduce_perf, alltoall_perf, ...) print.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "planner/calibration.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {

/// One test of the output: one collective over its sizes.
struct NcclTest {
  std::string collective;             ///< all_reduce, alltoall, all_gather, reduce_scatter, ...
  std::int32_t ranks = 0;             ///< that took part
  std::int32_t hosts = 0;             ///< of different names; 0: not listed
  std::vector<CollectiveTime> times;  ///< ascending sizes, once each (median of repeats)
};

/// Reads the output as it stands in logs: with prefixes before the lines, several tests one after
/// the other, with or without headers, older columns, cut off. `ranks` is taken where the output
/// lists none (0: then such a test is an error); `name` (the file's) tells the collective where the
/// output does not. Out-of-place times count. An error where there is no line of figures at all.
[[nodiscard]] Result<std::vector<NcclTest>> read_nccl_tests(std::string_view text,
                                                            std::int32_t ranks,
                                                            std::string_view name,
                                                            ImportNotes& notes);

}  // namespace shardscope::storage
