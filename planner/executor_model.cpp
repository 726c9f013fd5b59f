#include "planner/executor_model.hpp"

#include <initializer_list>
#include <utility>

namespace shardscope {

namespace {

/// TorchRec's TrainPipelineSparseDist: the next batch's ids travel beside this batch's forward and
/// backward; backward and update of pooled tables are one fused kernel behind the gradient
/// exchange (torchrec/distributed/train_pipeline, fbgemm_gpu split TBE); DDP reduces dense and
/// replicated gradients beside the rest of the backward.
class TorchRecSchedule {
 public:
  explicit TorchRecSchedule(const SchedulePresence& presence) : presence_(presence) {
    schedule_.kind = ScheduleKind::inter;
    schedule_.streams = 4;
  }

  Schedule build() && {
    constexpr std::uint8_t kDefault = 0, kComm = 1, kReducer = 2, kDataDist = 3;
    add(Stage::dense_forward, Work::bottom_mlp, kDefault, {});
    for (const Work work : {Work::RB, Work::UB, Work::DP})
      add(Stage::model_forward, work, kDefault, {});
    for (const Work work : {Work::RB, Work::UB})
      add(Stage::network_forward, work, kComm, {{Stage::model_forward, work}});
    add(Stage::dense_forward, Work::top_mlp, kDefault,
        {{Stage::network_forward, Work::RB}, {Stage::network_forward, Work::UB}});
    add(Stage::dense_backward, Work::top_mlp, kDefault, {});
    for (const Work work : {Work::RB, Work::UB})
      add(Stage::network_backward, work, kComm, {{Stage::dense_backward, Work::top_mlp}});
    add(Stage::dense_backward, Work::bottom_mlp, kDefault, {});
    add(Stage::allreduce, Work::dense, kReducer, {{Stage::dense_backward, Work::bottom_mlp}});
    for (const Work work : {Work::RB, Work::UB, Work::DP}) {
      add(Stage::index_calculation, work, kDefault, {{Stage::network_backward, work}});
      add(Stage::local_reduce, work, kDefault, {});
      if (work == Work::DP) {
        add(Stage::allreduce, work, kReducer, {{Stage::local_reduce, work}});
        add(Stage::update, work, kDefault, {{Stage::allreduce, work}});
      } else {
        add(Stage::update, work, kDefault, {});
      }
    }
    add(Stage::update, Work::dense, kDefault, {{Stage::allreduce, Work::dense}});
    for (const Work work : {Work::RB, Work::UB})
      add(Stage::input_dist, work, kDataDist, {{Stage::dense_forward, Work::bottom_mlp}}, true);
    return std::move(schedule_);
  }

 private:
  void add(Stage stage, Work work, std::uint8_t stream,
           std::initializer_list<std::pair<Stage, Work>> after, bool next_batch = false) {
    if (!presence_.has(work)) return;
    ScheduleStep step{stage, work, stream, {}, next_batch};
    for (const auto& [waited_stage, waited_work] : after) {
      for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
        const ScheduleStep& other = schedule_.steps[i];
        if (other.stage == waited_stage && other.work == waited_work && other.stream != stream)
          step.waits.push_back(static_cast<std::uint16_t>(i));
      }
    }
    schedule_.steps.push_back(std::move(step));
  }

  SchedulePresence presence_;
  Schedule schedule_;
};

}  // namespace

ExecutorModel executor_model(Executor executor, const Workload& workload) {
  const auto key = static_cast<double>(bytes_of(workload.key));
  const auto wire = static_cast<double>(bytes_of(workload.wire));
  ExecutorModel model;
  model.executor = executor;
  model.id_bytes = key;
  model.request_bytes = key;
  switch (executor) {
    case Executor::engine:  // layout/messages.hpp, layout/bytes.hpp
      model.touch_marks = true;
      model.ring_allreduce = false;
      model.dense_dp_update = false;
      model.fused_tables = false;
      model.coded_sizes = true;  // engine/pipeline/coded_exchange.hpp
      model.source_key_bytes = cost::kEngineBytesPerKey;
      model.owner_key_bytes = cost::kEngineBytesPerKey;
      model.bag_bytes = cost::kEngineBytesPerBag;
      model.split_key_bytes = cost::kEngineSplitBytesPerKey;
      model.dedup_key_bytes = cost::kEngineDedupBytesPerKey;
      model.index_bag_bytes = cost::kEngineIndexBytesPerBag;
      model.ub_consumer_sorts = true;
      model.ub_forward_passes = cost::kEngineUbForwardPasses;
      model.ub_backward_passes = cost::kEngineUbBackwardPasses;
      break;
    case Executor::hugectr:
      // Mixed precision halves activations, reduced gradients and all-reduces; offsets have the
      // key's size; unique keys travel with an int32 feature id.
      model.length_bytes = key;
      model.request_bytes = key + 4;
      model.activation_bytes = wire;
      model.reduced_bytes = wire;
      model.allreduced_bytes = wire;
      model.grouped_allreduce = true;
      break;
    case Executor::torchrec:
      // Ids are int64 always, lengths too (torchrec planner constants: BIGINT_DTYPE 8).
      model.id_bytes = 8;
      model.length_bytes = 8;
      model.request_bytes = 8;
      break;
  }
  return model;
}

Schedule executor_schedule(Executor executor, ScheduleKind kind, const SchedulePresence& presence) {
  if (executor == Executor::torchrec) return TorchRecSchedule(presence).build();
  return make_schedule(kind, presence);
}

ScheduleKind default_schedule(Executor executor) {
  return executor == Executor::engine ? ScheduleKind::serial : ScheduleKind::inter;
}

}  // namespace shardscope
