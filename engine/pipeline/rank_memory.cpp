#include "engine/pipeline/rank_memory.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/device.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {

Result<std::unique_ptr<RankMemory>> RankMemory::create(const RunPlan& plan, std::int32_t rank) {
  auto arena = Arena::create(rank,
                             engine_buffers(plan.workload, plan.topology, plan.layout, plan.routes,
                                            plan.schedule, rank, plan.capacity),
                             plan.device);
  if (!arena) return fail(arena.error());
  std::unique_ptr<RankMemory> memory(new RankMemory);
  memory->rank_ = rank;
  memory->arena_ = std::move(*arena);
  if (Status status = memory->place_sizes(plan); !status) return fail(status.error());
  memory->place_features(plan);
  memory->place_shards(plan);
  return memory;
}

Status RankMemory::place_sizes(const RunPlan& plan) {
  ranks_ = plan.ranks();
  const auto count = static_cast<std::size_t>(kClusterTypes * ranks_);
  if (plan.device == nullptr) {
    host_sizes_.assign(count, 0);
    return {};
  }
  auto sizes = plan.device->allocate(rank_, static_cast<std::int64_t>(count * sizeof(std::int64_t)),
                                     fmt::format("message sizes of rank {}", rank_));
  if (!sizes) return fail(sizes.error());
  device_sizes_ = std::move(*sizes);
  return {};
}

std::int64_t* RankMemory::square_sum_sizes(ClusterType cluster) {
  auto* first = device_sizes_ != nullptr ? reinterpret_cast<std::int64_t*>(device_sizes_.get())
                                         : host_sizes_.data();
  return first + static_cast<std::ptrdiff_t>(cluster) * ranks_;
}

void RankMemory::place_features(const RunPlan& plan) {
  features_.resize(plan.workload.features.size());
  for (std::size_t t = 0; t < plan.workload.tables.size(); ++t) {
    const auto table = static_cast<std::int32_t>(t);
    const std::int64_t dim = plan.table(table).dim;
    std::int64_t row = 0;
    for (const std::int32_t f : plan.features_of(table)) {
      FeatureMemory& feature = features_[static_cast<std::size_t>(f)];
      feature.first_row = row;
      feature.row_capacity = output_rows(plan.workload, static_cast<std::size_t>(f), rank_,
                                         plan.capacity, plan.ranks());
      feature.output = table_output(table) + row * dim;
      feature.gradient = table_gradient(table) + row * dim;
      if (plan.feature(f).pooling == Pooling::mean) {
        feature.bag_scale = arena_->get<float>(fmt::format("bag_scale[{}]", f), table);
      }
      row += feature.row_capacity;
    }
  }
}

void RankMemory::place_shards(const RunPlan& plan) {
  for (std::size_t t = 0; t < plan.workload.tables.size(); ++t) {
    const auto table = static_cast<std::int32_t>(t);
    const TablePlacement& placement = plan.placement(table);
    if (placement.cluster == ClusterType::DP) {
      shards_.push_back({table, 0, 0, plan.table(table).rows, plan.table(table).dim, 0,
                         arena_->get("weights", table), arena_->get<float>("state", table)});
      continue;
    }
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      for (const std::int32_t k : columns_on(placement, j, rank_)) {
        const std::string suffix = fmt::format("[{},{}]", j, k);
        shards_.push_back({table, j, k, placement.rows_in(j, plan.table(table).rows),
                           placement.width(k), placement.column_begin(k),
                           arena_->get("weights" + suffix, table),
                           arena_->get<float>("state" + suffix, table)});
      }
    }
  }
}

const ShardMemory& RankMemory::shard(std::int32_t table, std::int32_t row,
                                     std::int32_t column) const {
  const auto found = std::find_if(shards_.begin(), shards_.end(), [&](const ShardMemory& shard) {
    return shard.table == table && shard.row == row && shard.column == column;
  });
  SHARDSCOPE_CHECK(found != shards_.end(), "shard is not on this rank");
  return *found;
}

}  // namespace shardscope::engine
