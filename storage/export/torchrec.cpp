#include "storage/export/torchrec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "layout/json_value.hpp"
#include "layout/torchrec_form.hpp"
#include "storage/export/soundness.hpp"
#include "storage/export/torchrec_loader.hpp"

namespace shardscope::storage {
namespace {

class TorchrecWriter {
 public:
  TorchrecWriter(const Workload& workload, const Topology& topology, const Layout& layout)
      : workload_(workload), topology_(topology), readers_(features_by_table(workload)) {
    out_.layout = layout;
  }

  Result<TorchrecExport> write(const std::string& json_name) {
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) to_blocks(t);
    if (Status sound =
            require_rules(workload_, topology_, out_.layout, Executor::torchrec, out_.changes);
        !sound) {
      return fail(sound.error());
    }
    JsonValue::Object modules;
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      const auto names = names_of(t);
      const std::string& module = names.first;
      auto found = std::find_if(modules.begin(), modules.end(),
                                [&](const auto& field) { return field.first == module; });
      if (found == modules.end()) {
        modules.emplace_back(module, JsonValue::Object{});
        found = std::prev(modules.end());
      }
      std::get<JsonValue::Object>(found->second.data).emplace_back(names.second, entry(t));
    }
    out_.json =
        write_json(JsonValue(JsonValue::Object{{"plan", JsonValue(std::move(modules))}})) + "\n";
    out_.loader = torchrec_loader(workload_, topology_, constraints(), json_name);
    return std::move(out_);
  }

 private:
  /// TorchRec cuts rows into blocks of ceil(rows / shards).
  void to_blocks(std::size_t t) {
    TablePlacement& placement = out_.layout.tables[t];
    const Table& table = workload_.tables[t];
    if (placement.cluster == ClusterType::DP || placement.mapping == RowMapping::block) return;
    if (placement.row_shards == 1) return;
    placement.mapping = RowMapping::block;
    const std::int64_t block = (table.rows + placement.row_shards - 1) / placement.row_shards;
    placement.row_cuts.clear();
    for (std::int32_t j = 0; j <= placement.row_shards; ++j) {
      placement.row_cuts.push_back(std::min(table.rows, block * j));
    }
    out_.changes.push_back(fmt::format(
        "table {}: residue classes of rows become equal blocks, TorchRec's only row cut",
        table.name));
  }

  [[nodiscard]] bool pooled(std::size_t t) const {
    return std::all_of(readers_[t].begin(), readers_[t].end(), [&](std::int32_t f) {
      return is_pooled(workload_.features[static_cast<std::size_t>(f)].pooling);
    });
  }

  /// Module and parameter; a path that an import put before a repeated name is taken off again.
  std::pair<std::string, std::string> names_of(std::size_t t) {
    const Table& table = workload_.tables[t];
    if (table.module_path.empty()) {
      const std::string module = pooled(t) ? kPooledModule : kSequenceModule;
      if (!module_assumed_) {
        out_.changes.push_back("the workload names no modules; " + module +
                               " is written: replace it by the FQN in your model");
        module_assumed_ = true;
      }
      return {module, table.name};
    }
    const std::string prefix = table.module_path + ".";
    return {table.module_path,
            table.name.starts_with(prefix) ? table.name.substr(prefix.size()) : table.name};
  }

  [[nodiscard]] const char* kernel(std::size_t t) const {
    const TablePlacement& placement = out_.layout.tables[t];
    if (placement.cluster == ClusterType::DP) return "dense";
    const Tier tier = placement.tiers.empty() ? Tier::hbm : placement.tiers.front().tier;
    switch (tier) {
      case Tier::uvm:
        return "fused_uvm";
      case Tier::uvm_cached:
        return "fused_uvm_caching";
      case Tier::ssd:
        return "key_value";
      case Tier::hbm:
      case Tier::hash:
        break;
    }
    return "fused";
  }

  [[nodiscard]] JsonValue entry(std::size_t t) const {
    const TablePlacement& placement = out_.layout.tables[t];
    const auto form = torchrec_form(placement, topology_);
    JsonValue::Object fields;
    fields.emplace_back("sharding_type", to_string(*form));
    fields.emplace_back("compute_kernel", kernel(t));
    JsonValue::Array ranks;
    if (placement.cluster == ClusterType::DP) {
      for (std::int32_t rank = 0; rank < topology_.ranks(); ++rank) ranks.emplace_back(rank);
      fields.emplace_back("ranks", std::move(ranks));
      return JsonValue(std::move(fields));
    }
    JsonValue::Array shards;
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      for (std::int32_t j = 0; j < placement.row_shards; ++j) {
        const std::int32_t owner = placement.owner(j, k);
        ranks.emplace_back(owner);
        shards.push_back(shard(t, j, k, owner));
      }
    }
    fields.emplace_back("ranks", std::move(ranks));
    fields.emplace_back("shards", std::move(shards));
    return JsonValue(std::move(fields));
  }

  [[nodiscard]] JsonValue shard(std::size_t t, std::int32_t j, std::int32_t k,
                                std::int32_t owner) const {
    const TablePlacement& placement = out_.layout.tables[t];
    const std::int64_t first =
        placement.row_shards == 1 ? 0 : placement.row_cuts[static_cast<std::size_t>(j)];
    const std::int64_t rows = placement.rows_in(j, workload_.tables[t].rows);
    JsonValue::Object fields;
    fields.emplace_back("shard_offsets", JsonValue::Array{first, placement.column_begin(k)});
    fields.emplace_back("shard_sizes", JsonValue::Array{rows, placement.width(k)});
    fields.emplace_back("placement",
                        fmt::format("rank:{}/cuda:{}", owner, owner % topology_.gpus_per_host));
    return JsonValue(std::move(fields));
  }

  [[nodiscard]] std::vector<TorchrecConstraint> constraints() {
    std::vector<TorchrecConstraint> all;
    for (std::size_t t = 0; t < workload_.tables.size(); ++t) {
      const TablePlacement& placement = out_.layout.tables[t];
      TorchrecConstraint one;
      one.table = names_of(t).second;
      one.form = to_string(*torchrec_form(placement, topology_));
      one.kernel = kernel(t);
      if (placement.cluster != ClusterType::DP && placement.column_shards() > 1) {
        one.min_partition = placement.width(0);
      }
      for (const std::int32_t f : readers_[t]) {
        const Feature& feature = workload_.features[static_cast<std::size_t>(f)];
        one.pooling_factors.push_back(feature.hotness.mean());
        one.num_poolings.push_back(feature.num_poolings);
        one.weighted = one.weighted || feature.weighted;
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  const Workload& workload_;
  const Topology& topology_;
  std::vector<std::vector<std::int32_t>> readers_;
  bool module_assumed_ = false;
  TorchrecExport out_;
};

}  // namespace

Result<TorchrecExport> export_torchrec(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const std::string& json_name) {
  if (Status sound = require_sound(workload, topology, layout, Executor::torchrec); !sound) {
    return fail(sound.error());
  }
  return TorchrecWriter(workload, topology, layout).write(json_name);
}

}  // namespace shardscope::storage
