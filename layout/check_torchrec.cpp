// What TorchRec can express and run. Source: meta-pytorch/torchrec 1.9.0a0
// (torchrec/distributed/sharding_plan.py, types.py, planner/), read 2026-09.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "layout/check_report.hpp"
#include "layout/memory.hpp"
#include "layout/torchrec_form.hpp"

namespace shardscope {

namespace {

/// Precisions of QCommsConfig that have a name as a codec.
constexpr std::array<std::string_view, 3> kTorchrecCodecs = {"raw", "fp16", "bf16"};
constexpr std::int64_t kMostElementsOf32Bits = std::numeric_limits<std::int32_t>::max();

class TorchrecCheck {
 public:
  TorchrecCheck(const CheckInput& input, Report& report) : input_(input), report_(report) {}

  void run() {
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      check_pooling(t);
      check_tiers(t);
      check_codecs(t);
      check_state(t);
      if (input_.placement(t).cluster != ClusterType::DP) check_shards(t);
    }
  }

 private:
  void error(const char* rule, std::size_t t, std::int64_t amount, const std::string& message,
             std::string cure) {
    report_.error(rule, at_table(t), amount,
                  fmt::format("table {}: {}", input_.table(t).name, message), std::move(cure));
  }
  void warning(const char* rule, std::size_t t, std::int64_t amount, const std::string& message,
               std::string cure) {
    report_.warning(rule, at_table(t), amount,
                    fmt::format("table {}: {}", input_.table(t).name, message), std::move(cure));
  }

  /// A table belongs to an EmbeddingBagCollection (pooled) or an EmbeddingCollection (not).
  void check_pooling(std::size_t t) {
    if (input_.any_pooled(t) && !input_.all_pooled(t)) {
      error("torchrec.pooling_mix", t, 0, "its features mix pooled and unpooled",
            "Give each kind a table of its own");
      return;
    }
    if (input_.placement(t).cluster == ClusterType::UB && input_.any_pooled(t)) {
      error("torchrec.ub_pooled", t, 0, "pooled tables are reduced at their owners (RB)",
            "Move it to RB");
    }
  }

  /// The compute kernel is one for all shards of a table.
  void check_tiers(std::size_t t) {
    const std::vector<ShardTier>& tiers = input_.placement(t).tiers;
    if (tiers.empty()) return;
    if (std::any_of(tiers.begin(), tiers.end(),
                    [&](const ShardTier& tier) { return !(tier == tiers.front()); })) {
      error("torchrec.tier_mix", t, 0, "its shards lie in different tiers",
            "Choose one tier and cache_load_factor for the whole table");
    }
    const Tier tier = tiers.front().tier;
    const bool replicated = input_.placement(t).cluster == ClusterType::DP;
    if (tier == Tier::hash || (replicated && tier != Tier::hbm)) {
      error("torchrec.tier", t, 0,
            fmt::format("{} tables cannot lie in {}", replicated ? "replicated" : "sharded",
                        to_string(tier)),
            replicated ? "Move it to hbm" : "Choose hbm, uvm, uvm_cached or ssd");
    }
  }

  void check_codecs(std::size_t t) {
    if (input_.placement(t).cluster == ClusterType::DP) return;
    const CodecSlots& slots = input_.layout.codecs_of(t);
    for (const CodecSlot* slot : {&slots.forward_intra, &slots.forward_inter, &slots.backward_intra,
                                  &slots.backward_inter}) {
      if (std::find(kTorchrecCodecs.begin(), kTorchrecCodecs.end(), slot->name) !=
          kTorchrecCodecs.end()) {
        continue;
      }
      error("torchrec.codec", t, 0, fmt::format("TorchRec has no codec {}", slot->name),
            "Use raw, fp16 or bf16");
      return;
    }
  }

