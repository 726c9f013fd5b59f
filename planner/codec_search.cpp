#include "planner/codec_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

#include "layout/memory.hpp"
#include "planner/codec_choice.hpp"
#include "planner/codec_options.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

constexpr double kShorter = 1e-5;  ///< a codec must save this share
/// Ranks x evaluations for one start.
constexpr double kRankEvaluations = 1e6;
constexpr int kPasses = 2;

constexpr std::array<WireSlot, kWireSlots> kSlots = {kForwardIntra, kForwardInter, kBackwardIntra,
                                                     kBackwardInter};

class CodecSearch {
 public:
  CodecSearch(const PlanContext& context, const Layout& layout, const std::function<bool()>& go_on)
      : context_(context), go_on_(go_on) {
    for (std::size_t t = 0; t < layout.tables.size(); ++t)
      options_.push_back(codec_options(context.loads, context.topology,
                                       context.options.allowed_codecs, t, layout.tables[t].cluster,
                                       layout.exchange_of(t)));
  }

  Layout run(const Layout& layout) {
    Layout best = layout;
    for (std::size_t t = 0; t < layout.tables.size(); ++t)
      set(best, t, allowed_part(t, layout.codecs_of(t)));
    double least = HUGE_VAL;
    std::vector<Layout> starts = {best};
    for (Layout& one : std::array{without(best), chosen(best)}) {
      const bool known = std::find(starts.begin(), starts.end(), one) != starts.end();
      if (!known) starts.push_back(std::move(one));
    }
    for (const Layout& start : starts) {
      auto [found, seconds] = improve(start);
      if (seconds >= least * (1 - kShorter)) continue;
      least = seconds;
      best = std::move(found);
    }
    return best;
  }

 private:
  static void set(Layout& layout, std::size_t table, const CodecSlots& slots) {
    TablePlacement& placement = layout.tables[table];
    if (placement.cluster == ClusterType::DP || slots == layout.options(placement.cluster).codecs) {
      placement.codecs.reset();
    } else {
      placement.codecs = slots;
    }
  }

  /// The option of that codec, with the table's bound.
  [[nodiscard]] const CodecOption* option(std::size_t table, WireSlot slot,
                                          const std::string& name) const {
    for (const CodecOption& one : options_[table])
      if (one.slot == slot && one.codec.name == name) return &one;
    return nullptr;
  }

  [[nodiscard]] CodecSlots allowed_part(std::size_t table, CodecSlots slots) const {
    for (const WireSlot slot : kSlots) {
      const CodecOption* known = option(table, slot, slot_of(slots, slot).name);
      slot_of(slots, slot) = known != nullptr ? known->codec : CodecSlot{};
    }
    return slots;
  }

  [[nodiscard]] static Layout without(Layout layout) {
    for (std::size_t t = 0; t < layout.tables.size(); ++t) set(layout, t, {});
    return layout;
  }

  /// What is best for each exchange by itself; gradients through the first codec allowed.
  [[nodiscard]] Layout chosen(Layout layout) const {
    const AllowedCodecs& allowed = context_.options.allowed_codecs;
    std::vector<CodecProfile> forward;
    for (const CodecProfile& profile : context_.options.codecs)
      if (std::find(allowed.forward.begin(), allowed.forward.end(), profile.codec) !=
          allowed.forward.end())
        forward.push_back(profile);
    std::vector<CodecSlots> slots(layout.tables.size());
    layout = without(std::move(layout));
    for (const LinkClass hop : {LinkClass::intra, LinkClass::inter}) {
      const bool inter = hop == LinkClass::inter;
      CodecChoiceOptions how;
      how.hop = hop;
      for (const CodecChoice& choice :
           choose_codecs(context_.workload, context_.topology, layout, forward, how)) {
        const auto t = static_cast<std::size_t>(choice.table);
        const WireSlot ahead = inter ? kForwardInter : kForwardIntra;
        const WireSlot back = inter ? kBackwardInter : kBackwardIntra;
        const CodecOption* best = option(t, ahead, choice.codec);
        if (best == nullptr) continue;
        slot_of(slots[t], ahead) = best->codec;
        for (const CodecOption& one : options_[t])
          if (one.slot == back) slot_of(slots[t], back) = one.codec;
      }
    }
    for (std::size_t t = 0; t < layout.tables.size(); ++t) set(layout, t, slots[t]);
    return layout;
  }

