#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "layout/models.hpp"
#include "layout/names.hpp"
#include "storage/import/hugectr/hugectr_plan.hpp"

namespace shardscope::storage {
namespace {

struct ModelName {
  const char* piece;
  const char* model;
};

constexpr ModelName kHugectrModels[] = {
    {"DCNv2", "dcnv2"}, {"dcnv2", "dcnv2"},   {"180table", "t180"}, {"200table", "t200"},
    {"T180", "t180"},   {"510table", "t510"}, {"T200", "t200"},     {"T510", "t510"},
};

std::optional<std::size_t> index_of(const std::string& id) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return index;
}

std::size_t tables_in(const HugectrPlan& plan) {
  return plan.model_parallel.size() + plan.data_parallel.size();
}

/// Tables as given, or of the built-in model that the plan names.
std::optional<Workload> tables_for(const HugectrPlan& plan, const ImportContext& context,
                                   ImportNotes& notes) {
  if (context.workload) return context.workload;
  for (const ModelName& known : kHugectrModels) {
    if (plan.model.find(known.piece) == std::string::npos) continue;
    notes.kept(
        fmt::format("table sizes of the built-in model {}, which the file names", known.model));
    return model_by_name(known.model).value();
  }
  if (tables_in(plan) == 26 && !plan.model_parallel.empty() &&
      index_of(plan.model_parallel.front().first)) {
    notes.warn(0, "the file has no table sizes; its 26 tables are taken for dcnv2's",
               "--workload NAME|FILE");
    return model_by_name("dcnv2").value();
  }
  notes.warn(0,
             fmt::format("the file has no table sizes, so its {} tables give no layout yet",
                         tables_in(plan)),
             "--workload NAME|FILE");
  return std::nullopt;
}

class LayoutBuilder {
 public:
  LayoutBuilder(const HugectrPlan& plan, const Workload& workload, ImportNotes& notes)
      : plan_(plan), workload_(workload), notes_(notes) {
    for (std::size_t t = 0; t < workload.tables.size(); ++t) {
      by_name_.emplace(workload.tables[t].name, t);
    }
    for (const HugectrPlan::Shard& shard : plan.shards) shards_[shard.table].push_back(shard);
  }

  Result<Layout> build() {
    layout_.ranks = plan_.ranks;
    layout_.tables.resize(workload_.tables.size());
    placed_.assign(workload_.tables.size(), false);
    for (const Table& table : workload_.tables) layout_.table_names.push_back(table.name);
    for (const std::string& id : plan_.data_parallel) {
      if (const auto t = claim(id)) layout_.tables[*t] = data_parallel(workload_.tables[*t]);
    }
    for (const auto& [id, factor] : plan_.model_parallel) {
      if (const auto t = claim(id)) place(*t, id, factor);
    }
    for (const std::string& id : plan_.unique) {
      const auto t = resolve(id);
      if (t && layout_.tables[*t].cluster != ClusterType::DP) {
        layout_.tables[*t].cluster = ClusterType::UB;
      }
    }
    report_missing();
    if (error_) return fail(*error_);
    layout_.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
        plan_.hierarchical ? Exchange::hierarchical : Exchange::flat;
    return std::move(layout_);
  }

  /// Decimal ids are indices, unless every one of them is some table's name.
  std::optional<std::size_t> resolve(const std::string& id) {
    const auto named = by_name_.find(id);
    const auto index = index_of(id);
    if (named != by_name_.end() && (!index || ids_are_names())) return named->second;
    if (index && *index < workload_.tables.size()) return *index;
    if (named != by_name_.end()) return named->second;
    wrong(fmt::format("table {} is not in the workload", quoted_piece(id)),
          fmt::format("a name or an index below {}", workload_.tables.size()));
    return std::nullopt;
  }

 private:
  void wrong(std::string what, std::string expected) {
    if (!error_) {
      error_ = Error{ErrorKind::usage, std::move(what), notes_.file(), std::move(expected),
                     "Check that --workload is the model of this plan"};
    }
  }

  bool ids_are_names() {
    if (!ids_are_names_) {
      const auto is_name = [&](const std::string& id) { return by_name_.contains(id); };
      ids_are_names_ =
          std::all_of(plan_.data_parallel.begin(), plan_.data_parallel.end(), is_name) &&
          std::all_of(plan_.model_parallel.begin(), plan_.model_parallel.end(),
                      [&](const auto& entry) { return is_name(entry.first); });
    }
    return *ids_are_names_;
  }

  std::optional<std::size_t> claim(const std::string& id) {
    const auto t = resolve(id);
    if (t && placed_[*t]) {
      wrong(fmt::format("table {} stands in two strategies", quoted_piece(id)),
            "every table once in shard_strategy");
      return std::nullopt;
    }
    if (t) placed_[*t] = true;
    return t;
  }

