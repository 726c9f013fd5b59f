#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/machine.hpp"
#include "app/text_table.hpp"
#include "engine/cuda/capabilities.hpp"

namespace shardscope::app {
namespace {

enum class Standing : unsigned char { yes, limited, no };

/// One thing this machine can or cannot do.
struct Capability {
  std::string name;
  Standing standing = Standing::yes;
  std::string finding;
  std::string help;  ///< what would improve it; empty where nothing has to
};

const char* word(Standing standing) {
  switch (standing) {
    case Standing::yes:
      return "yes";
    case Standing::limited:
      return "limited";
    case Standing::no:
      return "no";
  }
  return "";
}

Capability cpu_ranks(const Machine& machine) {
  Capability found{"CPU ranks", Standing::yes,
                   fmt::format("{} core{} of {}", machine.cores, machine.cores == 1 ? "" : "s",
                               machine.cpu.empty() ? "an unnamed CPU" : machine.cpu),
                   ""};
  if (machine.cores < 2) {
    found.standing = Standing::limited;
    found.help =
        "With one core all ranks take turns: read busy time and critical path, not the "
        "wall clock.";
  }
  return found;
}

Capability vectors(const Machine& machine) {
  const bool wide = machine.simd.starts_with("AVX") || machine.simd == "SVE2";
  return {"vector kernels", wide ? Standing::yes : Standing::limited, "best target " + machine.simd,
          wide ? "" : "Lookups run faster on a CPU with AVX2 or AVX-512."};
}

Capability memory_of_host(const Machine& machine) {
  Capability found{"memory", Standing::yes,
                   fmt::format("{} available of {}, last-level cache {}",
                               bytes_text(static_cast<double>(machine.memory_available_bytes)),
                               bytes_text(static_cast<double>(machine.memory_bytes)),
                               bytes_text(static_cast<double>(machine.cache_bytes))),
                   ""};
  if (machine.memory_available_bytes < (std::int64_t{4} << 30)) {
    found.standing = Standing::limited;
    found.help = "Use --rows-cap to shrink the tables.";
  }
  return found;
}

Capability huge_pages(const Machine& machine) {
  const bool usable = machine.huge_pages == "always" || machine.huge_pages == "madvise";
  return {"huge pages", usable ? Standing::yes : Standing::limited,
          "transparent huge pages: " + machine.huge_pages,
          usable
              ? ""
              : "As root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (lookups in "
                "large tables then miss the TLB less)."};
}

Capability sessions(const Machine& machine) {
  Capability found{
      "session files", Standing::yes,
      fmt::format("{} free in {}", bytes_text(static_cast<double>(machine.disk_free_bytes)),
                  machine.folder),
      ""};
  if (!machine.folder_writable) {
    found.standing = Standing::no;
    found.finding = machine.folder + " cannot be written";
    found.help = "Run in another folder or give --session FILE.";
  } else if (machine.disk_free_bytes < (std::int64_t{1} << 30)) {
    found.standing = Standing::limited;
    found.help = "Free some disk space or give --session FILE on another disk.";
  }
  return found;
}

Capability gpu_nodes(const Machine& machine) {
  if (machine.nvidia_gpus.empty() && machine.nvidia_driver.empty()) {
    return {"NVIDIA GPU", Standing::no, "no GPU and no driver",
            "Predictions for GPU topologies need neither; measured runs use --backend cpu."};
  }
  if (machine.nvidia_driver.empty()) {
    return {"NVIDIA GPU", Standing::no,
            fmt::format("{} device node(s), but no driver is loaded", machine.nvidia_gpus.size()),
            "Load the NVIDIA driver (nvidia-smi then lists the GPUs)."};
  }
  return {"NVIDIA GPU", Standing::yes,
          fmt::format("{} GPU(s), driver {}", machine.nvidia_gpus.size(), machine.nvidia_driver),
          ""};
}

std::string capabilities_json(const std::vector<Capability>& capabilities, const Machine& machine) {
  nlohmann::ordered_json json;
  json["machine"] = nlohmann::ordered_json::parse(environment_json(machine));
  for (const Capability& capability : capabilities) {
    json["capabilities"].push_back({{"name", capability.name},
                                    {"available", word(capability.standing)},
                                    {"finding", capability.finding},
                                    {"help", capability.help}});
  }
  return json.dump(2);
}

void print_capabilities(const std::vector<Capability>& capabilities) {
  const Console console = Console::of_stdout();
  TextTable table({{"what", Align::left}, {"can", Align::left}, {"found", Align::left}});
  for (const Capability& capability : capabilities) {
    std::string can = word(capability.standing);
    switch (capability.standing) {
      case Standing::yes:
        can = console.green(can);
        break;
      case Standing::limited:
        can = console.yellow(can);
        break;
      case Standing::no:
        can = console.red(can);
        break;
    }
    table.row({capability.name, can, capability.finding});
    if (!capability.help.empty()) table.row({"", "", console.dim(capability.help)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

Status doctor(const DoctorOptions& options) {
  const Machine machine = this_machine();
  std::vector<Capability> capabilities = {
      cpu_ranks(machine),  vectors(machine),  memory_of_host(machine),
      huge_pages(machine), sessions(machine), gpu_nodes(machine),
  };
  for (const engine::cuda::GpuCapability& found : engine::cuda::gpu_capabilities()) {
    capabilities.push_back(
        {found.name, found.available ? Standing::yes : Standing::no, found.finding, found.help});
  }
  if (options.json) {
    fmt::print("{}\n", capabilities_json(capabilities, machine));
  } else {
    print_capabilities(capabilities);
  }
  return {};
}

}  // namespace shardscope::app
