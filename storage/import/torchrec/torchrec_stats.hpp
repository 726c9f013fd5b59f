#pragma once
// The report that TorchRec's planner prints: a box of '#' with a line a rank and a line a table, as
// it is pasted from logs (prefixes, wrapped lines, cut ends, older columns), and its table section
// as CSV.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/imported_plan.hpp"

namespace shardscope::storage {

/// Milliseconds as printed: total (forward compute, forward comms, backward compute, backward
/// comms, prefetch). NaN where the line does not give them.
struct StatsPerf {
  double total_ms = 0;
  std::array<double, 5> parts_ms{};
};

struct StatsRank {
  std::int32_t rank = 0;
  double hbm_gib = 0;
  double ddr_gib = 0;
  StatsPerf perf;
  double input_mb = 0;
  double output_mb = 0;
  std::string shards;  ///< "CW: 3 RW: 2"
};

struct StatsTable {
  std::string fqn;
  std::string sharding;  ///< as printed: "CW", "column_wise"
  std::string kernel;
  StatsPerf perf;  ///< sum over the table's shards
  double hbm_gib = 0;
  double ddr_gib = 0;
  double ssd_gib = 0;
  double cache_load_factor = -1;  ///< -1: none
  double sum_pooling = 1;         ///< over features
  double sum_num_poolings = 1;    ///< over features
  double num_indices = -1;        ///< ids a sample; -1: not given
  bool pooled = true;
  bool weighted = false;
  std::int32_t features = 1;
  std::int64_t dim = 0;
  std::int64_t column_width = 0;  ///< 0: not given
  std::int64_t rows = 0;
  std::vector<std::int32_t> ranks;  ///< one a shard, repeated where shards share a rank
  std::int64_t line = 0;
  std::int32_t element_bytes = 0;  ///< 0: not given (CSV only)
};

struct TorchrecStats {
  std::vector<StatsRank> ranks;
  std::vector<StatsTable> tables;
  std::int64_t batch_per_rank = 0;  ///< 0: not printed
  double planning_hbm_gib = 0;      ///< a rank's memory for tables; 0: not printed
  double reserved_hbm_gib = 0;
  double dense_hbm_gib = 0;
  double kjt_hbm_gib = 0;
  std::vector<std::pair<std::string, std::string>> facts;  ///< summary lines, as printed
};

/// At least one line of a rank or of a table, else an error.
[[nodiscard]] Result<TorchrecStats> read_torchrec_stats(std::string_view text, ImportNotes& notes);

/// Table section as CSV with a header line (fqn, sharding, perf_ms_total, ranks, rows, dim, ...).
[[nodiscard]] Result<TorchrecStats> read_torchrec_stats_csv(std::string_view text,
                                                            ImportNotes& notes);

/// Workload, topology, layout and the report's own estimates. Tables whose size or ranks the report
/// does not give are left out with a warning.
[[nodiscard]] Result<ImportedPlan> resolve_torchrec_stats(const TorchrecStats& stats,
                                                          const ImportContext& context,
                                                          ImportNotes& notes);

}  // namespace shardscope::storage
