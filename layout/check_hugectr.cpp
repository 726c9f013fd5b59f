// What HugeCTR's embedding collection can express and run. Source: NVIDIA-Merlin/HugeCTR main,
// commit 2f2016fa (embedding/common.cpp, src/embeddings/embedding_collection.cpp,
// embedding_storage/ragged_static_embedding.*), and its hugectr_layer_book.md, read 2026-09.

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "layout/check_report.hpp"
#include "layout/memory.hpp"

namespace shardscope {

namespace {

constexpr std::int32_t kWidestHugectrVector = 256;  // ev_size
constexpr std::int64_t kMostHugectrKeys = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostHugectrOffsets = std::numeric_limits<std::uint32_t>::max();

class HugectrCheck {
 public:
  HugectrCheck(const CheckInput& input, Report& report) : input_(input), report_(report) {}

  void run() {
    check_world();
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      check_table(t);
      check_features(t);
      if (input_.placement(t).cluster == ClusterType::DP) {
        check_dp(t);
      } else {
        check_shards(t);
        check_cluster(t);
      }
    }
    check_communication();
    check_empty_gpus();
    check_key_counts();
    check_dp_elements();
  }

 private:
  void error(const char* rule, std::size_t t, std::int64_t amount, const std::string& message,
             std::string cure) {
    report_.error(rule, at_table(t), amount,
                  fmt::format("table {}: {}", input_.table(t).name, message), std::move(cure));
  }

  void check_world() {
    const std::int64_t rest = input_.workload.global_batch % input_.topology.ranks();
    if (rest != 0) {
      report_.error(
          "hugectr.batch", {}, rest,
          fmt::format("a batch of {} does not divide by {} GPUs", input_.workload.global_batch,
                      input_.topology.ranks()),
          fmt::format("Use {}", input_.workload.global_batch - rest + input_.topology.ranks()));
    }
    if (input_.workload.wire == DType::bf16) {
      report_.error("hugectr.wire", {}, 0, "HugeCTR's mixed precision is fp16, not bf16",
                    "Set the workload's wire to fp16 or fp32");
    }
  }

  void check_table(std::size_t t) {
    const Table& table = input_.table(t);
    if (table.dtype != DType::fp32) {
      error("hugectr.dtype", t, 0,
            fmt::format("weights are {}, HugeCTR keeps fp32", to_string(table.dtype)),
            "Set its dtype to fp32");
    }
    const OptimizerKind kind = table.optimizer.kind;
    if (kind != OptimizerKind::sgd && kind != OptimizerKind::adagrad) {
      error("hugectr.optimizer", t, 0,
            fmt::format("static tables have no {} optimizer", to_string(kind)),
            "Choose sgd or adagrad");
    }
    for (std::size_t cell = 0; cell < input_.placement(t).tiers.size(); ++cell) {
      if (input_.tier(t, cell).tier == Tier::hbm) continue;
      error("hugectr.tier", t, static_cast<std::int64_t>(cell),
            fmt::format("a shard lies in {}", to_string(input_.tier(t, cell).tier)),
            "Move it to hbm");
      break;
    }
    check_codec(t);
  }

  void check_codec(std::size_t t) {
    const CodecSlots& slots = input_.layout.codecs_of(t);
    for (const CodecSlot* slot : {&slots.forward_intra, &slots.forward_inter, &slots.backward_intra,
                                  &slots.backward_inter}) {
      if (slot->name == "raw") continue;
      error("hugectr.codec", t, 0, fmt::format("HugeCTR has no codec {}", slot->name),
            "Use raw; the workload's wire chooses fp16");
      return;
    }
  }

