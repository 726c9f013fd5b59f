#include "ui/model/shard_cost.hpp"

#include "planner/executor_model.hpp"
#include "planner/table_facts.hpp"
#include "planner/table_memory.hpp"

namespace shardscope::ui {
namespace {

double& at(StageSeconds& stages, Stage stage) {
  return stages[static_cast<std::size_t>(stage)];
}

double transfer_s(double intra_bytes, double inter_bytes, const Topology& topology) {
  double seconds = 0;
  if (intra_bytes > 0) seconds += intra_bytes / topology.intra.large_bytes_per_s();
  if (inter_bytes > 0) seconds += inter_bytes / topology.inter.large_bytes_per_s();
  return seconds;
}

}  // namespace

double load_seconds(const StageSeconds& stages) {
  double sum = 0;
  for (const Stage stage : {Stage::model_forward, Stage::network_forward, Stage::network_backward,
                            Stage::local_reduce, Stage::allreduce, Stage::update}) {
    sum += stages[static_cast<std::size_t>(stage)];
  }
  return sum + kSortShare * stages[static_cast<std::size_t>(Stage::index_calculation)];
}

struct ShardCosts::State {
  State(const Workload& w, const Topology& t, const PredictOptions& o)
      : workload(w),
        topology(t),
        options(o),
        facts(workload_facts(workload, topology.ranks(), options.stats)),
        executor(executor_model(options.executor, workload)),
        loads(facts, topology, executor, options.codecs) {}

  /// Kernels of one owner or replica.
  void kernels(StageSeconds& stages, double gather, double keys, double reduce,
               double update) const {
    const Gpu& gpu = topology.gpu;
    const double bandwidth = gpu.memory_bytes_per_s.value;
    at(stages, Stage::model_forward) = gather / (bandwidth * gpu.gather_efficiency.value);
    at(stages, Stage::index_calculation) = gpu.sort_bytes_per_key.value * keys / bandwidth;
    at(stages, Stage::local_reduce) = reduce / (bandwidth * gpu.reduce_efficiency.value);
    at(stages, Stage::update) = update / gpu.update_bytes_per_s();
  }

  struct Sent {
    double intra = 0;
    double inter = 0;
  };
  /// Bytes the owner of a shard sends in one direction (backward, it receives as many).
  [[nodiscard]] Sent sent(const Layout& layout, std::size_t index, const TableFacts& table,
                          const LoadModel::ShardShape& shape) const {
    const ExchangeChoice choice = exchange_choice(layout, index);
    const double near = topology.fast_domain - 1;
    const double far = topology.ranks() - topology.fast_domain;
    if (layout.tables[index].cluster == ClusterType::UB) {
      const double rows =
          choice.dedup ? table.rank_unique * shape.row_share : table.rank_keys * shape.key_share;
      const double bytes = rows * shape.width * facts.wire_bytes;
      return {near * bytes, far * bytes};
    }
    const double bytes = facts.rank_batch * table.pooled * shape.width * facts.wire_bytes;
    if (choice.exchange == Exchange::flat) return {near * bytes, far * bytes};
    const double domains = topology.domains();
    return {near * domains * bytes, (domains - 1) * bytes};
  }

  Workload workload;
  Topology topology;
  PredictOptions options;
  WorkloadFacts facts;
  ExecutorModel executor;
  LoadModel loads;
};

ShardCosts::ShardCosts(const Workload& workload, const Topology& topology,
                       const PredictOptions& options)
    : state_(std::make_unique<State>(workload, topology, options)) {}
ShardCosts::~ShardCosts() = default;

const TableFacts& ShardCosts::facts(std::size_t table) const {
  return state_->facts.tables[table];
}

LoadModel::ShardShape ShardCosts::shape_of(const Layout& layout, const ShardId& shard) const {
  const auto index = static_cast<std::size_t>(shard.table);
  const TablePlacement& placement = layout.tables[index];
  LoadModel::ShardShape shape =
      LoadModel::row_shape(state_->facts.tables[index], placement, shard.row);
  shape.width = placement.width(shard.column);
  return shape;
}

StageSeconds ShardCosts::of(const Layout& layout, const ShardId& shard) const {
  const auto index = static_cast<std::size_t>(shard.table);
  const TableFacts& table = state_->facts.tables[index];
  const LoadModel::ShardShape shape = shape_of(layout, shard);
  const OwnerLoad load =
      layout.tables[index].cluster == ClusterType::UB
          ? state_->loads.ub_shard(table, shape, exchange_choice(layout, index).dedup)
          : state_->loads.rb_shard(table, shape);
  StageSeconds stages{};
  state_->kernels(stages, load.gather_bytes, load.keys, load.reduce_bytes, load.update_bytes);
  const State::Sent sent = state_->sent(layout, index, table, shape);
  const double wires = transfer_s(sent.intra, sent.inter, state_->topology);
  at(stages, Stage::network_forward) = wires;
  at(stages, Stage::network_backward) = wires;
  return stages;
}

double ShardCosts::wire_bytes(const Layout& layout, const ShardId& shard) const {
  const auto index = static_cast<std::size_t>(shard.table);
  const State::Sent sent =
      state_->sent(layout, index, state_->facts.tables[index], shape_of(layout, shard));
  return 2 * (sent.intra + sent.inter);
}

StageSeconds ShardCosts::replicated(std::size_t table) const {
  StageSeconds stages{};
  const ReplicatedLoad load = state_->loads.replicated(state_->facts.tables[table]);
  state_->kernels(stages, load.gather_bytes, load.keys, load.reduce_bytes, load.update_bytes);
  const Topology& topology = state_->topology;
  const double bytes = load.allreduce_elements * state_->executor.allreduced_bytes;
  const double g = topology.fast_domain, n = topology.domains();
  at(stages, Stage::allreduce) =
      transfer_s(2 * bytes * (g - 1) / g, 2 * bytes * (n - 1) / n / g, topology);
  return stages;
}

StageSeconds ShardCosts::table(const Layout& layout, std::size_t table) const {
  StageSeconds sum{};
  const TablePlacement& placement = layout.tables[table];
  const auto add = [&](const StageSeconds& part, double times) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += times * part[i];
  };
  if (placement.cluster == ClusterType::DP) {
    add(replicated(table), state_->topology.ranks());
    return sum;
  }
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
      add(of(layout, {static_cast<std::int32_t>(table), row, column}), 1);
    }
  }
  return sum;
}

void ShardCosts::add_table(const Layout& layout, std::size_t table, double times,
                           std::vector<double>& loads) const {
  const TablePlacement& placement = layout.tables[table];
  if (placement.cluster == ClusterType::DP) {
    const double load = times * load_seconds(replicated(table));
    for (double& rank : loads) rank += load;
    return;
  }
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
      loads[static_cast<std::size_t>(placement.owner(row, column))] +=
          times * load_seconds(of(layout, {static_cast<std::int32_t>(table), row, column}));
    }
  }
}

std::vector<double> ShardCosts::loads(const Layout& layout) const {
  std::vector<double> result(static_cast<std::size_t>(state_->topology.ranks()), 0.0);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) add_table(layout, t, 1, result);
  return result;
}

double shard_bytes(const Workload& workload, const Layout& layout, const ShardId& shard) {
  const auto index = static_cast<std::size_t>(shard.table);
  const Table& table = workload.tables[index];
  const TablePlacement& placement = layout.tables[index];
  const auto rows = static_cast<double>(placement.rows_in(shard.row, table.rows));
  return stored_bytes(table, rows, placement.width(shard.column));
}

double table_bytes(const Table& table) {
  return stored_bytes(table);
}

}  // namespace shardscope::ui
