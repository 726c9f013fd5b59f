// Topologies by name and size.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "layout/closest.hpp"
#include "layout/models.hpp"
#include "layout/models_machines.hpp"

namespace shardscope {

namespace {

constexpr std::int32_t kMostHosts = 65536;
constexpr std::int32_t kMostCpuRanks = 1024;

struct Shape {
  std::int32_t hosts = 0;
  std::int32_t gpus = 0;  ///< 0: as the machine has
};

/// "16" or "16x8"; nothing for anything else.
std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, shape.hosts);
  if (error != std::errc() || shape.hosts < 1) return std::nullopt;
  if (at == end) return shape;
  if (*at != 'x') return std::nullopt;
  const auto gpus = std::from_chars(at + 1, end, shape.gpus);
  if (gpus.ec != std::errc() || gpus.ptr != end || shape.gpus < 1) return std::nullopt;
  return shape;
}

tl::unexpected<Error> bad_spec(std::string what, std::string expected, std::string cure = {}) {
  return fail({ErrorKind::usage, std::move(what), "", std::move(expected), std::move(cure)});
}

/// A fast domain spans whole hosts: as many as there are, up to what one machine has.
Result<Topology> with_shape(Topology topology, const Shape& shape, std::string_view spec) {
  const bool cpu = topology.name == kHostCpu;
  const std::int32_t most_gpus = cpu ? kMostCpuRanks : topology.gpus_per_host;
  const std::int32_t gpus = shape.gpus == 0 ? topology.gpus_per_host : shape.gpus;
  if (shape.hosts > kMostHosts || gpus > most_gpus) {
    return bad_spec(fmt::format("\"{}\" has too many nodes or GPUs a node", spec),
                    fmt::format("at most {} nodes and {} GPUs a node for {}", kMostHosts, most_gpus,
                                topology.name));
  }
  const std::int32_t domain_hosts = topology.fast_domain / topology.gpus_per_host;
  if (shape.hosts > domain_hosts && shape.hosts % domain_hosts != 0) {
    return bad_spec(
        fmt::format("{} nodes of {} do not fill their fast domains", shape.hosts, topology.name),
        fmt::format("at most {} nodes, or a multiple of {}", domain_hosts, domain_hosts));
  }
  if (cpu) {
    topology.host_memory_bytes.value = topology.gpu.memory_bytes.value * gpus;
  }
  topology.hosts = shape.hosts;
  topology.gpus_per_host = gpus;
  topology.fast_domain = gpus * std::min(shape.hosts, domain_hosts);
  return topology;
}

}  // namespace

Result<Topology> topology_by_name(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  std::optional<Topology> topology = find_machine(name);
  if (!topology) {
    const std::vector<std::string> names = topology_names();
    const std::string meant = closest_name(name, names);
    return bad_spec(fmt::format("there is no topology \"{}\"", name),
                    "one of " + join_names(names) + ", or a file",
                    meant.empty() ? "" : fmt::format("Did you mean {}?", meant));
  }
  if (colon == std::string_view::npos) return std::move(*topology);
  const std::optional<Shape> shape = parse_shape(spec.substr(colon + 1));
  if (!shape) {
    return bad_spec(fmt::format("\"{}\" is not a topology", spec),
                    "NAME, NAME:NODES or NAME:NODESxGPUS, like dgx-h100:16 or h100-pcie:1x4");
  }
  Result<Topology> shaped = with_shape(std::move(*topology), *shape, spec);
  if (shaped) shaped->name = std::string(spec);
  return shaped;
}

}  // namespace shardscope
