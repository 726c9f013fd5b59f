#include "planner/codec_options.hpp"

#include <algorithm>
#include <array>

#include "planner/codec_choice.hpp"

namespace shardscope {

namespace {

/// The uncut table on one rank; one entry stands for all ranks.
LayoutLoads loads_with(const LoadModel& model, std::size_t table, ClusterType cluster,
                       Exchange exchange, const CodecSlots& slots) {
  TablePlacement placement;
  placement.cluster = cluster;
  placement.column_cuts = {0, static_cast<std::int32_t>(model.facts().tables[table].dim)};
  placement.owners = {0};
  LayoutLoads loads;
  loads.rb.resize(1);
  loads.ub.resize(1);
  loads.domains.resize(1);
  model.add(loads, table, placement, {exchange, true, &slots}, 1);
  return loads;
}

bool pays(const CodecProfile& profile, const LinkModel& link) {
  return std::any_of(profile.by_size.begin(), profile.by_size.end(),
                     [&](const CodecProfilePoint& point) {
                       return codec_speedup(profile, point.payload_bytes,
                                            link.bytes_per_s_at(point.payload_bytes)) >=
                              CodecChoiceOptions{}.least_speedup;
                     });
}

}  // namespace

CodecSlot allowed_slot(const AllowedCodecs& allowed, std::size_t table, bool forward,
                       const std::string& codec) {
  return {codec, forward ? allowed.bounds.at(table) : 0, !forward || allowed.relative};
}

CodecSlot& slot_of(CodecSlots& slots, WireSlot slot) {
  switch (slot) {
    case kForwardIntra:
      return slots.forward_intra;
    case kForwardInter:
      return slots.forward_inter;
    case kBackwardIntra:
      return slots.backward_intra;
    default:
      return slots.backward_inter;
  }
}

std::vector<CodecOption> codec_options(const LoadModel& model, const Topology& topology,
                                       const AllowedCodecs& allowed, std::size_t table,
                                       ClusterType cluster, Exchange exchange) {
  std::vector<CodecOption> options;
  if (!allowed.any() || cluster == ClusterType::DP) return options;
  const bool near = topology.fast_domain > 1 &&
                    !(cluster == ClusterType::RB && exchange == Exchange::hierarchical);
  const bool far = topology.domains() > 1;
  LoadFields plain;
  for (const WireSlot slot : {kForwardIntra, kForwardInter, kBackwardIntra, kBackwardInter}) {
    const bool intra = slot == kForwardIntra || slot == kBackwardIntra;
    if (!(intra ? near : far)) continue;
    const bool forward = slot == kForwardIntra || slot == kForwardInter;
    for (const std::string& name : forward ? allowed.forward : allowed.backward) {
      const CodecSlot codec = allowed_slot(allowed, table, forward, name);
      const CodecProfile* profile = model.profile_of(table, cluster, codec);
      if (profile == nullptr || !pays(*profile, intra ? topology.intra : topology.inter)) continue;
      CodecOption option{slot, codec, {}};
      CodecSlots slots;
      slot_of(slots, slot) = option.codec;
      if (plain.empty()) plain = to_fields(loads_with(model, table, cluster, exchange, {}));
      option.change = to_fields(loads_with(model, table, cluster, exchange, slots));
      for (std::size_t i = 0; i < plain.size(); ++i) option.change[i] -= plain[i];
      options.push_back(std::move(option));
    }
  }
  return options;
}

CodecSlots cheapest_codecs(const std::vector<CodecOption>& options, const LoadFields& prices) {
  CodecSlots slots;
  std::array<double, kWireSlots> least{};
  for (const CodecOption& option : options) {
    const double cost = dot(prices, option.change);
    if (cost >= least[option.slot]) continue;
    least[option.slot] = cost;
    slot_of(slots, option.slot) = option.codec;
  }
  return slots;
}

}  // namespace shardscope
