#pragma once
// Which links an imported collective's bytes took: the ranks' places on the machine split them as
// layout/ counts a layout's own traffic. What a rank keeps for itself does not travel.

#include <cstdint>
#include <string_view>
#include <vector>

#include "layout/bytes.hpp"
#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

enum class CollectiveKind : std::uint8_t {
  all_to_all,
  all_reduce,
  all_gather,
  reduce_scatter,
  other
};

/// By the kernel's name ("ncclDevKernel_SendRecv": all_to_all).
[[nodiscard]] CollectiveKind collective_kind(std::string_view kernel);

/// Bytes by link: by the splits where the trace states them, else evenly over the group's peers.
/// `rank` is the sender's number in the job of `world` ranks; `domain` consecutive ranks share a
/// fast domain. A group whose ranks are not stated lies in one domain if it is no larger, else
/// covers whole ones. An all-reduce counts as layout/ counts it: a chunk to each owner and the sums
/// back.
[[nodiscard]] LinkBytes split_by_link(CollectiveKind kind, const CollectiveCall& call,
                                      std::int32_t rank, std::int32_t world, std::int32_t domain);

/// The group's ranks as stated; 0 .. world - 1 where the group is everyone; empty where unknown.
[[nodiscard]] std::vector<std::int32_t> peers_of(const CollectiveCall& call, std::int32_t world);

}  // namespace shardscope::storage
