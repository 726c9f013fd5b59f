#include "planner/codec_account.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planner/codec_choice.hpp"
#include "planner/codec_options.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

namespace {

/// Exchanges priced one by one; further ones keep 0 saved.
constexpr std::size_t kMostAccounts = 2000;

struct HopDirection {
  WireSlot slot;
  Direction direction;
  LinkClass hop;
};
constexpr HopDirection kExchanges[] = {
    {kForwardInter, Direction::forward, LinkClass::inter},
    {kForwardIntra, Direction::forward, LinkClass::intra},
    {kBackwardInter, Direction::backward, LinkClass::inter},
    {kBackwardIntra, Direction::backward, LinkClass::intra},
};

class Accounts {
 public:
  Accounts(const PlanContext& context, const Layout& layout) : context_(context), layout_(layout) {}

  std::vector<CodecAccount> run() {
    for (std::size_t t = 0; t < layout_.tables.size(); ++t)
      for (const HopDirection& exchange : kExchanges)
        if (travels(t, exchange.hop)) look_at(t, exchange);
    price();
    std::stable_sort(
        found_.begin(), found_.end(),
        [](const CodecAccount& a, const CodecAccount& b) { return a.saves_s > b.saves_s; });
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool travels(std::size_t table, LinkClass hop) const {
    const ClusterType cluster = layout_.tables[table].cluster;
    if (cluster == ClusterType::DP) return false;
    if (hop == LinkClass::inter) return context_.topology.domains() > 1;
    const bool rails =
        cluster == ClusterType::RB && layout_.exchange_of(table) == Exchange::hierarchical;
    return context_.topology.fast_domain > 1 && !rails;
  }

  void look_at(std::size_t table, const HopDirection& exchange) {
    CodecSlots slots = layout_.codecs_of(table);
    const CodecSlot now = slot_of(slots, exchange.slot);
    const ClusterType cluster = layout_.tables[table].cluster;
    CodecAccount best;
    if (now.name != "raw") {
      const CodecProfile* profile = context_.loads.profile_of(table, cluster, now);
      if (profile == nullptr) return;
      best = account(table, exchange, *profile);
      best.in_place = true;
    } else {
      for (const CodecSlot& codec : candidates(table, exchange.direction)) {
        const CodecProfile* profile = context_.loads.profile_of(table, cluster, codec);
        if (profile == nullptr) continue;
        CodecAccount one = account(table, exchange, *profile);
        if (best.codec.empty() || one.speedup > best.speedup) best = std::move(one);
      }
      if (best.codec.empty()) return;
    }
    found_.push_back(std::move(best));
  }

  [[nodiscard]] std::vector<CodecSlot> candidates(std::size_t table, Direction direction) const {
    const AllowedCodecs& allowed = context_.options.allowed_codecs;
    const bool forward = direction == Direction::forward;
    std::vector<CodecSlot> slots;
    for (const std::string& name : forward ? allowed.forward : allowed.backward)
      slots.push_back(allowed_slot(allowed, table, forward, name));
    return slots;
  }

  [[nodiscard]] CodecAccount account(std::size_t table, const HopDirection& exchange,
                                     const CodecProfile& profile) const {
    const LinkModel& link =
        exchange.hop == LinkClass::inter ? context_.topology.inter : context_.topology.intra;
    CodecAccount one;
    one.table = static_cast<std::int32_t>(table);
    one.direction = exchange.direction;
    one.hop = exchange.hop;
    one.codec = profile.codec;
    one.ratio = profile.ratio;
    one.chunk_bytes = context_.loads.chunk_bytes(table, layout_.tables[table]);
    one.link_bytes_per_s = link.bytes_per_s_at(one.chunk_bytes);
    const CodecThroughput rate = throughput_at(profile, one.chunk_bytes);
    one.encode_bytes_per_s = rate.encode_bytes_per_s;
    one.decode_bytes_per_s = rate.decode_bytes_per_s;
    one.speedup = codec_speedup(profile, one.chunk_bytes, one.link_bytes_per_s);
    one.break_even_bytes_per_s = break_even_bytes_per_s(profile, one.chunk_bytes);
    return one;
  }

  /// Each by itself, the rest of the layout as it is.
  void price() {
    if (!check_sizes(context_.workload, context_.topology, layout_)) return;
    WhatIf what_if = WhatIf::create(context_, layout_);
    const double now = what_if.seconds();
    for (std::size_t i = 0; i < std::min(found_.size(), kMostAccounts); ++i) {
      CodecAccount& one = found_[i];
      const auto t = static_cast<std::size_t>(one.table);
      TablePlacement placement = layout_.tables[t];
      CodecSlots slots = layout_.codecs_of(t);
      const auto* exchange = std::find_if(
          std::begin(kExchanges), std::end(kExchanges), [&](const HopDirection& known) {
            return known.direction == one.direction && known.hop == one.hop;
          });
      slot_of(slots, exchange->slot) =
          one.in_place ? CodecSlot{}
                       : allowed_slot(context_.options.allowed_codecs, t,
                                      one.direction == Direction::forward, one.codec);
      placement.codecs = slots;
      const double other = what_if.try_table(t, placement);
      one.saves_s = one.in_place ? other - now : now - other;
    }
  }

  const PlanContext& context_;
  const Layout& layout_;
  std::vector<CodecAccount> found_;
};

}  // namespace

std::string CodecAccount::formula() const {
  const double link = link_bytes_per_s;
  return fmt::format(
      "1 / (1/{:.3g} + {:.3g}/{:.3g} + {:.3g}/{:.3g}) = {:.2f}; pays below {:.3g} GB/s", ratio,
      link / 1e9, encode_bytes_per_s / 1e9, link / 1e9, decode_bytes_per_s / 1e9, speedup,
      break_even_bytes_per_s / 1e9);
}

std::vector<CodecAccount> codec_accounts(const PlanContext& context, const Layout& layout) {
  return Accounts(context, layout).run();
}

}  // namespace shardscope
