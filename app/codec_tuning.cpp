#include "app/codec_tuning.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/values.hpp"
#include "engine/codec/table_profile.hpp"
#include "planner/codec_search.hpp"

namespace shardscope::app {
namespace {

/// A megabyte of vectors is as much as one rank sends another of a table.
constexpr std::int64_t kMostValues = 1 << 18;

Result<TableCodecs> measure_table(const Inputs& inputs, const Layout& layout, std::size_t t,
                                  const engine::RankBatch& batch, const CodecTuning& tuning) {
  const Table& table = inputs.workload.tables[t];
  const ClusterType cluster = layout.tables[t].cluster;
  TableCodecs result;
  result.table = static_cast<std::int32_t>(t);
  result.bound_class = bound_class(table.rows);
  result.bound = tuning.bounds.of(result.bound_class);
  if (cluster == ClusterType::DP) return result;
  const engine::VectorSample sample =
      engine::sample_vectors(inputs.workload, t, cluster, batch, tuning.seed, kMostValues);
  result.sampled_rows = sample.shape.rows;
  if (sample.shape.rows == 0) return result;
  result.homogenization = engine::homogenization(sample, tuning.bounds.base);
  result.bound_class = bound_class(table.rows, result.homogenization);
  result.bound = tuning.bounds.of(result.bound_class);
  auto profiles = engine::measure_profiles(
      sample, table.name, engine::specs_at(tuning.codecs, result.bound), tuning.seconds_each);
  if (!profiles) return fail(profiles.error());
  for (CodecProfile& profile : *profiles) profile.cluster = cluster;
  result.profiles = std::move(*profiles);
  return result;
}

/// What the iteration makes of the choices: a codec that saves its exchange time may cost the ranks
/// more than that, and one that does not may still shorten an iteration that waits for the wire.
void keep_what_pays(const Inputs& inputs, const std::vector<double>& bounds, TunedCodecs& tuned) {
  PredictOptions options;
  options.codecs = profiles_of(tuned.tables);
  for (const engine::CodecKind kind : codecs_to_choose_from())
    options.allowed_codecs.forward.emplace_back(name_of(kind));
  options.allowed_codecs.backward = {std::string(name_of(engine::CodecKind::bf16))};
  options.allowed_codecs.bounds = bounds;
  const PlanContext context(inputs.workload, inputs.topology, options);
  tuned.layout = with_paying_codecs(context, tuned.layout, [] { return true; });
  for (std::vector<CodecChoice>* hop : {&tuned.between, &tuned.inside}) {
    for (CodecChoice& choice : *hop) {
      const auto t = static_cast<std::size_t>(choice.table);
      if (tuned.layout.tables[t].cluster == ClusterType::DP) continue;
      const CodecSlots& slots = tuned.layout.codecs_of(t);
      const CodecSlot& kept =
          choice.hop == LinkClass::inter ? slots.forward_inter : slots.forward_intra;
      if (kept.name == choice.codec) continue;
      choice.reason =
          fmt::format("{} for the whole iteration; by itself: {}",
                      kept.name == "raw" ? "does not pay" : "best " + kept.name, choice.reason);
      choice.codec = kept.name;
    }
  }
}

}  // namespace

Result<std::vector<TableCodecs>> measure_tables(const Inputs& inputs, const Layout& layout,
                                                const CodecTuning& tuning) {
  const auto source = engine::make_batch_source(inputs.workload, tuning.seed, tuning.range_policy);
  if (!source) return fail(source.error());
  const auto batch = (*source)->make(0, 0, inputs.topology.ranks());
  if (!batch) return fail(batch.error());
  std::vector<TableCodecs> tables;
  for (std::size_t t = 0; t < inputs.workload.tables.size(); ++t) {
    auto table = measure_table(inputs, layout, t, *batch, tuning);
    if (!table) return fail(table.error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

std::vector<CodecProfile> profiles_of(const std::vector<TableCodecs>& tables) {
  std::vector<CodecProfile> all;
  for (const TableCodecs& table : tables) {
    all.insert(all.end(), table.profiles.begin(), table.profiles.end());
  }
  return all;
}

std::vector<engine::CodecKind> codecs_to_choose_from() {
  return {engine::CodecKind::fixed, engine::CodecKind::dedup_fixed,
          engine::CodecKind::dedup_huffman};
}

Result<TunedCodecs> tune_codecs(const Inputs& inputs, const Layout& layout, CodecTuning tuning) {
  tuning.codecs = codecs_to_choose_from();
  tuning.codecs.push_back(engine::CodecKind::bf16);
  tuning.codecs.push_back(engine::CodecKind::raw);
  auto tables = measure_tables(inputs, layout, tuning);
  if (!tables) return fail(tables.error());
  TunedCodecs tuned;
  tuned.tables = std::move(*tables);
  std::vector<CodecProfile> forward = profiles_of(tuned.tables);
  std::erase_if(forward,
                [](const CodecProfile& one) { return one.codec == "bf16" || one.codec == "raw"; });
  std::vector<double> bounds;
  for (const TableCodecs& table : tuned.tables) bounds.push_back(table.bound);
  CodecChoiceOptions hop;
  tuned.between = choose_codecs(inputs.workload, inputs.topology, layout, forward, hop);
  hop.hop = LinkClass::intra;
  tuned.inside = choose_codecs(inputs.workload, inputs.topology, layout, forward, hop);
  tuned.layout = with_codecs(with_codecs(layout, tuned.between, bounds), tuned.inside, bounds);
  keep_what_pays(inputs, bounds, tuned);
  return tuned;
}

Result<Topology> topology_at_wire(Topology topology, const std::string& wire) {
  const auto throttle = parse_wire(wire);
  if (!throttle) return fail(throttle.error());
  const auto slow_down = [](LinkModel& link, double bytes_per_s) {
    if (bytes_per_s <= 0) return;
    link.bytes_per_s.value = bytes_per_s;
    link.efficiency.value = 1;
    link.by_size.clear();
  };
  slow_down(topology.intra, throttle->intra_bytes_per_s);
  slow_down(topology.inter, throttle->inter_bytes_per_s);
  return topology;
}

}  // namespace shardscope::app
