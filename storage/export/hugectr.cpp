#include "storage/export/hugectr.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "layout/json_value.hpp"
#include "layout/torchrec_form.hpp"
#include "storage/export/soundness.hpp"

namespace shardscope::storage {
namespace {

tl::unexpected<Error> refused(const std::string& table, std::string what, std::string cure) {
  return fail({ErrorKind::infeasible, std::move(what),
               table.empty() ? "export to hugectr" : "export to hugectr: table " + table, "",
               std::move(cure)});
}

/// HugeCTR gives the shards of a table to its GPUs in ascending order, column by column.
bool reorder_owners(TablePlacement& placement) {
  std::vector<std::int32_t> sorted = placement.owners;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<std::int32_t> before = placement.owners;
  const std::int32_t columns = placement.column_shards();
  for (std::int32_t k = 0; k < columns; ++k) {
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      placement.owners[static_cast<std::size_t>(j * columns + k)] =
          sorted[static_cast<std::size_t>(k * placement.row_shards + j)];
    }
  }
  return placement.owners != before;
}

class HugectrWriter {
 public:
  HugectrWriter(const Workload& workload, const Topology& topology, const Layout& layout)
      : workload_(workload), topology_(topology), readers_(features_by_table(workload)) {
    out_.layout = layout;
  }

  Result<HugectrExport> write() {
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      if (Status sound = prepare(t); !sound) return fail(sound.error());
    }
    if (Status sound = check_exchange(); !sound) return fail(sound.error());
    if (Status sound = check_rules(); !sound) return fail(sound.error());
    collect();
    out_.json = json_text();
    out_.python = python_text();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::string& name(std::size_t t) const { return workload_.tables[t].name; }

  /// Refuses what HugeCTR has no words for, then puts the owners in its order.
  Status prepare(std::size_t t) {
    TablePlacement& placement = out_.layout.tables[t];
    if (placement.cluster == ClusterType::DP) return {};
    if (placement.cluster == ClusterType::UB) {
      for (const std::int32_t f : readers_[t]) {
        const Feature& feature = workload_.features[static_cast<std::size_t>(f)];
        if (!is_pooled(feature.pooling) || feature.hotness.maximum <= 1) continue;
        return refused(
            name(t),
            fmt::format("it is UB and feature {} pools (by {}) {} rows: HugeCTR's open "
                        "training loop never updates such tables",
                        feature.name, to_string(feature.pooling), feature.hotness.maximum),
            "Move the table to RB");
      }
    }
    if (Status sound = check_cuts(t, placement); !sound) return sound;
    if (reorder_owners(placement)) {
      out_.owners_reordered = true;
      out_.changes.push_back(fmt::format("table {}: shards go to its GPUs in ascending order ({})",
                                         name(t), fmt::join(placement.owners, ", ")));
    }
    return {};
  }

  Status check_cuts(std::size_t t, TablePlacement& placement) {
    for (std::int32_t k = 1; k < placement.column_shards(); ++k) {
      if (placement.width(k) == placement.width(0)) continue;
      return refused(name(t),
                     fmt::format("its column cuts are unequal ({} and {} wide)", placement.width(0),
                                 placement.width(k)),
                     "Cut its columns into equal parts");
    }
    const std::set<std::int32_t> different(placement.owners.begin(), placement.owners.end());
    if (different.size() != placement.owners.size()) {
      return refused(name(t), "several of its shards lie on one GPU",
                     "Put every shard on a GPU of its own");
    }
    if (placement.mapping == RowMapping::modulo) return {};
    if (placement.row_shards > 1 && !has_ceil_blocks(placement, workload_.tables[t].rows)) {
      return refused(name(t), "its rows are cut into unequal blocks",
                     "Cut its rows into equal parts");
    }
    if (placement.row_shards > 1) {
      out_.changes.push_back(fmt::format(
          "table {}: row blocks become residue classes, HugeCTR's only row cut", name(t)));
    }
    placement.mapping = RowMapping::modulo;
    placement.row_cuts.clear();
    return {};
  }

