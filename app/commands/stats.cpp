#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "storage/documents.hpp"
#include "storage/statistics.hpp"

namespace shardscope::app {
namespace {

/// Share of keys that read the `rows` most popular rows, from the curve's point at or below.
std::string mass_text(const TableStats& stats, double rows) {
  double share = 0;
  for (const MassPoint& point : stats.top_mass) {
    if (point.rows <= rows) share = point.share;
  }
  return fmt::format("{:.1f}", share * 100);
}

std::string unique_share_text(const TableStats& stats) {
  if (stats.unique.empty() || stats.unique.back().keys <= 0) return "-";
  return fmt::format("{:.1f}", stats.unique.back().unique / stats.unique.back().keys * 100);
}

void print_stats(const Inputs& inputs, const StatsOptions& options,
                 const std::vector<TableStats>& all, const std::string& session) {
  fmt::print("{}: {} of {}, seed {}{}\n\n", inputs.workload.name,
             options.iterations == 1 ? std::string("1 global batch")
                                     : grouped(options.iterations) + " global batches",
             counted(inputs.workload.global_batch, "sample"), options.seed,
             inputs.workload.rows_cap > 0
                 ? fmt::format(", rows capped at {}", grouped(inputs.workload.rows_cap))
                 : "");
  TextTable table({{"table", Align::left},
                   {"rows"},
                   {"ids a bag"},
                   {"p99"},
                   {"empty %"},
                   {"ids"},
                   {"distinct/batch %"},
                   {"top 1 %"},
                   {"top 100 %"},
                   {"top 10k %"},
                   {"working set"},
                   {"untouched"},
                   {"out of range"}});
  for (std::size_t index = 0; index < all.size(); ++index) {
    const TableStats& stats = all[index];
    table.row({stats.table, grouped(inputs.workload.tables[index].rows),
               fmt::format("{:.3g}", stats.mean_bag_length),
               fmt::format("{:.3g}", stats.p99_bag_length),
               fmt::format("{:.1f}", stats.empty_bag_share * 100), grouped(stats.keys),
               unique_share_text(stats), mass_text(stats, 1), mass_text(stats, 100),
               mass_text(stats, 10000), grouped(stats.working_set_rows),
               grouped(stats.untouched_rows), grouped(stats.out_of_range)});
  }
  fmt::print(
      "{}\n\"top N %\": share of ids that read the N most popular rows. "
      "\"distinct/batch %\": rows a whole batch reads, per id.\n\nSession: {}\n",
      table.text(), session);
}

void print_stats_json(const Inputs& inputs, const std::vector<TableStats>& all,
                      const std::string& session) {
  nlohmann::ordered_json json = {{"workload", inputs.workload.name},
                                 {"rows_cap", inputs.workload.rows_cap},
                                 {"global_batch", inputs.workload.global_batch},
                                 {"tables", nlohmann::ordered_json::array()},
                                 {"session", session}};
  for (const TableStats& stats : all) {
    json["tables"].push_back(nlohmann::ordered_json::parse(to_json(stats)));
  }
  fmt::print("{}\n", json.dump(2));
}

Status store(const OpenSession& session, const Inputs& inputs, const StatsOptions& options,
             const std::vector<TableStats>& all) {
  const auto workload = storage::save_workload(session.session(), inputs.workload);
  if (!workload) return fail(workload.error());
  const std::string source = fmt::format("seed {}, {} batches", options.seed, options.iterations);
  return storage::save_table_stats(session.session(), *workload, source, all);
}

}  // namespace

Status stats(const StatsOptions& options) {
  if (options.compression) return stats_compression(options);
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  Result<std::unique_ptr<engine::BatchSource>> source =
      engine::make_batch_source(inputs->workload, options.seed, options.range_policy);
  if (!source) return fail(source.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "stats");
  if (!session) return fail(session.error());
  const Result<std::vector<TableStats>> all = engine::collect_stats(
      inputs->workload, **source, options.iterations, inputs->topology.ranks());
  if (!all) return fail(all.error());
  (*session)->keep();
  if (Status stored = store(**session, *inputs, options, *all); !stored) return stored;
  if (Status closed = (*session)->close(); !closed) return closed;
  if (options.json) {
    print_stats_json(*inputs, *all, (*session)->path());
  } else {
    print_stats(*inputs, options, *all, (*session)->path());
  }
  return {};
}

}  // namespace shardscope::app
