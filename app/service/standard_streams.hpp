#pragma once
// Standard input and output of a process that speaks the protocol there.

#include "engine/service/descriptor.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

struct StandardStreams {
  service::Descriptor in;
  service::Descriptor out;
};

/// Keeps private copies and points descriptor 0 at /dev/null and 1 at standard error, so that no
/// library can print into a frame or read one away. Error: standard output is a terminal.
[[nodiscard]] Result<StandardStreams> take_standard_streams();

}  // namespace shardscope::app
