#include "planner/torchrec_estimator.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

// torchrec/distributed/planner/constants.py, August 2026.
constexpr double kIndexBytes = 8;
constexpr double kNarrowPenalty = 1.75;  ///< columns < 64
constexpr double kHalfPenalty = 1.15;    ///< columns < 128
constexpr double kSmallestLookup = 32;   ///< columns a lookup costs at least
constexpr std::int32_t kSmallestColumns = 128;
constexpr double kWeightedMultiplier = 1.1;
constexpr double kBatchedCopyFactor = 2.455;
constexpr double kElementwiseFactor = 9.22;
constexpr double kDenseKernelShare = 0.5;  ///< of HBM's rate: DP tables run the dense kernel

double penalty_of(double columns) {
  if (columns < 64) return kNarrowPenalty;
  return columns < 128 ? kHalfPenalty : 1;
}

double milliseconds(double bytes, double bytes_per_s) {
  return bytes_per_s > 0 ? bytes / bytes_per_s * 1e3 : 0;
}

/// Ids and output vectors a rank's batch brings.
struct Amounts {
  double ids = 0;
  double outputs = 0;
};

Amounts amounts_of(const TorchRecTable& table, const TorchRecMachine& machine) {
  Amounts amounts;
  for (const TorchRecInput& input : table.inputs) {
    amounts.ids += input.pooling * input.num_poolings * machine.batch;
    const double filled = machine.outputs_limited_by_ids ? std::min(1.0, input.pooling) : 1.0;
    amounts.outputs += filled * input.num_poolings * machine.batch;
  }
  if (!table.pooled) amounts.outputs = amounts.ids;
  return amounts;
}

bool splits_rows(TorchRecForm form) {
  return form == TorchRecForm::row_wise || form == TorchRecForm::table_row_wise ||
         form == TorchRecForm::grid_shard;
}

/// Ids and outputs that reach one shard, all ranks' batches together.
Amounts at_shard(const TorchRecTable& table, TorchRecForm form, const TorchRecMachine& machine) {
  Amounts amounts = amounts_of(table, machine);
  if (form == TorchRecForm::data_parallel) return amounts;
  const double parts = form == TorchRecForm::row_wise ? machine.world
                       : splits_rows(form)            ? machine.local_world
                                                      : 1;
  amounts.ids *= machine.world / parts;
  amounts.outputs *= machine.world;
  if (!table.pooled) amounts.outputs = amounts.ids;
  return amounts;
}

/// Rate of a collective over all ranks: the slow links as soon as there are several hosts.
double world_rate(const TorchRecMachine& machine) {
  return machine.world <= machine.local_world ? machine.intra_bytes_per_s
                                              : machine.inter_bytes_per_s;
}

void data_parallel_estimate(const TorchRecTable& table, const TorchRecMachine& machine,
                            TorchRecShard& shard) {
  const double gradient = static_cast<double>(table.rows) * shard.columns * table.element_bytes;
  const double hosts = std::min(static_cast<double>(machine.world) / machine.local_world, 2.0);
  double reduce = milliseconds(gradient * (2 * hosts - 1) / hosts,
                               machine.inter_bytes_per_s * machine.local_world);
  if (machine.world > 2 * machine.local_world) reduce *= 2;
  shard.backward_comms_ms = reduce;
  shard.backward_compute_ms += milliseconds(gradient * kElementwiseFactor, machine.hbm_bytes_per_s);
}

void exchange_estimate(const TorchRecTable& table, TorchRecForm form,
                       const TorchRecMachine& machine, double outputs, TorchRecShard& shard) {
  const double bytes = outputs * shard.columns * table.output_bytes;
  double once = milliseconds(bytes, world_rate(machine));
  const bool within_hosts =
      form == TorchRecForm::table_row_wise || form == TorchRecForm::grid_shard;
  if (within_hosts) {
    once = milliseconds(bytes, machine.intra_bytes_per_s);
    if (machine.world > machine.local_world)
      once += milliseconds(bytes / machine.local_world, machine.inter_bytes_per_s);
  }
  shard.forward_comms_ms = once;
  shard.backward_comms_ms = once;
  if (splits_rows(form))
    shard.backward_compute_ms += milliseconds(bytes * kBatchedCopyFactor, machine.hbm_bytes_per_s);
}

double storage_bytes(const TorchRecTable& table, TorchRecForm form, const TorchRecMachine& machine,
                     const TorchRecShard& shard, const Amounts& amounts) {
  const double tensor =
      std::ceil(static_cast<double>(shard.rows) * shard.columns * table.element_bytes);
  const double optimizer = std::ceil(tensor * table.optimizer_multiplier);
  // A row-wise shard's input is counted once for the world, its pooled output for every rank.
  const double input = std::ceil(amounts.ids * kIndexBytes);
  const double output = std::ceil(amounts.outputs * shard.columns * table.output_bytes);
  // An unpooled table keeps an index of its rows.
  const double index = table.pooled ? 0
                                    : 4.0 * static_cast<double>(table.rows) /
                                          (form == TorchRecForm::row_wise ? machine.world : 1);
  return tensor + optimizer + input + output + index;
}

