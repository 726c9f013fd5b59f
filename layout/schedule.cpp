#include "layout/schedule.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "layout/names.hpp"

namespace shardscope {

namespace {

/// Streams of the overlapped schedules, named after HugeCTR's.
constexpr std::uint8_t kDefaultStream = 0;   ///< dense part and all-reduces
constexpr std::uint8_t kMpStream = 1;        ///< RB and UB
constexpr std::uint8_t kDpStream = 2;        ///< DP, and index calculation of all clusters
constexpr std::uint8_t kPrefetchStream = 3;  ///< next batch's input_dist

using Key = std::pair<Stage, Work>;

/// Appends steps that the presence asks for. A wait on an absent step, or on one that runs earlier
/// on the same stream, needs no edge and gives none.
class ScheduleBuilder {
 public:
  ScheduleBuilder(ScheduleKind kind, const SchedulePresence& presence) : presence_(presence) {
    schedule_.kind = kind;
    schedule_.streams = kind == ScheduleKind::serial ? 1 : kind == ScheduleKind::intra ? 3 : 4;
  }

  void add(Stage stage, Work work, std::uint8_t stream, std::initializer_list<Key> after,
           bool next_batch = false) {
    if (!presence_.has(work)) return;
    ScheduleStep step;
    step.stage = stage;
    step.work = work;
    step.stream = schedule_.kind == ScheduleKind::serial ? std::uint8_t{0} : stream;
    step.next_batch = next_batch;
    for (const Key& key : after) {
      const std::optional<std::uint16_t> producer = find(key);
      if (!producer || schedule_.steps[*producer].stream == step.stream) continue;
      step.waits.push_back(*producer);
    }
    std::sort(step.waits.begin(), step.waits.end());
    schedule_.steps.push_back(std::move(step));
  }

  [[nodiscard]] Schedule take() { return std::move(schedule_); }

 private:
  /// The step of this iteration's batch.
  [[nodiscard]] std::optional<std::uint16_t> find(const Key& key) const {
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      const ScheduleStep& step = schedule_.steps[i];
      if (step.stage == key.first && step.work == key.second && !step.next_batch) {
        return static_cast<std::uint16_t>(i);
      }
    }
    return std::nullopt;
  }

