#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "layout/check_report.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/memory.hpp"

namespace shardscope {

namespace {

/// Codecs that the engine runs, and which of them keep a bound (engine/codec/codec_kind.hpp).
struct EngineCodec {
  std::string_view name;
  bool keeps_bound = true;
};
constexpr std::array<EngineCodec, 13> kEngineCodecs = {{{"raw"},
                                                        {"fp16", false},
                                                        {"bf16", false},
                                                        {"row-int8", false},
                                                        {kErrorFeedbackCodec, false},
                                                        {"row-int4", false},
                                                        {"fixed"},
                                                        {"dedup-fixed"},
                                                        {"dedup-huffman"},
                                                        {"vector-lz"},
                                                        {"const"},
                                                        {"zstd"},
                                                        {"lz4"}}};

/// Positions in lists of ids are 32-bit (engine/ops.hpp).
constexpr std::int64_t kMostEnginePositions = std::numeric_limits<std::uint32_t>::max();

void check_engine_optimizer(const CheckInput& input, std::size_t t, Report& report) {
  const Optimizer& optimizer = input.table(t).optimizer;
  if (optimizer.kind == OptimizerKind::other) {
    report.error(
        "engine.optimizer", at_table(t), 0,
        fmt::format("table {} has an optimizer the engine does not run", input.table(t).name),
        "Choose sgd, adagrad, rowwise_adagrad or adam");
    return;
  }
  const Optimizer usual = make_optimizer(optimizer.kind);
  if (optimizer.words_per_element != usual.words_per_element ||
      optimizer.words_per_row != usual.words_per_row) {
    report.error(
        "engine.optimizer_words", at_table(t), optimizer.words_per_element,
        fmt::format("table {}: {} has {} state words an element and {} a row, not {} and {}",
                    input.table(t).name, to_string(optimizer.kind), usual.words_per_element,
                    usual.words_per_row, optimizer.words_per_element, optimizer.words_per_row),
        "Use the optimizer's own words, or the kind other");
  }
  if (optimizer.per_shard && input.placement(t).column_shards() > 1) {
    report.warning("engine.per_shard", at_table(t), input.placement(t).column_shards(),
                   fmt::format("table {} keeps row-wise state per column shard: its {} column "
                               "shards change what is learned",
                               input.table(t).name, input.placement(t).column_shards()),
                   "Turn per_shard off, or do not cut its columns");
  }
}

void check_engine_tiers(const CheckInput& input, std::size_t t, Report& report) {
  const TablePlacement& placement = input.placement(t);
  for (std::size_t cell = 0; cell < placement.tiers.size(); ++cell) {
    if (placement.tiers[cell].tier == Tier::hbm) continue;
    const auto columns = static_cast<std::size_t>(placement.column_shards());
    const bool owned = cell < placement.owners.size();
    report.error(
        "engine.tier",
        {static_cast<std::int32_t>(t), static_cast<std::int32_t>(cell / columns),
         static_cast<std::int32_t>(cell % columns), owned ? placement.owners[cell] : -1},
        0,
        fmt::format("table {}: a shard lies in {}, which the engine keeps and does not run",
                    input.table(t).name, to_string(placement.tiers[cell].tier)),
        "Move the shard to hbm");
  }
}

void check_engine_codec(const CheckInput& input, std::size_t t, const CodecSlot& slot,
                        Report& report) {
  const std::string& table = input.table(t).name;
  const auto codec = std::find_if(kEngineCodecs.begin(), kEngineCodecs.end(),
                                  [&](const EngineCodec& one) { return one.name == slot.name; });
  if (codec == kEngineCodecs.end()) {
    report.error(
        "engine.codec", at_table(t), 0,
        fmt::format("table {} is to be sent through the codec {}, which the engine does "
                    "not run",
                    table, slot.name),
        "Use raw, fp16, bf16, row-int8, row-int8-ef, row-int4, fixed, dedup-fixed, dedup-huffman, "
        "vector-lz, const, zstd or lz4");
  } else if (!codec->keeps_bound && slot.bound > 0) {
    report.error("engine.codec_bound", at_table(t), 0,
                 fmt::format("table {} asks for a bound of {}, which the codec {} does not keep",
                             table, slot.bound, slot.name),
                 "Use fixed, dedup-fixed, dedup-huffman or vector-lz, or give no bound");
  } else if (slot.name != "raw" && input.workload.wire != DType::fp32) {
    report.error("engine.codec_wire", at_table(t), 0,
                 fmt::format("table {} is to be sent through the codec {} on a wire of {}", table,
                             slot.name, to_string(input.workload.wire)),
                 "Codecs take fp32: set the workload's wire to fp32");
  }
}

void check_engine_codecs(const CheckInput& input, std::size_t t, Report& report) {
  const TablePlacement& placement = input.placement(t);
  if (placement.cluster == ClusterType::DP) return;
  const CodecSlots& slots = input.layout.codecs_of(t);
  for (const CodecSlot* slot :
       {&slots.forward_intra, &slots.forward_inter, &slots.backward_intra, &slots.backward_inter}) {
    check_engine_codec(input, t, *slot, report);
  }
  const auto feeds_back = [](const CodecSlot& slot) { return slot.name == kErrorFeedbackCodec; };
  const bool forward = feeds_back(slots.forward_intra) || feeds_back(slots.forward_inter);
  const bool backward = feeds_back(slots.backward_intra) || feeds_back(slots.backward_inter);
  const bool by_row =
      placement.cluster == ClusterType::UB && input.layout.options(ClusterType::UB).dedup;
  if (forward || (backward && !by_row)) {
    report.error("engine.codec_feedback", at_table(t), 0,
                 fmt::format("table {} is to be sent with error feedback, which needs gradients of "
                             "rows: those of UB with dedup, on their way back",
                             input.table(t).name),
                 "Use row-int8-ef for the backward slots of UB tables, else row-int8 or bf16");
  }
  const bool intra = slots.forward_intra.name != "raw" || slots.backward_intra.name != "raw";
  if (intra && placement.cluster == ClusterType::RB &&
      input.layout.exchange_of(t) == Exchange::hierarchical) {
    report.error("engine.codec_hierarchical", at_table(t), 0,
                 fmt::format("table {} is exchanged hierarchically with a codec inside the fast "
                             "domain, where partial sums are added up before they go on",
                             input.table(t).name),
                 "Use raw for the intra slots, or exchange the table flat");
  }
}

/// An owner may receive all ids of a table at once.
void check_engine_positions(const CheckInput& input, std::size_t t, Report& report) {
  std::int64_t ids = 0;
  for (const std::int32_t f : input.readers[t]) {
    const Feature& feature = input.feature(f);
    const std::int64_t bags =
        saturating_multiply(input.workload.global_batch, feature.num_poolings);
    ids = saturating_add(ids, saturating_multiply(bags, feature.hotness.maximum));
  }
  if (ids <= kMostEnginePositions) return;
  report.error("engine.ids", at_table(t), ids - kMostEnginePositions,
               fmt::format("table {} may be read {} times an iteration, {} more than 32-bit "
                           "positions hold",
                           input.table(t).name, ids, ids - kMostEnginePositions),
               "Lower the batch or the hotness");
}

}  // namespace

void check_engine(const CheckInput& input, Report& report) {
  if (input.workload.features.empty()) {
    report.error("engine.no_features", {}, 0,
                 "the workload has no features: an iteration reads nothing", "Add a feature");
  }
  for (std::size_t t = 0; t < input.layout.tables.size(); ++t) {
    check_engine_optimizer(input, t, report);
    check_engine_tiers(input, t, report);
    check_engine_codecs(input, t, report);
    check_engine_positions(input, t, report);
  }
  if (input.workload.dense.interaction != Interaction::none &&
      input.workload.dense.optimizer.kind == OptimizerKind::other) {
    report.error("engine.optimizer", {}, 0,
                 "the dense part has an optimizer the engine does not run",
                 "Choose sgd, adagrad, rowwise_adagrad or adam");
  }
}

}  // namespace shardscope
