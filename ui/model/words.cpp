#include "ui/model/words.hpp"

#include <fmt/format.h>

#include "layout/models.hpp"

namespace shardscope::ui {

bool is_cpu_host(const Topology& topology) {
  static const std::string cpu = topology_by_name("host-cpu")->gpu.name;
  return topology.gpu.name == cpu;
}

std::string_view gpu_word(const Topology& topology) {
  return is_cpu_host(topology) ? "rank" : "GPU";
}

std::string_view gpu_word(std::string_view backend) {
  return backend == "cpu" ? "rank" : "GPU";
}

std::string gpu_title(const Topology& topology, std::int32_t rank) {
  return fmt::format("{} {}", gpu_word(topology), rank);
}

}  // namespace shardscope::ui
