#pragma once
// What the communicators of one fabric share.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/abort_flag.hpp"
#include "engine/comm/fabric.hpp"
#include "engine/comm/groups.hpp"
#include "engine/comm/mailbox.hpp"
#include "engine/comm/waiting.hpp"
#include "engine/comm/wires.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

/// An error unless the topology, the channels and the options make sense.
[[nodiscard]] Status check_fabric(const Topology& topology, std::int32_t channels,
                                  const FabricOptions& options);

struct RendezvousState {
  RendezvousState(const Topology& shape, std::int32_t channels,
                  const FabricOptions& fabric_options);

  [[nodiscard]] Mailbox& mailbox(std::int32_t channel, std::int32_t instance) {
    return *mailboxes[static_cast<std::size_t>(channel * groups.instances() + instance)];
  }

  /// Raises the flag and wakes every rank.
  void abort_run(const Error& reason) {
    abort.raise(reason);
    waiting->interrupt();
  }

  Topology topology;
  FabricOptions options;
  GroupMap groups;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  ///< [channel][instance]
  AbortFlag abort;
  Wires wires;
  std::unique_ptr<Waiting> waiting;  ///< set by the fabric before the first call
};

}  // namespace shardscope::engine
