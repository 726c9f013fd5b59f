// Buffers of the DP and UB clusters.

#include "layout/buffer_list.hpp"

#include <fmt/format.h>

#include "layout/codec_bytes.hpp"

namespace shardscope {

void BufferList::add_dp_table() {
  add_weights("", table().rows, table().dim);
  const std::int64_t ids = own_ids();
  const IndexNeed need{ids, std::min(ids, table().rows), table().rows,
                       any_weighted() || any_mean()};
  add_sorted("dp.index.", "", need);
  dp_staging_.hold(need, true, key_bytes_);
  dp_wgrad_ = std::max(dp_wgrad_, saturating_multiply(need.unique, table().dim * std::int64_t{4}));
  add("dp.touched_rows", Purpose::wgrad, saturating_multiply(table().rows, 8));
  add("dp.touched_count", Purpose::wgrad, 8);
  if (table().optimizer.kind == OptimizerKind::rowwise_adagrad) {
    dp_square_sums_ = std::max(dp_square_sums_, saturating_multiply(table().rows, 4));
  }
}

void BufferList::add_dp_shared() {
  add_staging("dp.staging.", dp_staging_);
  add("dp.wgrad", Purpose::wgrad, dp_wgrad_);
  add("dp.gradients", Purpose::wgrad,
      saturating_multiply(dp_gradient_elements(workload_, layout_), 4));
  add("dp.square_sums", Purpose::transients, dp_square_sums_);
}

void BufferList::add_ub_table() {
  const std::int64_t ids = own_ids();
  std::int64_t asked = 0;
  std::int64_t asked_bytes = 0;
  for (std::int32_t j = 0; j < placement().row_shards; ++j) {
    asked = saturating_add(asked, requests(rank_, j));
    asked_bytes = saturating_add(
        asked_bytes, aligned_bytes(saturating_multiply(requests(rank_, j), key_bytes_)));
  }
  ub_concatenated_ = std::max(ub_concatenated_, saturating_multiply(ids, key_bytes_));
  ub_dedup_ = std::max(ub_dedup_, dedup_table_bytes(ids, workload_.key));
  add("ub.requests", Purpose::indices, asked_bytes);
  add("ub.request_counts", Purpose::indices, placement().row_shards * std::int64_t{8});
  add_per_batch(Work::UB, "ub.slots", Purpose::indices, saturating_multiply(ids, 4));
  add("ub.rows", Purpose::communication, saturating_multiply(asked, table().dim * std::int64_t{4}));
  if (has_error_feedback(topology_, layout_, static_cast<std::size_t>(table_))) {
    add("ub.feedback", Purpose::communication,
        saturating_multiply(table().rows, table().dim * std::int64_t{4}));
    add_per_batch(Work::UB, "ub.feedback.ids", Purpose::indices, asked_bytes);
  }
  const IndexNeed consumer{ids, asked, asked, any_weighted() || any_mean()};
  add_sorted("ub.consumer.", "", consumer);
  ub_staging_.hold(consumer, false, 4);
  ub_consumer_wgrad_ =
      std::max(ub_consumer_wgrad_, saturating_multiply(asked, table().dim * std::int64_t{4}));
  for (std::int32_t j = 0; j < placement().row_shards; ++j) add_ub_row_shard(j);
}

void BufferList::add_ub_row_shard(std::int32_t j) {
  const std::vector<std::int32_t> columns = columns_on(placement(), j, rank_);
  if (columns.empty()) return;
  std::int64_t asked = 0;
  for (std::int32_t p = 0; p < ranks_; ++p) asked = saturating_add(asked, requests(p, j));
  const IndexNeed owner{asked, unique(j), placement().rows_in(j, table().rows), false};
  add_sorted("ub.index.", fmt::format("[{}]", j), owner);
  ub_staging_.hold(owner, true, key_bytes_);
  for (const std::int32_t k : columns) {
    add(fmt::format("ub.gradient_offset[{},{}]", j, k), Purpose::indices,
        saturating_multiply(asked, 8));
  }
  add_reduced("ub.", j, columns);
}

void BufferList::add_ub_shared() {
  add_staging("ub.staging.", ub_staging_);
  add("ub.concatenated_ids", Purpose::indices, ub_concatenated_);
  add("ub.dedup_table", Purpose::sort, ub_dedup_);
  const std::int64_t slots = routes_.ub_count_slots;
  add("ub.counts.send", Purpose::communication, 8 * slots * ranks_);
  add_per_batch(Work::UB, "ub.counts.receive", Purpose::communication, 8 * slots * ranks_);
  add("ub.ids.send", Purpose::communication,
      over_ranks([&](std::int32_t q) { return messages_.ub_ids(rank_, q); }));
  add_per_batch(Work::UB, "ub.ids.receive", Purpose::communication,
                over_ranks([&](std::int32_t p) { return messages_.ub_ids(p, rank_); }));
  const std::int64_t owner =
      over_ranks([&](std::int32_t p) { return messages_.ub_rows(p, rank_); });
  const std::int64_t consumer =
      over_ranks([&](std::int32_t q) { return messages_.ub_rows(rank_, q); });
  add("ub.rows.send", Purpose::communication, owner);
  add("ub.rows.receive", Purpose::communication, consumer);
  add("ub.rows.gradient_send", Purpose::communication, consumer);
  add("ub.rows.gradient_receive", Purpose::communication, owner);
  add("ub.consumer_wgrad", Purpose::wgrad, ub_consumer_wgrad_);
  add_square_exchange("ub.", ClusterType::UB);
  add_coded("ub.", ClusterType::UB);
}

}  // namespace shardscope
