#include "storage/import/trace/trace_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "layout/memory.hpp"
#include "layout/models.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostTries = 4'000'000;
constexpr double kIdsTolerance = 0.02;

/// Facts of a candidate table in one dim for all.
struct Candidate {
  std::int64_t rows = 0;
  double ids_per_sample = 0;
};

/// Subsets of `count` tables with that many rows in all and about that many ids a sample.
class SubsetSearch {
 public:
  SubsetSearch(const std::vector<Candidate>& tables, std::int64_t rows, double ids)
      : tables_(tables), rows_(rows), ids_(ids) {}

  /// The only subset; nothing where there is none or a second one.
  std::optional<std::vector<std::size_t>> only(std::int64_t count) {
    extend(0, count, rows_, ids_);
    if (found_.size() != 1) return std::nullopt;
    return found_.front();
  }

 private:
  void extend(std::size_t from, std::int64_t left, std::int64_t rows, double ids) {
    if (++tries_ > kMostTries || found_.size() > 1) return;
    if (left == 0) {
      if (rows == 0 && std::abs(ids) <= kIdsTolerance * std::max(ids_, 1.0)) {
        found_.push_back(chosen_);
      }
      return;
    }
    for (std::size_t t = from; t < tables_.size(); ++t) {
      if (tables_[t].rows > rows) continue;
      chosen_.push_back(t);
      extend(t + 1, left - 1, rows - tables_[t].rows, ids - tables_[t].ids_per_sample);
      chosen_.pop_back();
    }
  }

  const std::vector<Candidate>& tables_;
  std::int64_t rows_;
  double ids_;
  std::vector<std::size_t> chosen_;
  std::vector<std::vector<std::size_t>> found_;
  std::int64_t tries_ = 0;
};

std::vector<Candidate> candidates_of(const Workload& workload) {
  std::vector<Candidate> tables;
  for (const Table& table : workload.tables) tables.push_back({table.rows, 0});
  for (const Feature& feature : workload.features) {
    tables[static_cast<std::size_t>(feature.table)].ids_per_sample +=
        feature.hotness.mean() * feature.num_poolings;
  }
  return tables;
}

/// Owners by table (-1: replicated) where every rank is explained; else nothing.
std::optional<std::vector<std::int32_t>> solve(const ImportedTrace& trace,
                                               const std::vector<Candidate>& tables,
                                               std::int64_t dim) {
  constexpr std::int32_t kUnplaced = -2;
  std::vector<std::int32_t> owners(tables.size(), kUnplaced);
  for (std::size_t r = 0; r < trace.totals.size(); ++r) {
    const TraceRank& rank = trace.totals[r];
    if (rank.tables == 0 || rank.elements % dim != 0) return std::nullopt;
    const auto subset =
        SubsetSearch(tables, rank.elements / dim, rank.ids_per_sample).only(rank.tables);
    if (!subset) return std::nullopt;
    for (const std::size_t t : *subset) {
      if (owners[t] != kUnplaced) return std::nullopt;
      owners[t] = static_cast<std::int32_t>(r);
    }
  }
  std::int64_t replicated = 0;
  std::int64_t elements = 0;
  for (std::size_t t = 0; t < owners.size(); ++t) {
    if (owners[t] != kUnplaced) continue;
    owners[t] = -1;
    ++replicated;
    elements = saturating_add(elements, saturating_multiply(tables[t].rows, dim));
  }
  const TraceRank& first = trace.totals.front();
  if (replicated != first.replicated_tables || elements != first.replicated_elements) {
    return std::nullopt;
  }
  return owners;
}

ImportedPlan plan_of(const ImportedTrace& trace, Workload workload,
                     const std::vector<std::int32_t>& owners, std::int32_t dim) {
  ImportedPlan plan;
  plan.name = "trace";
  plan.matrix.resize(trace.ranks.size());
  Layout layout;
  layout.name = plan.name;
  layout.ranks = static_cast<std::int32_t>(trace.ranks.size());
  for (std::size_t t = 0; t < owners.size(); ++t) {
    Table& table = workload.tables[t];
    table.dim = dim;
    layout.table_names.push_back(table.name);
    if (owners[t] < 0) {
      layout.tables.push_back(data_parallel(table));
      continue;
    }
    layout.tables.push_back(table_wise(table, owners[t]));
    plan.matrix[static_cast<std::size_t>(owners[t])].push_back(table.name);
  }
  workload.global_batch = trace.totals.front().batch;
  plan.layout = std::move(layout);
  plan.workload = std::move(workload);
  return plan;
}

}  // namespace

std::optional<ImportedPlan> identify_tables(const ImportedTrace& trace,
                                            const ImportContext& context, ImportNotes& notes) {
  const auto ranks = static_cast<std::int32_t>(trace.ranks.size());
  if (ranks == 0 || trace.totals.front().tables == 0) return std::nullopt;
  if (trace.world_size > ranks) {
    notes.warn(0,
               fmt::format("{} of {} ranks are here: tables cannot be told from each other and "
                           "waiting counts against these ranks alone",
                           ranks, trace.world_size),
               "a trace of every rank");
    return std::nullopt;
  }
  std::vector<Workload> models;
  if (context.workload) {
    models.push_back(*context.workload);
  } else {
    for (const std::string& name : model_names()) models.push_back(model_by_name(name).value());
  }
  for (Workload& model : models) {
    if (model.tables.empty()) continue;
    std::vector<std::int32_t> dims = {4, 8, 16, 32, 64, 128, 256, 512};
    dims.insert(dims.begin(), std::max(model.tables.front().dim, 1));
    const std::vector<Candidate> tables = candidates_of(model);
    for (const std::int32_t dim : dims) {
      const auto owners = solve(trace, tables, dim);
      if (!owners) continue;
      notes.kept(
          fmt::format("the operators' sizes fit the tables of {} with dim {} in one way only",
                      model.name, dim));
      return plan_of(trace, std::move(model), *owners, dim);
    }
  }
  notes.warn(0, "the operators' sizes do not tell which tables lie where",
             "--workload of the model that was traced");
  return std::nullopt;
}

}  // namespace shardscope::storage
