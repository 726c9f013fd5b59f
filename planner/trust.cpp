#include "planner/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shardscope {

namespace {

bool unmeasured(const LinkModel& link) {
  return link.by_size.empty() && link.efficiency.origin == Origin::prior;
}

}  // namespace

const char* to_string(Trust value) {
  switch (value) {
    case Trust::ok:
      return "ok";
    case Trust::extrapolated:
      return "extrapolated";
    case Trust::unmeasured_exchange:
      return "unmeasured_exchange";
    case Trust::input_bound:
      return "input_bound";
  }
  return "";
}

TrustJudgement judge_trust(const Topology& topology, bool reader_paces) {
  if (reader_paces) {
    return {Trust::input_bound, "",
            "The readers deliver a batch more slowly than the GPUs train it"};
  }
  const bool intra = topology.fast_domain > 1 && unmeasured(topology.intra);
  const bool inter = topology.domains() > 1 && unmeasured(topology.inter);
  if (intra || inter) {
    return {Trust::unmeasured_exchange, "calibrate --only exchange",
            fmt::format("What an exchange reaches {} is a guess on {}: such boxes differ by 3x",
                        intra ? "inside a host" : "between hosts", topology.name)};
  }
  const Gpu& gpu = topology.gpu;
  if (gpu.gemm_efficiency.origin == Origin::prior ||
      gpu.reduce_efficiency.origin == Origin::prior) {
    return {Trust::extrapolated, "calibrate",
            fmt::format("Efficiencies of {} are taken over from other GPUs", gpu.name)};
  }
  return {Trust::ok, "", "Constants are measured or fitted on this kind of machine"};
}

TrustJudgement with_codec_trust(TrustJudgement judgement, const Topology& topology,
                                const Layout& layout, const std::vector<CodecProfile>& codecs) {
  const auto is_published = [&](const CodecSlot& slot) {
    return slot.name != "raw" &&
           std::any_of(codecs.begin(), codecs.end(), [&](const CodecProfile& one) {
             return one.codec == slot.name && one.origin == Origin::published;
           });
  };
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    if (layout.tables[t].cluster == ClusterType::DP) continue;
    const CodecSlots& slots = layout.codecs_of(t);
    const CodecSlot* found = nullptr;
    for (const CodecSlot* slot : {&slots.forward_intra, &slots.forward_inter, &slots.backward_intra,
                                  &slots.backward_inter}) {
      if (is_published(*slot)) found = slot;
    }
    if (found == nullptr) continue;
    if (judgement.trust == Trust::ok) judgement.trust = Trust::extrapolated;
    judgement.reason += fmt::format(
        ". How fast {} runs on {} is unmeasured: a published figure of such a codec on another GPU "
        "stands for it, and the engine runs codecs on CPUs alone",
        found->name, topology.gpu.name);
    return judgement;
  }
  return judgement;
}

double reader_seconds(const Workload& workload, const Topology& topology) {
  const double rate = topology.reader_bytes_per_s.value * topology.hosts;
  if (rate <= 0) return 0;
  double bytes = 4.0 * (workload.dense.dense_features + 1);  // dense inputs and the label
  for (const Feature& feature : workload.features)
    bytes += feature.num_poolings * feature.hotness.mean() *
             static_cast<double>(bytes_of(workload.key) + (feature.weighted ? 4 : 0));
  return bytes * static_cast<double>(workload.global_batch) / rate;
}

}  // namespace shardscope