std::int32_t torchrec_column_width(std::int32_t dim) {
  for (std::int32_t width = kSmallestColumns; width < dim; width += 4)
    if (dim % width == 0) return width;
  return dim;
}

}  // namespace

const char* to_string(TorchRecForm value) {
  switch (value) {
    case TorchRecForm::data_parallel:
      return "data_parallel";
    case TorchRecForm::table_wise:
      return "table_wise";
    case TorchRecForm::column_wise:
      return "column_wise";
    case TorchRecForm::row_wise:
      return "row_wise";
    case TorchRecForm::table_row_wise:
      return "table_row_wise";
    case TorchRecForm::table_column_wise:
      return "table_column_wise";
    case TorchRecForm::grid_shard:
      return "grid_shard";
  }
  return "";
}

TorchRecMachine torchrec_machine(const Topology& topology, std::int64_t batch) {
  TorchRecMachine machine;
  machine.world = topology.ranks();
  machine.local_world = topology.fast_domain;
  machine.batch = static_cast<double>(batch) / topology.ranks();
  machine.hbm_bytes = topology.gpu.memory_bytes.value;
  machine.hbm_bytes_per_s = topology.gpu.memory_bytes_per_s.value;
  machine.intra_bytes_per_s = topology.intra.bytes_per_s.value;
  machine.inter_bytes_per_s = topology.inter.bytes_per_s.value;
  return machine;
}

std::vector<TorchRecTable> torchrec_tables(const Workload& workload) {
  std::vector<TorchRecTable> tables;
  for (const Table& table : workload.tables) {
    TorchRecTable& one = tables.emplace_back();
    one.name = table.name;
    one.module_path = table.module_path;
    one.rows = table.rows;
    one.dim = table.dim;
    one.element_bytes = static_cast<double>(bytes_of(table.dtype));
    one.output_bytes = static_cast<double>(bytes_of(workload.wire));
    const Optimizer& optimizer = table.optimizer;
    one.optimizer_multiplier =
        (4.0 * optimizer.words_per_element + 4.0 * optimizer.words_per_row / table.dim) /
        one.element_bytes;
  }
  for (const Feature& feature : workload.features) {
    TorchRecTable& one = tables[static_cast<std::size_t>(feature.table)];
    one.pooled &= is_pooled(feature.pooling);
    one.weighted |= feature.weighted;
    one.inputs.push_back({feature.hotness.mean(), static_cast<double>(feature.num_poolings)});
  }
  return tables;
}

void torchrec_estimate(const TorchRecTable& table, TorchRecForm form,
                       const TorchRecMachine& machine, TorchRecShard& shard) {
  const Amounts amounts = at_shard(table, form, machine);
  const bool by_rows = splits_rows(form) || form == TorchRecForm::data_parallel;
  const double columns = by_rows ? shard.columns : std::max<double>(shard.columns, kSmallestLookup);
  const double input = std::ceil(amounts.ids * kIndexBytes) * (table.weighted ? 2 : 1);
  const double lookup = amounts.ids * columns * table.element_bytes;
  const double output_element =
      form == TorchRecForm::data_parallel ? table.element_bytes : table.output_bytes;
  const double output = amounts.outputs * shard.columns * output_element;
  const double penalty = by_rows ? 1 : penalty_of(shard.columns);
  const double rate =
      machine.hbm_bytes_per_s * (form == TorchRecForm::data_parallel ? kDenseKernelShare : 1);
  shard.forward_compute_ms = milliseconds((input + lookup + output) * penalty, rate);
  shard.backward_compute_ms =
      shard.forward_compute_ms *
      (machine.backward_multiplier + (table.weighted ? kWeightedMultiplier : 0));
  if (form == TorchRecForm::data_parallel) {
    data_parallel_estimate(table, machine, shard);
  } else {
    exchange_estimate(table, form, machine, amounts.outputs, shard);
  }
  shard.hbm_bytes = storage_bytes(table, form, machine, shard, amounts);
}

std::vector<TorchRecShard> torchrec_shards(const TorchRecTable& table, TorchRecForm form,
                                           const TorchRecMachine& machine,
                                           std::int32_t column_width) {
  const std::int32_t width = column_width > 0 ? column_width : torchrec_column_width(table.dim);
  const bool columns = form == TorchRecForm::column_wise ||
                       form == TorchRecForm::table_column_wise || form == TorchRecForm::grid_shard;
  const std::int32_t parts = form == TorchRecForm::row_wise ? machine.world
                             : splits_rows(form)            ? machine.local_world
                                                            : 1;
  const std::int64_t block = (table.rows + parts - 1) / parts;
  std::vector<TorchRecShard> shards;
  for (std::int32_t column = 0; column < table.dim; column += columns ? width : table.dim) {
    for (std::int64_t row = 0; row < table.rows; row += block) {
      TorchRecShard& shard = shards.emplace_back();
      shard.first_row = row;
      shard.first_column = column;
      shard.rows = std::min(block, table.rows - row);
      shard.columns = columns ? std::min(width, table.dim - column) : table.dim;
      torchrec_estimate(table, form, machine, shard);
    }
  }
  return shards;
}

}  // namespace shardscope