  void check_state(std::size_t t) {
    const Optimizer& optimizer = input_.table(t).optimizer;
    const std::int32_t columns = input_.placement(t).column_shards();
    if (optimizer.words_per_row == 0 || optimizer.per_shard || columns == 1) return;
    warning("torchrec.per_shard", t, columns,
            fmt::format("row-wise state is kept per column shard, so {} column shards change what "
                        "is learned",
                        columns),
            "Set the optimizer's per_shard to accept it, or do not cut its columns");
  }

  void check_shards(std::size_t t) {
    check_widths(t);
    check_elements(t);
    const TablePlacement& placement = input_.placement(t);
    const std::optional<TorchrecForm> form = torchrec_form(placement, input_.topology);
    if (!form) {
      error("torchrec.form", t, placement.row_shards,
            fmt::format("{} row by {} column shards on these ranks are none of TorchRec's forms",
                        placement.row_shards, placement.column_shards()),
            "Cut rows over all ranks or over the ranks of one host, in rank order, or cut columns "
            "alone");
      return;
    }
    if (placement.row_shards > 1) check_rows(t, *form);
    check_route(t, *form);
  }

  void check_widths(std::size_t t) {
    const TablePlacement& placement = input_.placement(t);
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      if (placement.width(k) % 4 == 0) continue;
      report_.error("columns.multiple_of_4", {static_cast<std::int32_t>(t), -1, k, -1},
                    placement.width(k) % 4,
                    fmt::format("table {}: column shard {} is {} wide", input_.table(t).name, k,
                                placement.width(k)),
                    "Use widths that are multiples of 4");
    }
  }

  /// Row-wise tables take any block bounds; inside a host they are equal.
  void check_rows(std::size_t t, TorchrecForm form) {
    const TablePlacement& placement = input_.placement(t);
    if (placement.mapping != RowMapping::block) {
      error("torchrec.rows_block", t, placement.row_shards, "rows are residue classes (modulo)",
            "Set its mapping to block");
    } else if (form != TorchrecForm::row_wise &&
               !has_ceil_blocks(placement, input_.table(t).rows)) {
      error("torchrec.rows_equal", t, placement.row_shards,
            fmt::format("row bounds of {} are not blocks of ceil(rows / {})", to_string(form),
                        placement.row_shards),
            "Use equal blocks, the last ones shorter");
    }
  }

  /// Forms inside a host reduce there first; the others exchange flat.
  void check_route(std::size_t t, TorchrecForm form) {
    if (input_.placement(t).cluster != ClusterType::RB) return;
    const bool in_host = form == TorchrecForm::table_row_wise || form == TorchrecForm::grid_shard;
    const bool hierarchical = input_.layout.exchange_of(t) == Exchange::hierarchical;
    if (in_host == hierarchical || input_.topology.domains() == 1) return;
    warning("torchrec.exchange", t, 0,
            fmt::format("TorchRec exchanges {} {}", to_string(form),
                        in_host ? "inside the host first" : "flat"),
            fmt::format("Set its exchange to {}",
                        to_string(in_host ? Exchange::hierarchical : Exchange::flat)));
  }

  /// FBGEMM trains them, but its quantising kernels index elements with 32 bits.
  void check_elements(std::size_t t) {
    const TablePlacement& placement = input_.placement(t);
    for (std::int32_t j = 0; j < placement.row_shards; ++j) {
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        const std::int64_t elements =
            saturating_multiply(placement.rows_in(j, input_.table(t).rows), placement.width(k));
        if (elements <= kMostElementsOf32Bits) continue;
        report_.warning("torchrec.elements",
                        {static_cast<std::int32_t>(t), j, k, placement.owner(j, k)},
                        elements - kMostElementsOf32Bits,
                        fmt::format("table {}: shard ({}, {}) has {} elements; quantised export "
                                    "indexes them with 32 bits",
                                    input_.table(t).name, j, k, elements),
                        "Cut it further if the model is to be quantised");
      }
    }
  }

  const CheckInput& input_;
  Report& report_;
};

}  // namespace

void check_torchrec(const CheckInput& input, Report& report) {
  TorchrecCheck(input, report).run();
}

}  // namespace shardscope
