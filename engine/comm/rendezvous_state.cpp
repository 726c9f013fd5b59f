#include "engine/comm/rendezvous_state.hpp"

#include <cmath>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

bool is_bandwidth(double bytes_per_s) {
  return std::isfinite(bytes_per_s) && bytes_per_s >= 0;
}

}  // namespace

Status check_fabric(const Topology& topology, std::int32_t channels, const FabricOptions& options) {
  if (topology.hosts < 1 || topology.gpus_per_host < 1 || topology.fast_domain < 1 ||
      topology.ranks() % topology.fast_domain != 0) {
    return fail({ErrorKind::usage,
                 fmt::format("{} hosts x {} GPUs cannot be cut into fast domains of {}",
                             topology.hosts, topology.gpus_per_host, topology.fast_domain),
                 "topology", "at least one rank, and a domain size that divides the ranks", ""});
  }
  if (channels < 1) {
    return fail({ErrorKind::usage, fmt::format("{} channels", channels), "communicator",
                 "at least one channel", ""});
  }
  if (!is_bandwidth(options.wire.intra_bytes_per_s) ||
      !is_bandwidth(options.wire.inter_bytes_per_s)) {
    return fail({ErrorKind::usage,
                 fmt::format("wire bandwidths of {} and {} bytes/s", options.wire.intra_bytes_per_s,
                             options.wire.inter_bytes_per_s),
                 "communicator", "finite numbers >= 0 (0: unthrottled)", ""});
  }
  if (options.deadline.count() <= 0) {
    return fail({ErrorKind::usage, fmt::format("a deadline of {} ns", options.deadline.count()),
                 "communicator", "a time above 0", ""});
  }
  return {};
}

RendezvousState::RendezvousState(const Topology& shape, std::int32_t channels,
                                 const FabricOptions& fabric_options)
    : topology(shape), options(fabric_options), groups(shape), wires(shape, fabric_options.wire) {
  mailboxes.reserve(static_cast<std::size_t>(channels * groups.instances()));
  for (std::int32_t channel = 0; channel < channels; ++channel) {
    for (std::int32_t instance = 0; instance < groups.instances(); ++instance) {
      mailboxes.push_back(std::make_unique<Mailbox>(groups.members(instance)));
    }
  }
}

}  // namespace shardscope::engine
