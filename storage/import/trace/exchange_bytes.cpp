#include "storage/import/trace/exchange_bytes.hpp"

#include <algorithm>
#include <numeric>

#include "layout/memory.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int32_t kMostPeers = 65536;

/// What each peer gets where the trace states only the sum.
std::int64_t even_share(CollectiveKind kind, std::int64_t sent, std::int64_t group) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return sent;
    case CollectiveKind::all_reduce:
      // Reduced and gathered again: a chunk to its owner, the sum back.
      return 2 * sent / group;
    case CollectiveKind::all_to_all:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::other:
      break;
  }
  return sent / group;
}

/// Peers in the rank's own fast domain where the group's members are not stated: a group no larger
/// than a domain lies inside one, a larger one covers whole domains.
std::int64_t near_peers(std::int64_t group, std::int32_t domain) {
  return std::min<std::int64_t>(group, domain) - 1;
}

}  // namespace

CollectiveKind collective_kind(std::string_view kernel) {
  const auto has = [&](std::string_view piece) {
    return kernel.find(piece) != std::string_view::npos;
  };
  if (has("AllReduce")) return CollectiveKind::all_reduce;
  if (has("AllGather")) return CollectiveKind::all_gather;
  if (has("ReduceScatter")) return CollectiveKind::reduce_scatter;
  if (has("SendRecv") || has("AllToAll") || has("Alltoall")) return CollectiveKind::all_to_all;
  return CollectiveKind::other;
}

std::vector<std::int32_t> peers_of(const CollectiveCall& call, std::int32_t world) {
  if (!call.group_ranks.empty()) return call.group_ranks;
  if (world > kMostPeers || (call.group_size != 0 && call.group_size != world)) return {};
  std::vector<std::int32_t> everyone(static_cast<std::size_t>(std::max(world, 0)));
  std::iota(everyone.begin(), everyone.end(), 0);
  return everyone;
}

LinkBytes split_by_link(CollectiveKind kind, const CollectiveCall& call, std::int32_t rank,
                        std::int32_t world, std::int32_t domain) {
  LinkBytes split;
  const std::int64_t group = call.group_size > 0 ? call.group_size : world;
  if (group < 2 || call.sent_bytes <= 0 || domain < 1) return split;
  const bool uneven = static_cast<std::int64_t>(call.sent_splits.size()) == group;
  const std::int64_t even = even_share(kind, call.sent_bytes, group);
  if (!uneven && call.group_ranks.empty()) {
    const std::int64_t near = near_peers(group, domain);
    split.intra = saturating_multiply(even, near);
    split.inter = saturating_multiply(even, group - 1 - near);
    return split;
  }
  const std::vector<std::int32_t> peers = peers_of(call, world);
  if (static_cast<std::int64_t>(peers.size()) != group) return split;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] == rank) continue;
    const std::int64_t bytes = uneven ? call.sent_splits[i] : even;
    std::int64_t& link = peers[i] / domain == rank / domain ? split.intra : split.inter;
    link = saturating_add(link, bytes);
  }
  return split;
}

}  // namespace shardscope::storage
