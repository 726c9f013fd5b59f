// Which steps of a rank may run as graphs, and what became of them.

#include "engine/pipeline/rank_runner.hpp"

namespace shardscope::engine {

// Exchanges wait for other ranks on the host: no graph holds them.
bool RankRunner::stays_on_stream(const ScheduleStep& step) const {
  if (is_exchange(step.stage)) return false;
  if (step.stage != Stage::update) return true;
  const Cluster* cluster = cluster_of(step.work);
  return cluster == nullptr || !cluster->update_exchanges();
}

GraphCounts RankRunner::graph_counts() const {
  GraphCounts counts;
  for (const auto& stream : streams_) counts += stream->graph_counts();
  return counts;
}

}  // namespace shardscope::engine
