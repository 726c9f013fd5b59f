// What of a rank's iteration runs as graphs, and what became of them.

#include <algorithm>

#include <fmt/format.h>

#include "engine/pipeline/rank_runner.hpp"
#include "profiler/work_tracer.hpp"

namespace shardscope::engine {

/// Lists of a batch slot lead to the slot's own buffers.
std::size_t RankRunner::graph_key(std::size_t segment, std::int64_t iteration) const {
  return segment * kBatchSlots + slot_of(iteration);
}

// Counts, coded messages and all of UB's have sizes of their own each time.
bool RankRunner::goes_into_graph(const ScheduleStep& step) const {
  if (step.stage == Stage::input_dist) return false;
  const Cluster* cluster = cluster_of(step.work);
  if (is_exchange(step.stage)) {
    return communicators_.front()->goes_into_graphs() && step.work != Work::UB &&
           !codes(plan_, step);
  }
  if (cluster == nullptr) return dense_->is_on_device() || mode_ == StreamMode::threaded;
  return step.stage != Stage::update || !cluster->update_exchanges();
}

void RankRunner::make_segments() {
  const std::vector<ScheduleStep>& steps = plan_.schedule.steps;
  std::vector<bool> holds(steps.size(), false);
  if (streams_.front()->has_graphs()) {
    for (std::size_t i = 0; i < steps.size(); ++i) holds[i] = goes_into_graph(steps[i]);
  }
  for (GraphSegment& cut : graph_segments(plan_.schedule, holds)) {
    Segment segment;
    for (std::size_t s = 1; s < cut.streams.size(); ++s) {
      segment.joined.push_back(streams_[cut.streams[s]].get());
    }
    const std::size_t last = cut.first + cut.count - 1;
    for (std::size_t i = cut.first; i <= last; ++i)
      segment.exchanges |= is_exchange(steps[i].stage);
    segment.label = fmt::format("{} to {}", labels_[cut.first], labels_[last]);
    segment.steps = std::move(cut);
    segments_.push_back(std::move(segment));
  }
}

Status RankRunner::run_graph(std::size_t number, std::int64_t iteration, StepTimes* times) {
  const Segment& segment = segments_[number];
  Stream& stream = *streams_[segment.steps.streams.front()];
  Communicator& communicator = *communicators_[segment.steps.streams.front()];
  Status status;
  bool launched = false;
  const auto enqueue = [&] {
    if (status) status = run_steps(segment.steps, iteration, times);
  };
  const auto agree = [&](bool ready) {
    launched = segment.exchanges ? communicator.agree_on_graph(ready) : ready;
    // The nodes know their stages; the launch says which iteration it is.
    const ScheduleStep& first = plan_.schedule.steps[segment.steps.first];
    if (launched && plan_.tracer != nullptr) {
      plan_.tracer->begin_work(
          {memory_->rank(), static_cast<std::int32_t>(iteration), first.stage, first.work});
    }
    return launched;
  };
  enqueue_as_graph(stream, graph_key(number, iteration), segment.joined, enqueue, agree);
  if (launched && segment.exchanges) {
    communicator.set_label(segment.label.c_str());
    communicator.launched_graph(stream);
  }
  if (launched && plan_.tracer != nullptr) plan_.tracer->end_work();
  return status;
}

GraphCounts RankRunner::graph_counts() const {
  GraphCounts counts;
  for (const auto& stream : streams_) counts += stream->graph_counts();
  return counts;
}

}  // namespace shardscope::engine
