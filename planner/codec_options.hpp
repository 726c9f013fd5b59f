#pragma once
// The codecs that a planner may put into a table's slots, and what each changes. Slots add up: a
// codec in one of them changes the loads by the same amount whatever stands in the others.

#include <vector>

#include "layout/layout.hpp"
#include "planner/cost_model.hpp"
#include "planner/load_fields.hpp"

namespace shardscope {

/// One codec in one slot of a table, against plain wires there.
struct CodecOption {
  WireSlot slot = kForwardIntra;
  CodecSlot codec;
  LoadFields change;  ///< of the loads of the uncut table
};

/// Options of a table in a cluster and exchange: codecs that are allowed, whose profile makes an
/// exchange over that hop 1.05 times as fast at the best chunk size (planner/codec_choice.hpp), on
/// hops that exist and that the exchange codes. Empty for replicated tables.
[[nodiscard]] std::vector<CodecOption> codec_options(const LoadModel& model,
                                                     const Topology& topology,
                                                     const AllowedCodecs& allowed,
                                                     std::size_t table, ClusterType cluster,
                                                     Exchange exchange);

/// A codec that is allowed, at the table's bound.
[[nodiscard]] CodecSlot allowed_slot(const AllowedCodecs& allowed, std::size_t table, bool forward,
                                     const std::string& codec);

/// The slot of a layout's four.
[[nodiscard]] CodecSlot& slot_of(CodecSlots& slots, WireSlot slot);

/// Codecs in the slots where they lower the cost at these prices of the loads; raw elsewhere.
[[nodiscard]] CodecSlots cheapest_codecs(const std::vector<CodecOption>& options,
                                         const LoadFields& prices);

}  // namespace shardscope
