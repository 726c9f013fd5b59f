#include <fmt/core.h>

#include <cmath>

#include "layout/check_report.hpp"

namespace shardscope {

namespace {

void check_pooled_only(const CheckInput& input, std::size_t t, Report& report) {
  if (input.placement(t).cluster != ClusterType::RB) return;
  for (const std::int32_t f : input.readers[t]) {
    const Feature& feature = input.feature(f);
    if (is_pooled(feature.pooling)) continue;
    report.error(
        "rb.unpooled", at_table(t), f,
        fmt::format("table {} is RB, whose owners send sums, but feature {} needs its rows "
                    "({})",
                    input.table(t).name, feature.name, to_string(feature.pooling)),
        input.any_pooled(t) ? "Move the table to UB or DP: its features mix pooled and "
                              "unpooled"
                            : "Move the table to UB or DP");
  }
}

void check_exchange(const CheckInput& input, std::size_t t, Report& report) {
  const TablePlacement& placement = input.placement(t);
  if (placement.cluster == ClusterType::RB || !placement.exchange) return;
  if (*placement.exchange == Exchange::flat) return;
  report.warning("exchange.only_rb", at_table(t), 0,
                 fmt::format("table {} is {}, which always exchanges flat: hierarchical is ignored",
                             input.table(t).name, to_string(placement.cluster)),
                 "Remove the override, or move the table to RB");
}

void check_codecs(const CheckInput& input, std::size_t t, Report& report) {
  const CodecSlots& slots = input.layout.codecs_of(t);
  for (const CodecSlot* slot :
       {&slots.forward_intra, &slots.forward_inter, &slots.backward_intra, &slots.backward_inter}) {
    if (!slot->name.empty() && std::isfinite(slot->bound) && slot->bound >= 0) continue;
    report.error("codec.slot", at_table(t), 0,
                 fmt::format("table {} has the codec \"{}\" with bound {}", input.table(t).name,
                             slot->name, slot->bound),
                 "Name a codec and give a finite bound >= 0");
    return;
  }
}

}  // namespace

void check_clusters(const CheckInput& input, std::size_t table, Report& report) {
  check_pooled_only(input, table, report);
  check_exchange(input, table, report);
  check_codecs(input, table, report);
}

}  // namespace shardscope