  SchedulePresence presence_;
  Schedule schedule_;
};

void add_input_dist(ScheduleBuilder& builder) {
  builder.add(Stage::input_dist, Work::RB, kMpStream, {});
  builder.add(Stage::input_dist, Work::UB, kMpStream, {});
}

/// DP lookup and the bottom MLP start when the owners' lookups are done: they then fill the time
/// of the exchange instead of competing with the lookups for memory bandwidth.
void add_forward(ScheduleBuilder& builder) {
  constexpr Key kRbLookup{Stage::model_forward, Work::RB};
  constexpr Key kUbLookup{Stage::model_forward, Work::UB};
  builder.add(Stage::model_forward, Work::RB, kMpStream, {});
  builder.add(Stage::model_forward, Work::UB, kMpStream, {});
  builder.add(Stage::network_forward, Work::RB, kMpStream, {});
  builder.add(Stage::network_forward, Work::UB, kMpStream, {});
  builder.add(Stage::model_forward, Work::DP, kDpStream, {kRbLookup, kUbLookup});
  builder.add(Stage::dense_forward, Work::bottom_mlp, kDefaultStream, {kRbLookup, kUbLookup});
  builder.add(Stage::dense_forward, Work::top_mlp, kDefaultStream,
              {{Stage::network_forward, Work::RB},
               {Stage::network_forward, Work::UB},
               {Stage::model_forward, Work::DP}});
}

/// Index calculation needs the ids alone, so it runs beside the dense part.
void add_index_calculation(ScheduleBuilder& builder) {
  builder.add(Stage::index_calculation, Work::RB, kDpStream,
              {{Stage::input_dist, Work::RB}, {Stage::model_forward, Work::RB}});
  builder.add(Stage::index_calculation, Work::UB, kDpStream,
              {{Stage::input_dist, Work::UB}, {Stage::model_forward, Work::UB}});
  builder.add(Stage::index_calculation, Work::DP, kDpStream, {});
}

/// Embedding gradients are ready when the top MLP's backward is done. UB's consumers reduce theirs
/// by the index before they send them.
void add_backward(ScheduleBuilder& builder) {
  constexpr Key kTop{Stage::dense_backward, Work::top_mlp};
  builder.add(Stage::network_backward, Work::RB, kMpStream, {kTop});
  builder.add(Stage::network_backward, Work::UB, kMpStream,
              {kTop, {Stage::index_calculation, Work::UB}});
  builder.add(Stage::local_reduce, Work::DP, kDpStream, {kTop});
}

void add_reduction_and_update(ScheduleBuilder& builder) {
  builder.add(Stage::allreduce, Work::dense, kDefaultStream, {});
  builder.add(Stage::allreduce, Work::DP, kDefaultStream, {{Stage::local_reduce, Work::DP}});
  builder.add(Stage::update, Work::dense, kDefaultStream, {});
  for (const Work work : {Work::RB, Work::UB}) {
    builder.add(Stage::local_reduce, work, kMpStream, {{Stage::index_calculation, work}});
    builder.add(Stage::update, work, kMpStream, {});
  }
  builder.add(Stage::update, Work::DP, kDpStream, {{Stage::allreduce, Work::DP}});
}

/// Starts behind index calculation, so that its wires and kernels meet the backward pass and not
/// the forward exchange. Last in the list: its counts make the host wait, and by then everything
/// else of the iteration is enqueued.
void add_prefetch(ScheduleBuilder& builder) {
  constexpr Key kRb{Stage::index_calculation, Work::RB};
  constexpr Key kUb{Stage::index_calculation, Work::UB};
  constexpr Key kDp{Stage::index_calculation, Work::DP};
  builder.add(Stage::input_dist, Work::RB, kPrefetchStream, {kRb, kUb, kDp}, true);
  builder.add(Stage::input_dist, Work::UB, kPrefetchStream, {kRb, kUb, kDp}, true);
}

}  // namespace

bool SchedulePresence::has(Work work) const {
  switch (work) {
    case Work::DP:
      return dp;
    case Work::RB:
      return rb;
    case Work::UB:
      return ub;
    case Work::bottom_mlp:
    case Work::top_mlp:
    case Work::dense:
      return dense;
  }
  return false;
}

SchedulePresence presence_of(const Workload& workload, const Layout& layout) {
  SchedulePresence presence;
  presence.dense = workload.dense.interaction != Interaction::none;
  for (const TablePlacement& placement : layout.tables) {
    presence.dp |= placement.cluster == ClusterType::DP;
    presence.rb |= placement.cluster == ClusterType::RB;
    presence.ub |= placement.cluster == ClusterType::UB;
  }
  return presence;
}

// HugeCTR's order of one step and its intra- and inter-iteration overlap
// (HugeCTR/src/pybind/model_pipeline.cpp, commit 2f2016fa).
Schedule make_schedule(ScheduleKind kind, const SchedulePresence& presence) {
  ScheduleBuilder builder(kind, presence);
  const bool overlapped = kind != ScheduleKind::serial;
  if (kind != ScheduleKind::inter) add_input_dist(builder);
  add_forward(builder);
  if (overlapped) add_index_calculation(builder);
  builder.add(Stage::dense_backward, Work::top_mlp, kDefaultStream, {});
  if (overlapped) add_backward(builder);
  builder.add(Stage::dense_backward, Work::bottom_mlp, kDefaultStream, {});
  if (!overlapped) {
    add_index_calculation(builder);
    add_backward(builder);
  }
  add_reduction_and_update(builder);
  if (kind == ScheduleKind::inter) add_prefetch(builder);
  return builder.take();
}

bool is_exchange(Stage stage) {
  return stage == Stage::input_dist || stage == Stage::network_forward ||
         stage == Stage::network_backward || stage == Stage::allreduce;
}

const char* to_string(Stage value) {
  return name_of(value);
}
const char* to_string(Work value) {
  return name_of(value);
}
const char* to_string(ScheduleKind value) {
  return name_of(value);
}

}  // namespace shardscope
