#include "planner/codec_choice.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace shardscope {

namespace {

std::string gb_s(double bytes_per_s) {
  return fmt::format("{:.3g} GB/s", bytes_per_s / 1e9);
}

/// Profiles by the table that they are of; those of any table by "".
using ProfilesByTable = std::unordered_map<std::string_view, std::vector<const CodecProfile*>>;

/// The profiles for a table in a cluster: its own before those of any table.
std::vector<const CodecProfile*> profiles_of(ProfilesByTable& profiles, const std::string& table,
                                             ClusterType cluster) {
  std::vector<const CodecProfile*> found;
  const auto usable = [&](const CodecProfile* profile) {
    return !profile->cluster || profile->cluster == cluster;
  };
  for (const CodecProfile* profile : profiles[table]) {
    if (usable(profile)) found.push_back(profile);
  }
  for (const CodecProfile* profile : profiles[""]) {
    if (!usable(profile)) continue;
    const bool own = std::any_of(found.begin(), found.end(), [&](const CodecProfile* one) {
      return one->codec == profile->codec;
    });
    if (!own) found.push_back(profile);
  }
  return found;
}

CodecChoice choose(const std::vector<const CodecProfile*>& profiles, double chunk_bytes,
                   double link_bytes_per_s, const std::string& current,
                   const CodecChoiceOptions& options) {
  CodecChoice choice;
  choice.chunk_bytes = chunk_bytes;
  const CodecProfile* best = nullptr;
  double best_speedup = 0;
  for (const CodecProfile* profile : profiles) {
    double speedup = codec_speedup(*profile, chunk_bytes, link_bytes_per_s);
    if (profile->codec == current) speedup *= options.hysteresis;
    if (speedup <= best_speedup) continue;
    best = profile;
    best_speedup = speedup;
  }
  if (best == nullptr) {
    choice.reason = "no codec was measured for this table";
    return choice;
  }
  const double speedup = codec_speedup(*best, chunk_bytes, link_bytes_per_s);
  choice.break_even_bytes_per_s = break_even_bytes_per_s(*best, chunk_bytes);
  if (speedup < options.least_speedup) {
    choice.reason = fmt::format("does not pay: {} breaks even at {}, the link has {}", best->codec,
                                gb_s(choice.break_even_bytes_per_s), gb_s(link_bytes_per_s));
    return choice;
  }
  choice.codec = best->codec;
  choice.ratio = best->ratio;
  choice.speedup = speedup;
  choice.reason =
      fmt::format("{:.3g}x smaller; {:.2f}x as fast at {}, breaks even at {}", best->ratio, speedup,
                  gb_s(link_bytes_per_s), gb_s(choice.break_even_bytes_per_s));
  return choice;
}

}  // namespace

CodecThroughput throughput_at(const CodecProfile& profile, double chunk_bytes) {
  const std::vector<CodecProfilePoint>& points = profile.by_size;
  if (points.empty()) return {};
  const auto above = std::find_if(points.begin(), points.end(), [&](const CodecProfilePoint& one) {
    return one.payload_bytes >= chunk_bytes;
  });
  if (above == points.begin() || above == points.end()) {
    const CodecProfilePoint& edge = above == points.end() ? points.back() : points.front();
    return {edge.encode_bytes_per_s, edge.decode_bytes_per_s};
  }
  const CodecProfilePoint& below = *(above - 1);
  const double share = std::log(chunk_bytes / below.payload_bytes) /
                       std::log(above->payload_bytes / below.payload_bytes);
  const auto between = [&](double a, double b) { return a + share * (b - a); };
  return {between(below.encode_bytes_per_s, above->encode_bytes_per_s),
          between(below.decode_bytes_per_s, above->decode_bytes_per_s)};
}

CodecThroughput best_throughput(const CodecProfile& profile) {
  CodecThroughput best;
  for (const CodecProfilePoint& point : profile.by_size) {
    best.encode_bytes_per_s = std::max(best.encode_bytes_per_s, point.encode_bytes_per_s);
    best.decode_bytes_per_s = std::max(best.decode_bytes_per_s, point.decode_bytes_per_s);
  }
  return best;
}

double codec_speedup(const CodecProfile& profile, double chunk_bytes, double link_bytes_per_s) {
  const CodecThroughput rate = throughput_at(profile, chunk_bytes);
  if (profile.ratio <= 0 || rate.encode_bytes_per_s <= 0 || rate.decode_bytes_per_s <= 0) return 0;
  return 1 / (1 / profile.ratio + link_bytes_per_s / rate.encode_bytes_per_s +
              link_bytes_per_s / rate.decode_bytes_per_s);
}