  Status check_exchange() {
    const Exchange* first = nullptr;
    static constexpr Exchange kBoth[] = {Exchange::flat, Exchange::hierarchical};
    for (std::size_t t = 0; t < out_.layout.tables.size(); ++t) {
      if (out_.layout.tables[t].cluster != ClusterType::RB) continue;
      const Exchange exchange = out_.layout.exchange_of(t);
      if (first == nullptr) first = &kBoth[static_cast<std::size_t>(exchange)];
      if (*first == exchange) continue;
      return refused(name(t),
                     fmt::format("it exchanges {}, another RB table {}; an embedding collection "
                                 "has one communication strategy",
                                 to_string(exchange), to_string(*first)),
                     "Use one exchange for all RB tables");
    }
    hierarchical_ = first != nullptr && *first == Exchange::hierarchical;
    return {};
  }

  /// Pooled UB tables with one id a bag go out as concat, which is the same numbers.
  Status check_rules() {
    Workload seen = workload_;
    for (std::size_t t = 0; t < seen.tables.size(); ++t) {
      if (out_.layout.tables[t].cluster != ClusterType::UB) continue;
      for (const std::int32_t f : readers_[t]) {
        Feature& feature = seen.features[static_cast<std::size_t>(f)];
        if (!is_pooled(feature.pooling)) continue;
        feature.pooling = Pooling::concat;
        out_.changes.push_back(
            fmt::format("feature {}: {} of one row goes out as concat", feature.name,
                        to_string(workload_.features[static_cast<std::size_t>(f)].pooling)));
      }
    }
    if (Status sound = require_rules(seen, topology_, out_.layout, Executor::hugectr, out_.changes);
        !sound) {
      return sound;
    }
    features_ = std::move(seen.features);
    return {};
  }

  void collect() {
    matrix_.resize(static_cast<std::size_t>(out_.layout.ranks));
    for (std::size_t t = 0; t < out_.layout.tables.size(); ++t) {
      const TablePlacement& placement = out_.layout.tables[t];
      if (placement.cluster == ClusterType::DP) {
        for (auto& rank : matrix_) rank.push_back(name(t));
        continue;
      }
      for (const std::int32_t owner : placement.owners) {
        matrix_[static_cast<std::size_t>(owner)].push_back(name(t));
      }
    }
  }

  [[nodiscard]] std::vector<std::size_t> tables_of(ClusterType cluster) const {
    std::vector<std::size_t> tables;
    for (std::size_t t = 0; t < out_.layout.tables.size(); ++t) {
      if (out_.layout.tables[t].cluster == cluster) tables.push_back(t);
    }
    return tables;
  }

  [[nodiscard]] JsonValue names_of(ClusterType cluster) const {
    JsonValue::Array names;
    for (const std::size_t t : tables_of(cluster)) names.emplace_back(name(t));
    return JsonValue(std::move(names));
  }

  [[nodiscard]] JsonValue strategy_value() const {
    JsonValue::Array parallel;
    for (std::size_t t = 0; t < out_.layout.tables.size(); ++t) {
      const TablePlacement& placement = out_.layout.tables[t];
      if (placement.cluster == ClusterType::DP) continue;
      if (placement.column_shards() == 1) {
        parallel.emplace_back(name(t));
      } else {
        parallel.emplace_back(JsonValue::Array{name(t), placement.column_shards()});
      }
    }
    JsonValue::Array strategy;
    if (!parallel.empty()) strategy.emplace_back(JsonValue::Array{"mp", std::move(parallel)});
    JsonValue replicated = names_of(ClusterType::DP);
    if (!replicated.array()->empty()) {
      strategy.emplace_back(JsonValue::Array{"dp", std::move(replicated)});
    }
    return JsonValue(std::move(strategy));
  }

  [[nodiscard]] JsonValue matrix_value() const {
    JsonValue::Array rows;
    for (const std::vector<std::string>& rank : matrix_) {
      JsonValue::Array names;
      for (const std::string& table : rank) names.emplace_back(table);
      rows.emplace_back(std::move(names));
    }
    return JsonValue(std::move(rows));
  }

  [[nodiscard]] std::string json_text() const {
    JsonValue::Object root;
    root.emplace_back("name", out_.layout.name);
    root.emplace_back("gpus_per_node", topology_.gpus_per_host);
    root.emplace_back("global_batch_size", workload_.global_batch);
    root.emplace_back("comm_strategy", hierarchical_ ? "Hierarchical" : "Uniform");
    root.emplace_back("shard_matrix", matrix_value());
    root.emplace_back("shard_strategy", strategy_value());
    root.emplace_back("compression_strategy",
                      JsonValue::Object{{"Unique", names_of(ClusterType::UB)},
                                        {"Reduction", names_of(ClusterType::RB)}});
    return write_json(JsonValue(std::move(root))) + "\n";
  }

