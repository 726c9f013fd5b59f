#include "layout/buffer_list.hpp"

#include <fmt/format.h>

#include "layout/codec_bytes.hpp"
#include "layout/dense_sizes.hpp"

namespace shardscope {
namespace {

std::int64_t state_bytes(const Optimizer& optimizer, std::int64_t rows, std::int64_t width) {
  const std::int64_t words = saturating_add(saturating_multiply(optimizer.words_per_element, width),
                                            optimizer.words_per_row);
  return saturating_multiply(saturating_multiply(rows, words), 4);
}

}  // namespace

std::vector<BufferSpec> BufferList::build() && {
  for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
    open(t);
    add_outputs();
    if (layout_.tables[t].cluster == ClusterType::DP) {
      add_dp_table();
    } else {
      add_shards();
      if (layout_.tables[t].cluster == ClusterType::RB) add_rb_table();
      if (layout_.tables[t].cluster == ClusterType::UB) add_ub_table();
    }
  }
  open_shared();
  if (dp_present_) add_dp_shared();
  if (rb_present_) add_rb_shared();
  if (ub_present_) add_ub_shared();
  add_dense();
  return std::move(list_);
}

void BufferList::add_outputs() {
  std::int64_t rows = 0;
  for (const std::int32_t f : readers()) {
    rows = saturating_add(
        rows, output_rows(workload_, static_cast<std::size_t>(f), rank_, capacity_, ranks_));
    if (feature(f).pooling != Pooling::mean) continue;
    add(fmt::format("bag_scale[{}]", f), Purpose::indices, saturating_multiply(bags(f, rank_), 4));
  }
  add("output", Purpose::communication, saturating_multiply(rows, table().dim * std::int64_t{4}));
  add("output_gradient", Purpose::communication,
      saturating_multiply(rows, table().dim * std::int64_t{4}));
}

void BufferList::add_weights(const std::string& suffix, std::int64_t rows, std::int64_t width) {
  add("weights" + suffix, Purpose::weights,
      saturating_multiply(saturating_multiply(rows, width), bytes_of(table().dtype)));
  add("state" + suffix, Purpose::optimizer_state, state_bytes(table().optimizer, rows, width));
}

void BufferList::add_shards() {
  for (std::int32_t j = 0; j < placement().row_shards; ++j) {
    for (const std::int32_t k : columns_on(placement(), j, rank_)) {
      add_weights(fmt::format("[{},{}]", j, k), placement().rows_in(j, table().rows),
                  placement().width(k));
    }
  }
}

void BufferList::add_sorted(const std::string& name, const std::string& suffix,
                            const IndexNeed& need) {
  add(name + "unique_rows" + suffix, Purpose::sort, saturating_multiply(need.unique, 8));
  add(name + "unique_count" + suffix, Purpose::sort, 8);
  add(name + "offsets" + suffix, Purpose::sort,
      saturating_multiply(saturating_add(need.unique, 1), 4));
  add(name + "sorted_gradient_row" + suffix, Purpose::sort,
      saturating_multiply(need.occurrences, 4));
  add(name + "sorted_weights" + suffix, Purpose::sort,
      need.weighted ? saturating_multiply(need.occurrences, 4) : 0);
}

void BufferList::add_staging(const std::string& name, const Staging& staging) {
  add(name + "rows", Purpose::sort, staging.rows);
  add(name + "gradient_row", Purpose::sort, staging.gradient_rows);
  add(name + "weights", Purpose::sort, staging.weights);
  add(name + "scratch", Purpose::sort, staging.sort);
}

void BufferList::add_reduced(const std::string& cluster, std::int32_t row,
                             const std::vector<std::int32_t>& columns) {
  for (const std::int32_t k : columns) {
    add(fmt::format("{}wgrad[{},{}]", cluster, row, k), Purpose::wgrad,
        saturating_multiply(unique(row), placement().width(k) * std::int64_t{4}));
  }
  if (table().optimizer.kind != OptimizerKind::rowwise_adagrad) return;
  // One list for the row, or (per_shard) one a column shard; the last is a shard's own sum.
  for (const std::int32_t k : columns) {
    add(fmt::format("{}square_sums[{},{}]", cluster, row, k), Purpose::transients,
        saturating_multiply(unique(row), 4));
  }
}

void BufferList::add_square_exchange(const std::string& cluster, ClusterType type) {
  const std::int64_t bytes =
      over_ranks([&](std::int32_t peer) { return messages_.square_sums(type, rank_, peer); });
  add(cluster + "square_sums.send", Purpose::transients, bytes);
  add(cluster + "square_sums.receive", Purpose::transients, bytes);
}

void BufferList::add_coded(const std::string& cluster, ClusterType type) {
  const CodecMemory memory =
      codec_memory(workload_, topology_, layout_, routes_, type, rank_, capacity_);
  add(cluster + "coded.send", Purpose::communication, memory.message_bytes);
  add(cluster + "coded.receive", Purpose::communication, memory.message_bytes);
  add(cluster + "coded.scratch", Purpose::communication, memory.scratch_bytes());
}

void BufferList::add_dense() {
  const DenseSizes sizes =
      dense_sizes(workload_, samples_of_rank(workload_.global_batch, rank_, ranks_));
  add("dense.parameters", Purpose::dense, sizes.parameter_bytes);
  add("dense.gradients", Purpose::dense, sizes.gradient_bytes);
  add("dense.state", Purpose::dense, sizes.state_bytes);
  add("dense.activations", Purpose::dense, sizes.activation_bytes);
  add("dense.scratch", Purpose::dense, sizes.scratch_bytes);
}

}  // namespace shardscope