  void check_features(std::size_t t) {
    bool concat = false;
    bool pooled = false;
    for (const std::int32_t f : input_.readers[t]) {
      const Feature& feature = input_.feature(f);
      concat = concat || feature.pooling == Pooling::concat;
      pooled = pooled || is_pooled(feature.pooling);
      if (feature.pooling == Pooling::sequence) {
        error("hugectr.sequence", t, f, fmt::format("feature {} is a sequence", feature.name),
              "Use concat with a fixed hotness");
      }
      if (feature.hotness.kind != HotnessKind::fixed || feature.hotness.minimum < 1) {
        error("hugectr.hotness", t, f,
              fmt::format("feature {} has bags of different lengths, its reader needs one",
                          feature.name),
              "Give it a fixed hotness >= 1");
      }
      if (feature.num_poolings != 1 || feature.weighted) {
        error("hugectr.feature", t, f,
              fmt::format("feature {} is weighted or has {} bags a sample", feature.name,
                          feature.num_poolings),
              "Use one unweighted bag a sample");
      }
    }
    if (concat && pooled && input_.placement(t).cluster != ClusterType::DP) {
      error("hugectr.combiner_mix", t, 0,
            "its features mix concat and pooling, which fall into two groups of one table",
            "Give each its own table, or use one combiner");
    }
  }

  void check_dp(std::size_t t) {
    for (const std::int32_t f : input_.readers[t]) {
      const Feature& feature = input_.feature(f);
      if (feature.pooling != Pooling::concat || feature.hotness.maximum <= 1) continue;
      error("hugectr.dp_concat", t, f,
            fmt::format("feature {} concatenates {} rows of a replicated table", feature.name,
                        feature.hotness.maximum),
            "Move the table to UB");
    }
  }

  void check_shards(std::size_t t) {
    const TablePlacement& placement = input_.placement(t);
    if (placement.mapping != RowMapping::modulo) {
      error("hugectr.rows_modulo", t, placement.row_shards, "rows are cut into blocks",
            "Set its mapping to modulo");
    }
    const std::int32_t width = placement.width(0);
    for (std::int32_t k = 1; k < placement.column_shards(); ++k) {
      if (placement.width(k) == width) continue;
      error("hugectr.columns_equal", t, placement.width(k),
            fmt::format("column shards are {} and {} wide", width, placement.width(k)),
            "Cut its columns into equal parts");
      break;
    }
    if (width > kWidestHugectrVector) {
      error("hugectr.ev_size", t, width - kWidestHugectrVector,
            fmt::format("vectors of {} elements, at most {} are supported", width,
                        kWidestHugectrVector),
            fmt::format("Cut its columns into {} parts or more",
                        (input_.table(t).dim + kWidestHugectrVector - 1) / kWidestHugectrVector));
    }
    if (width % 4 != 0) {
      report_.warning("hugectr.vectorised", at_table(t), width,
                      fmt::format("table {}: vectors of {} elements are not updated in fours",
                                  input_.table(t).name, width),
                      "Use widths that are multiples of 4");
    }
    check_owner_order(t);
  }

