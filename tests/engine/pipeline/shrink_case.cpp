#include "run_case.hpp"

namespace shardscope::engine {

namespace {

void drop_feature(PipelineCase& value, std::size_t f) {
  value.workload.features.erase(value.workload.features.begin() + static_cast<std::ptrdiff_t>(f));
}

void drop_table(PipelineCase& value, std::size_t t) {
  const auto at = static_cast<std::ptrdiff_t>(t);
  value.workload.tables.erase(value.workload.tables.begin() + at);
  value.layout.tables.erase(value.layout.tables.begin() + at);
  value.layout.table_names.erase(value.layout.table_names.begin() + at);
  std::erase_if(value.workload.features, [&](const Feature& feature) {
    return feature.table == static_cast<std::int32_t>(t);
  });
  for (Feature& feature : value.workload.features) {
    if (feature.table > static_cast<std::int32_t>(t)) --feature.table;
  }
}

void join_columns(TablePlacement& placement) {
  std::vector<std::int32_t> owners;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) owners.push_back(placement.owner(j, 0));
  placement.owners = owners;
  placement.column_cuts = {0, placement.column_cuts.back()};
}

void join_rows(TablePlacement& placement) {
  placement.owners.resize(static_cast<std::size_t>(placement.column_shards()));
  placement.row_shards = 1;
  if (!placement.row_cuts.empty()) placement.row_cuts = {0, placement.row_cuts.back()};
}

/// Every case that is one step simpler.
std::vector<PipelineCase> simpler(const PipelineCase& value) {
  std::vector<PipelineCase> all;
  const auto add = [&](const auto& change) {
    PipelineCase next = value;
    change(next);
    all.push_back(std::move(next));
  };
  for (std::size_t t = 0; t < value.workload.tables.size() && value.workload.tables.size() > 1;
       ++t) {
    add([&](PipelineCase& next) { drop_table(next, t); });
  }
  for (std::size_t f = 0; f < value.workload.features.size() && value.workload.features.size() > 1;
       ++f) {
    add([&](PipelineCase& next) { drop_feature(next, f); });
  }
  if (value.workload.global_batch > 1) {
    add([](PipelineCase& next) { next.workload.global_batch /= 2; });
    add([](PipelineCase& next) { --next.workload.global_batch; });
  }
  if (value.iterations > 1) add([](PipelineCase& next) { --next.iterations; });
  if (value.schedule != ScheduleKind::serial) {
    add([](PipelineCase& next) { next.schedule = ScheduleKind::serial; });
  }
  for (std::size_t t = 0; t < value.layout.tables.size(); ++t) {
    const TablePlacement& placement = value.layout.tables[t];
    if (placement.cluster == ClusterType::DP) continue;
    if (placement.column_shards() > 1) {
      add([&](PipelineCase& next) { join_columns(next.layout.tables[t]); });
    }
    if (placement.row_shards > 1) {
      add([&](PipelineCase& next) { join_rows(next.layout.tables[t]); });
    }
  }
  return all;
}

}  // namespace

PipelineCase shrink_case(PipelineCase value,
                         const std::function<bool(const PipelineCase&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (PipelineCase& next : simpler(value)) {
      if (!fails(next)) continue;
      value = std::move(next);
      smaller = true;
      break;
    }
  }
  return value;
}

}  // namespace shardscope::engine