  /// JSON texts of strings and lists are Python literals as well.
  [[nodiscard]] std::string strategy_python() const {
    std::string text = "[\n";
    const JsonValue strategy = strategy_value();
    for (const JsonValue& group : *strategy.array()) {
      text += fmt::format("    ({}, [\n", write_json_line(group.array()->front()));
      for (const JsonValue& table : *group.array()->back().array()) {
        text += table.array() == nullptr
                    ? fmt::format("        {},\n", write_json_line(table))
                    : fmt::format("        ({}, {}),\n", write_json_line(table.array()->front()),
                                  write_json_line(table.array()->back()));
      }
      text += "    ]),\n";
    }
    return text + "]\n";
  }

  [[nodiscard]] static const char* combiner(Pooling pooling) {
    return pooling == Pooling::mean ? "average" : pooling == Pooling::concat ? "concat" : "sum";
  }

  [[nodiscard]] std::string tables_python() const {
    std::string text = "tables = {\n";
    for (const Table& table : workload_.tables) {
      text += fmt::format(
          "    {0}: hugectr.EmbeddingTableConfig(name={0}, max_vocabulary_size={1}, "
          "ev_size={2}),\n",
          write_json_line(JsonValue(table.name)), table.rows, table.dim);
    }
    return text + "}\n";
  }

  [[nodiscard]] std::string lookups_python() const {
    std::string text = "lookups = [  # (table, bottom name, combiner)\n";
    for (const Feature& feature : features_) {
      text += fmt::format("    ({}, {}, \"{}\"),\n",
                          write_json_line(JsonValue(name(static_cast<std::size_t>(feature.table)))),
                          write_json_line(JsonValue(feature.name)), combiner(feature.pooling));
    }
    return text + "]\n";
  }

  [[nodiscard]] std::string compression_python() const {
    std::string text = "compression_strategy = {\n";
    text += fmt::format("    hugectr.CompressionStrategy.Unique: {},\n",
                        write_json_line(names_of(ClusterType::UB)));
    text += fmt::format("    hugectr.CompressionStrategy.Reduction: {},\n",
                        write_json_line(names_of(ClusterType::RB)));
    return text + "}\n";
  }

  [[nodiscard]] std::string python_text() const {
    std::string text = fmt::format(
        "# Layout {} of {} for {} nodes of {} GPUs; one row of shard_matrix a GPU.\n"
        "import hugectr\n\n",
        write_json_line(JsonValue(out_.layout.name)), write_json_line(JsonValue(workload_.name)),
        topology_.hosts, topology_.gpus_per_host);
    text += "shard_matrix = [\n";
    const JsonValue matrix = matrix_value();
    for (const JsonValue& rank : *matrix.array()) {
      text += fmt::format("    {},\n", write_json_line(rank));
    }
    text += "]\n\nshard_strategy = " + strategy_python() + "\n" + compression_python() + "\n" +
            tables_python() + "\n" + lookups_python();
    text += fmt::format(R"(

def embedding_collection(top_name="sparse_embedding"):
    """The embedding layer with this layout: model.add(embedding_collection())."""
    config = hugectr.EmbeddingCollectionConfig(
        use_exclusive_keys=True,
        comm_strategy=hugectr.CommunicationStrategy.{},
    )
    config.embedding_lookup(
        table_config=[tables[table] for table, _, _ in lookups],
        bottom_name=[bottom for _, bottom, _ in lookups],
        top_name=top_name,
        combiner=[combiner for _, _, combiner in lookups],
    )
    config.shard(
        shard_matrix=shard_matrix,
        shard_strategy=shard_strategy,
        compression_strategy=compression_strategy,
    )
    return config
)",
                        hierarchical_ ? "Hierarchical" : "Uniform");
    return text;
  }

  const Workload& workload_;
  const Topology& topology_;
  std::vector<std::vector<std::int32_t>> readers_;
  std::vector<Feature> features_;  ///< with the combiners that are written
  std::vector<std::vector<std::string>> matrix_;
  bool hierarchical_ = false;
  HugectrExport out_;
};

}  // namespace

Result<HugectrExport> export_hugectr(const Workload& workload, const Topology& topology,
                                     const Layout& layout) {
  if (Status sound = require_sound(workload, topology, layout, Executor::hugectr); !sound) {
    return fail(sound.error());
  }
  return HugectrWriter(workload, topology, layout).write();
}

}  // namespace shardscope::storage
