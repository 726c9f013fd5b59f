#include "storage/import/imported_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "layout/models.hpp"

namespace shardscope::storage {
namespace {

struct DeviceName {
  const char* piece;  ///< lower case, without blanks and dashes; the first that occurs counts
  const char* machine;
};

constexpr std::array kDeviceNames = {
    DeviceName{"h100pcie", "h100-pcie"}, DeviceName{"h100", "dgx-h100"},
    DeviceName{"h200", "dgx-h200"},      DeviceName{"gb200", "gb200"},
    DeviceName{"b200", "dgx-b200"},      DeviceName{"a100", "dgx-a100"},
    DeviceName{"v100", "dgx1-v100"},     DeviceName{"a40", "a40-pcie"},
    DeviceName{"l40s", "l40s-pcie"},     DeviceName{"l40", "l40-pcie"}};

std::string squeezed(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return out;
}

}  // namespace

Topology machine_for(const std::string& device, std::int32_t hosts, std::int32_t gpus_per_host,
                     ImportNotes& notes) {
  const std::string wanted = squeezed(device);
  const auto* found = std::find_if(
      kDeviceNames.begin(), kDeviceNames.end(),
      [&](const DeviceName& name) { return wanted.find(name.piece) != std::string::npos; });
  const char* machine = found == kDeviceNames.end() ? "dgx-h100" : found->machine;
  if (found == kDeviceNames.end()) {
    notes.warn(0,
               device.empty() ? "the file does not name the machine; dgx-h100 is assumed"
                              : "the device " + quoted_piece(device) +
                                    " is none that is built in; dgx-h100 is assumed",
               "--topology NAME|FILE");
  }
  Topology topology = topology_by_name(machine).value();
  topology.hosts = hosts;
  topology.gpus_per_host = gpus_per_host;
  topology.fast_domain = gpus_per_host;
  topology.name = fmt::format("{}:{}x{}", machine, hosts, gpus_per_host);
  return topology;
}

}  // namespace shardscope::storage
