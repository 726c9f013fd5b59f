#pragma once
// Gives the work of imported traces to iterations, stages and clusters, aligns the ranks' clocks
// and takes waiting for peers out of collectives.

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/span.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/trace/kernel_map.hpp"
#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// What became of one GpuWork of a RankTrace (same index).
struct WorkPlace {
  std::int32_t iteration = -1;  ///< -1: outside every iteration
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  bool mapped = false;  ///< the kernel map knows it
  bool collective = false;
  bool fused = false;           ///< local_reduce and update in one
  std::int32_t call = -1;       ///< of a collective: its index in RankTrace::collectives; -1: none
  std::int64_t sent_bytes = 0;  ///< as the trace states them, what stays on the rank included
  std::int64_t received_bytes = 0;  ///< likewise
  std::int64_t intra_bytes = 0;     ///< sent to other ranks of the fast domain
  std::int64_t inter_bytes = 0;     ///< sent to other domains
  std::int64_t waiting_ns = 0;      ///< of a collective: until the last imported rank arrived
};

/// Totals of one rank over its iterations.
struct TraceRank {
  std::int32_t rank = 0;
  std::string file;
  std::int64_t offset_ns = 0;  ///< subtracted from its clock to align it with the first rank's
  std::int64_t iterations = 0;
  double gpu_ms = 0;        ///< all work, each piece's duration
  double embedding_ms = 0;  ///< lookup, index calculation, reduce and update
  double dense_ms = 0;
  double exchange_ms = 0;  ///< collectives, waiting taken out
  double waiting_ms = 0;
  double unmapped_ms = 0;
  double sent_bytes = 0;   ///< vectors and gradients, an iteration; what stays included
  double intra_bytes = 0;  ///< every collective's, sent inside the fast domain
  double inter_bytes = 0;  ///< every collective's, sent to other domains
  /// Vectors and gradients by receiving rank, an iteration; empty unless the trace states splits.
  std::vector<double> sent_to;
  double ids = 0;  ///< looked up in an iteration
  double ids_per_sample = 0;
  std::int64_t tables = 0;    ///< of sharded operators
  std::int64_t elements = 0;  ///< of their weights
  std::int64_t replicated_tables = 0;
  std::int64_t replicated_elements = 0;
  std::int64_t batch = 0;  ///< bags a table and iteration
};

struct UnmappedName {
  std::string name;
  double ms = 0;  ///< over all ranks
  std::int64_t count = 0;
};

struct ImportedTrace {
  std::vector<RankTrace> ranks;                ///< ascending by rank, clocks aligned
  std::vector<std::vector<WorkPlace>> places;  ///< as ranks[i].work
  std::vector<TraceRank> totals;               ///< as ranks
  std::vector<Span> spans;                     ///< ns since start_ns; ranks 0 .. ranks.size() - 1
  std::vector<Iteration> iterations;
  std::vector<UnmappedName> unmapped;  ///< most time first
  std::int64_t start_ns = 0;           ///< of the first rank's clock
  std::int64_t end_ns = 0;
  std::int32_t world_size = 0;
  std::int32_t fast_domain = 0;  ///< consecutive ranks that share fast links
  std::int32_t hot_rank = 0;     ///< index: most embedding work (time)
  std::int32_t most_bytes = 0;   ///< index: most bytes sent
  std::int32_t most_ids = 0;     ///< index: most ids looked up
  bool from_steps = false;       ///< iterations come from marked steps
};

/// Ranks without a number get one by their file's name, else by their order. `fast_domain`: how
/// many consecutive ranks share fast links (of the topology, where one is given); 0: the GPUs of a
/// host as the traces state them, else 8 where they divide the job, with a warning.
[[nodiscard]] ImportedTrace arrange_trace(std::vector<RankTrace> ranks, const KernelMap& map,
                                          ImportNotes& notes, std::int32_t fast_domain = 0);

}  // namespace shardscope::storage