  /// A table's GPUs in ascending order take its shards column by column (3.x: by shard_id).
  void place(std::size_t t, const std::string& id, std::int32_t factor) {
    std::vector<HugectrPlan::Shard>& shards = shards_[id];
    std::stable_sort(shards.begin(), shards.end(), [](const auto& a, const auto& b) {
      return a.shard_id != b.shard_id ? a.shard_id < b.shard_id : a.rank < b.rank;
    });
    const Table& table = workload_.tables[t];
    const auto count = static_cast<std::int32_t>(shards.size());
    if (count == 0) return wrong("table " + quoted_piece(id) + " is on no GPU of shard_matrix", "");
    if (count % factor != 0 || table.dim % factor != 0) {
      return wrong(fmt::format("table {} of dim {} has column factor {} on {} GPUs",
                               quoted_piece(id), table.dim, factor, count),
                   "a factor that divides both");
    }
    for (std::size_t s = 1; s < shards.size(); ++s) {
      if (shards[s].rank == shards[s - 1].rank) {
        return wrong(
            fmt::format("table {} stands twice on GPU {}", quoted_piece(id), shards[s].rank),
            "every table at most once in a GPU's list");
      }
    }
    TablePlacement placement = row_wise(table, {});
    placement.row_shards = count / factor;
    placement.column_cuts.clear();
    for (std::int32_t k = 0; k <= factor; ++k) {
      placement.column_cuts.push_back(table.dim / factor * k);
    }
    placement.owners.assign(static_cast<std::size_t>(count), 0);
    for (std::int32_t s = 0; s < count; ++s) {
      const std::int32_t row = s % placement.row_shards;
      const std::int32_t column = s / placement.row_shards;
      placement.owners[static_cast<std::size_t>(row * factor + column)] =
          shards[static_cast<std::size_t>(s)].rank;
    }
    layout_.tables[t] = std::move(placement);
  }

  void report_missing() {
    std::vector<std::string> missing;
    for (std::size_t t = 0; t < placed_.size(); ++t) {
      if (!placed_[t]) missing.push_back(workload_.tables[t].name);
    }
    if (missing.empty()) return;
    const std::size_t count = missing.size();
    if (count > 5) missing.resize(5);
    wrong(fmt::format("{} tables of the workload are not in the plan: {}{}", count,
                      fmt::join(missing, ", "), count > 5 ? ", ..." : ""),
          fmt::format("a plan of {} tables", workload_.tables.size()));
  }

  const HugectrPlan& plan_;
  const Workload& workload_;
  ImportNotes& notes_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::vector<HugectrPlan::Shard>> shards_;
  std::optional<bool> ids_are_names_;
  std::vector<bool> placed_;
  Layout layout_;
  std::optional<Error> error_;
};

std::optional<Pooling> pooling_of(const std::string& combiner) {
  if (combiner == "sum") return Pooling::sum;
  if (combiner == "mean" || combiner == "average") return Pooling::mean;
  if (combiner == "concat") return Pooling::concat;
  return std::nullopt;
}

/// What the file says of the model beside its tables' sizes.
void apply_facts(const HugectrPlan& plan, Workload& workload, ImportNotes& notes) {
  const bool mlperf = std::any_of(plan.facts.begin(), plan.facts.end(), [](const auto& fact) {
    return fact.first == "tp_mlperf_platform" || fact.first == "iter_ms";
  });
  if (mlperf) workload.wire = DType::fp16;  // mixed precision in every submission
  if (plan.global_batch > 0) workload.global_batch = plan.global_batch;
  if (const auto kind = parse_name<OptimizerKind>(plan.optimizer)) {
    for (Table& table : workload.tables) {
      if (table.optimizer.kind != *kind) table.optimizer = make_optimizer(*kind);
    }
  }
  if (plan.combiners.size() != workload.tables.size()) return;
  for (Feature& feature : workload.features) {
    const std::string& combiner = plan.combiners[static_cast<std::size_t>(feature.table)];
    if (const auto pooling = pooling_of(combiner)) {
      feature.pooling = *pooling;
    } else {
      notes.warn(0,
                 "combiner " + quoted_piece(combiner) + " is unknown; " +
                     to_string(feature.pooling) + " is kept",
                 "sum, mean or concat");
    }
  }
}

std::vector<std::vector<std::string>> named_matrix(const HugectrPlan& plan,
                                                   const Workload& workload,
                                                   LayoutBuilder& builder) {
  std::vector<std::vector<std::string>> matrix = plan.matrix;
  for (std::vector<std::string>& row : matrix) {
    for (std::string& id : row) {
      if (const auto t = builder.resolve(id)) id = workload.tables[*t].name;
    }
  }
  return matrix;
}

}  // namespace

Result<ImportedPlan> resolve_hugectr_plan(const HugectrPlan& plan, const ImportContext& context,
                                          ImportNotes& notes) {
  ImportedPlan out;
  out.name = plan.name.empty() ? "hugectr" : plan.name;
  out.executor = Executor::hugectr;
  out.matrix = plan.matrix;
  out.facts = plan.facts;
  if (context.topology && context.topology->ranks() != plan.ranks) {
    return fail({ErrorKind::usage,
                 fmt::format("the plan is for {} GPUs, {} has {}", plan.ranks,
                             context.topology->name, context.topology->ranks()),
                 notes.file(), "a topology of as many ranks", "Change --topology"});
  }
  std::optional<Workload> workload = tables_for(plan, context, notes);
  if (!workload) return out;
  apply_facts(plan, *workload, notes);
  LayoutBuilder builder(plan, *workload, notes);
  Result<Layout> layout = builder.build();
  if (!layout) return fail(layout.error());
  layout->name = out.name;
  out.matrix = named_matrix(plan, *workload, builder);
  const std::int32_t gpus = plan.gpus_per_node > 0 && plan.ranks % plan.gpus_per_node == 0
                                ? plan.gpus_per_node
                                : (plan.ranks % 8 == 0 ? 8 : plan.ranks);
  out.topology = context.topology ? *context.topology
                                  : machine_for(plan.device, plan.ranks / gpus, gpus, notes);
  out.workload = std::move(workload);
  out.layout = std::move(*layout);
  notes.kept(fmt::format("{}: {} tables on {} GPUs, {} replicated, {} unique-based", out.name,
                         out.layout->tables.size(), plan.ranks, plan.data_parallel.size(),
                         plan.unique.size()));
  return out;
}

}  // namespace shardscope::storage