double break_even_bytes_per_s(const CodecProfile& profile, double chunk_bytes) {
  const CodecThroughput rate = throughput_at(profile, chunk_bytes);
  if (profile.ratio <= 1 || rate.encode_bytes_per_s <= 0 || rate.decode_bytes_per_s <= 0) return 0;
  return (1 - 1 / profile.ratio) / (1 / rate.encode_bytes_per_s + 1 / rate.decode_bytes_per_s);
}

double chunk_bytes_of(const Workload& workload, const Layout& layout, std::size_t table) {
  const TablePlacement& placement = layout.tables[table];
  const double ranks = std::max(layout.ranks, 1);
  double most = 0;
  double ids = 0;
  for (const Feature& feature : workload.features) {
    if (static_cast<std::size_t>(feature.table) != table) continue;
    const double bags = static_cast<double>(workload.global_batch) / ranks * feature.num_poolings;
    most = std::max(most, bags);
    ids += bags * feature.hotness.mean();
  }
  const double width =
      static_cast<double>(workload.tables[table].dim) / std::max(placement.column_shards(), 1);
  // UB: a chunk a row shard; at most every row of it.
  if (placement.cluster == ClusterType::UB) {
    const double shards = std::max(placement.row_shards, 1);
    most = std::min(ids, static_cast<double>(workload.tables[table].rows)) / shards;
  }
  return 4 * most * width;
}

std::vector<CodecChoice> choose_codecs(const Workload& workload, const Topology& topology,
                                       const Layout& layout,
                                       const std::vector<CodecProfile>& profiles,
                                       const CodecChoiceOptions& options) {
  std::vector<CodecChoice> choices;
  const bool inter = options.hop == LinkClass::inter;
  const LinkModel& link = inter ? topology.inter : topology.intra;
  ProfilesByTable by_table;
  for (const CodecProfile& profile : profiles) by_table[profile.table].push_back(&profile);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    CodecChoice choice;
    if (layout.tables[t].cluster == ClusterType::DP) {
      choice.reason = "replicated: no vectors travel";
    } else if (inter && topology.domains() < 2) {
      choice.reason = "one fast domain: nothing crosses a slow link";
    } else if (!inter && topology.fast_domain < 2) {
      choice.reason = "one rank a fast domain: nothing travels inside";
    } else if (!inter && layout.tables[t].cluster == ClusterType::RB &&
               layout.exchange_of(t) == Exchange::hierarchical) {
      choice.reason = "exchanged hierarchically: partial sums travel raw inside a fast domain";
    } else {
      const double chunk_bytes = chunk_bytes_of(workload, layout, t);
      choice = choose(
          profiles_of(by_table, workload.tables[t].name, layout.tables[t].cluster), chunk_bytes,
          link.bytes_per_s_at(chunk_bytes),
          inter ? layout.codecs_of(t).forward_inter.name : layout.codecs_of(t).forward_intra.name,
          options);
    }
    choice.table = static_cast<std::int32_t>(t);
    choice.hop = options.hop;
    choices.push_back(std::move(choice));
  }
  return choices;
}

Layout with_codecs(Layout layout, const std::vector<CodecChoice>& choices,
                   const std::vector<double>& bounds) {
  for (const CodecChoice& choice : choices) {
    const auto t = static_cast<std::size_t>(choice.table);
    if (layout.tables[t].cluster == ClusterType::DP) continue;
    CodecSlots slots = layout.codecs_of(t);
    const bool inter = choice.hop == LinkClass::inter;
    CodecSlot& forward = inter ? slots.forward_inter : slots.forward_intra;
    CodecSlot& backward = inter ? slots.backward_inter : slots.backward_intra;
    forward = {choice.codec, choice.codec == "raw" ? 0 : bounds[t], true};
    backward = {choice.codec == "raw" ? "raw" : "bf16", 0, true};
    layout.tables[t].codecs = slots;
  }
  return layout;
}

Layout with_one_codec(Layout layout, const CodecSlot& forward, const CodecSlot& backward) {
  for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB}) {
    CodecSlots& slots = layout.clusters[static_cast<std::size_t>(cluster)].codecs;
    slots.forward_inter = forward;
    slots.backward_inter = backward;
  }
  for (TablePlacement& placement : layout.tables) {
    if (!placement.codecs) continue;
    placement.codecs->forward_inter = forward;
    placement.codecs->backward_inter = backward;
  }
  return layout;
}

}  // namespace shardscope
