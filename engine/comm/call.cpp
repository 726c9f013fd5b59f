#include "engine/comm/call.hpp"

#include <fmt/format.h>

#include "engine/comm/groups.hpp"

namespace shardscope::engine {

const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::exchange_counts:
      return "exchange_counts";
    case Operation::alltoall_v:
      return "alltoall_v";
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::barrier:
      return "barrier";
    case Operation::publish:
      return "publish";
    case Operation::fence:
      return "fence";
    case Operation::graph:
      return "graph";
  }
  return "";
}

std::string to_string(const Call& call) {
  const bool labelled = call.label != nullptr && *call.label != '\0';
  return fmt::format("{}{} (channel {}, group {}, call {})", to_string(call.operation),
                     labelled ? fmt::format(" of '{}'", call.label) : std::string(), call.channel,
                     to_string(call.group), call.number);
}

}  // namespace shardscope::engine