  [[nodiscard]] std::vector<std::size_t> largest_first(const Layout& layout) const {
    std::vector<std::size_t> order(layout.tables.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> bytes;
    for (std::size_t t = 0; t < layout.tables.size(); ++t)
      bytes.push_back(context_.loads.chunk_bytes(t, layout.tables[t]) *
                      layout.tables[t].column_shards());
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    return order;
  }

  [[nodiscard]] std::pair<Layout, double> improve(const Layout& start) const {
    WhatIf what_if = WhatIf::create(context_, start);
    const std::vector<std::size_t> order = largest_first(start);
    double left = kRankEvaluations / context_.topology.ranks();
    bool changed = true;
    for (int pass = 0; pass < kPasses && changed; ++pass) {
      changed = false;
      for (const std::size_t t : order) {
        if (options_[t].empty()) continue;
        if (left <= 0 || !go_on_()) return {what_if.layout(), what_if.seconds()};
        left -= static_cast<double>(options_[t].size() + kWireSlots);
        for (const WireSlot slot : kSlots) changed |= improve_slot(what_if, t, slot);
      }
    }
    return {what_if.layout(), what_if.seconds()};
  }

  [[nodiscard]] bool improve_slot(WhatIf& what_if, std::size_t table, WireSlot slot) const {
    CodecSlots slots = what_if.layout().codecs_of(table);
    const CodecSlot now = slot_of(slots, slot);
    double least = what_if.seconds() * (1 - kShorter);
    CodecSlot best = now;
    const auto place = [&](const CodecSlot& codec) {
      slot_of(slots, slot) = codec;
      TablePlacement placement = what_if.layout().tables[table];
      placement.codecs = slots;
      return placement;
    };
    const auto consider = [&](const CodecSlot& codec) {
      if (codec == now) return;
      const double seconds = what_if.try_table(table, place(codec));
      if (seconds >= least) return;
      least = seconds;
      best = codec;
    };
    bool any = false;
    for (const CodecOption& one : options_[table]) {
      if (one.slot != slot) continue;
      any = true;
      consider(one.codec);
    }
    if (any) consider(CodecSlot{});
    if (best == now) return false;
    what_if.set_table(table, place(best));
    return true;
  }

  const PlanContext& context_;
  const std::function<bool()>& go_on_;
  std::vector<std::vector<CodecOption>> options_;  ///< by table
};

/// Coded messages have send, receive and scratch buffers beside the vectors' own, as large
/// whichever tables of the cluster are coded (layout/codec_bytes.hpp).
bool fits_memory(const PlanContext& context, const Layout& layout) {
  if (!context.executor.coded_sizes) return true;
  const double capacity = context.topology.gpu.memory_bytes.value;
  const MemoryAccount account =
      memory_of(context.workload, context.topology, layout, context.options.executor);
  return std::all_of(account.gpus.begin(), account.gpus.end(), [&](const MemoryUse& use) {
    return static_cast<double>(use.total()) <= capacity;
  });
}

Layout without_codecs(Layout layout, std::initializer_list<ClusterType> clusters) {
  for (const ClusterType cluster : clusters) {
    layout.clusters[static_cast<std::size_t>(cluster)].codecs = {};
    for (TablePlacement& table : layout.tables)
      if (table.cluster == cluster) table.codecs.reset();
  }
  return layout;
}

}  // namespace

Layout with_paying_codecs(const PlanContext& context, const Layout& layout,
                          const std::function<bool()>& go_on) {
  if (!context.options.allowed_codecs.any()) return layout;
  Layout coded = CodecSearch(context, layout, go_on).run(layout);
  if (fits_memory(context, coded)) return coded;
  const Layout plain = without_codecs(coded, {ClusterType::RB, ClusterType::UB});
  if (!fits_memory(context, plain)) return coded;  // it is not the codecs
  for (const ClusterType cluster : {ClusterType::UB, ClusterType::RB}) {
    Layout one = without_codecs(coded, {cluster});
    if (fits_memory(context, one)) return one;
  }
  return plain;
}

}  // namespace shardscope