  /// A table's GPUs in ascending order take the shards column by column.
  void check_owner_order(std::size_t t) {
    const TablePlacement& placement = input_.placement(t);
    std::vector<std::int32_t> sorted = placement.owners;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      error("hugectr.owner_twice", t, *twice,
            fmt::format("several of its shards lie on GPU {}", *twice),
            "Put every shard on a GPU of its own");
      return;
    }
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      for (std::int32_t j = 0; j < placement.row_shards; ++j) {
        const auto position =
            static_cast<std::size_t>(k) * static_cast<std::size_t>(placement.row_shards) +
            static_cast<std::size_t>(j);
        if (placement.owner(j, k) == sorted[position]) continue;
        error("hugectr.owner_order", t, sorted[position],
              fmt::format("shard ({}, {}) is on GPU {}, HugeCTR puts it on GPU {}", j, k,
                          placement.owner(j, k), sorted[position]),
              "Order the owners ascending, column by column and row by row");
        return;
      }
    }
  }

  void check_cluster(std::size_t t) {
    if (input_.placement(t).cluster != ClusterType::UB) return;
    if (!input_.layout.options(ClusterType::UB).dedup) {
      error("hugectr.dedup", t, 0, "its ids are to be sent with repetitions",
            "Turn the UB cluster's dedup on");
    }
    if (!input_.all_pooled(t)) return;
    report_.warning("hugectr.ub_pooled", at_table(t), 0,
                    fmt::format("table {} is UB and pooled; the open training loop has no update "
                                "for such groups",
                                input_.table(t).name),
                    "Move the table to RB, or verify that it learns");
  }

  /// CommunicationStrategy is one for the whole collection.
  void check_communication() {
    std::optional<Exchange> first;
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      if (input_.placement(t).cluster != ClusterType::RB) continue;
      const Exchange exchange = input_.layout.exchange_of(t);
      if (first && *first != exchange) {
        error("hugectr.exchange_mix", t, 0,
              fmt::format("it exchanges {}, another RB table {}", to_string(exchange),
                          to_string(*first)),
              "Use one exchange for all RB tables");
        return;
      }
      first = exchange;
    }
    if (first != Exchange::hierarchical) return;
    if (input_.topology.fast_domain == input_.topology.gpus_per_host) return;
    report_.error("hugectr.domain", {}, input_.topology.fast_domain,
                  fmt::format("hierarchical exchange works inside a host of {} GPUs, not a domain "
                              "of {}",
                              input_.topology.gpus_per_host, input_.topology.fast_domain),
                  "Use the flat exchange, or a topology whose fast domain is a host");
  }

  void check_empty_gpus() {
    std::vector<bool> used(static_cast<std::size_t>(input_.topology.ranks()), false);
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      if (input_.placement(t).cluster == ClusterType::DP) return;
      for (const std::int32_t owner : input_.placement(t).owners) {
        used[static_cast<std::size_t>(owner)] = true;
      }
    }
    for (std::size_t rank = 0; rank < used.size(); ++rank) {
      if (used[rank]) continue;
      report_.error(
          "hugectr.empty_gpu", {-1, -1, -1, static_cast<std::int32_t>(rank)}, 0,
          fmt::format("GPU {} holds no table, which its shard matrix does not allow", rank),
          "Put a shard there, or make a small table DP");
    }
  }

  /// Index buffers are sized by a 32-bit count: batch x hotness of all lookups on a GPU.
  void check_key_counts() {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(input_.topology.ranks()), 0);
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      std::int64_t ids = 0;
      for (const std::int32_t f : input_.readers[t]) {
        ids = saturating_add(ids, saturating_multiply(input_.workload.global_batch,
                                                      input_.feature(f).hotness.maximum));
      }
      for (const std::int32_t owner : input_.placement(t).owners) {
        std::int64_t& sum = keys[static_cast<std::size_t>(owner)];
        sum = saturating_add(sum, ids);
      }
    }
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
      if (keys[rank] <= kMostHugectrKeys) continue;
      report_.error("hugectr.keys_32bit", {-1, -1, -1, static_cast<std::int32_t>(rank)},
                    keys[rank] - kMostHugectrKeys,
                    fmt::format("the lookups on GPU {} read up to {} ids a batch, {} more than its "
                                "32-bit counts hold",
                                rank, keys[rank], keys[rank] - kMostHugectrKeys),
                    "Put fewer lookups there, or lower the batch");
    }
  }

  /// Offsets into the dense gradient of all DP tables are 32-bit.
  void check_dp_elements() {
    std::int64_t elements = 0;
    for (std::size_t t = 0; t < input_.layout.tables.size(); ++t) {
      if (input_.placement(t).cluster != ClusterType::DP) continue;
      elements =
          saturating_add(elements, saturating_multiply(input_.table(t).rows, input_.table(t).dim));
    }
    if (elements <= kMostHugectrOffsets) return;
    report_.error("hugectr.dp_elements", {}, elements - kMostHugectrOffsets,
                  fmt::format("replicated tables have {} elements, {} more than the 32-bit offsets "
                              "of their gradient reach",
                              elements, elements - kMostHugectrOffsets),
                  "Replicate fewer or smaller tables");
  }

  const CheckInput& input_;
  Report& report_;
};

}  // namespace

void check_hugectr(const CheckInput& input, Report& report) {
  HugectrCheck(input, report).run();
}

}  // namespace shardscope
