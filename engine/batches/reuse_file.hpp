#pragma once
// Reuse histograms of production-like batches, as published with Meta's dlrm_datasets.

#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// One batch of the file.
struct ReuseBatch {
  std::string file;            ///< name of the batch
  double mean_reads = 0;       ///< of a distinct row
  std::vector<ReuseBin> bins;  ///< ascending
};

/// Reads {"batches": [{"file", "avg_reuse", "unique_rows_frac_by_reuse": {"(0,1]": share, ...},
/// "index_frac_by_reuse": {...}}]}; other fields are ignored. `place` is named in errors.
///
/// Published shares are rounded to 0.001, which hides the heavy tail (0.0 of the rows, a tenth of
/// the reads). A share below 0.01 is therefore computed from the bin's share of the reads and the
/// mean reads inside the bin (reuse_classes), kept within the rounding of the published share.
[[nodiscard]] Result<std::vector<ReuseBatch>> reuse_batches_from_json(std::string_view text,
                                                                      const std::string& place);

}  // namespace shardscope::engine
