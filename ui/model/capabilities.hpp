#pragma once
// What the machine of an engine can do, as its doctor found it, and what a person can choose there.

#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::ui {

struct EngineCapability {
  std::string name;  ///< as `shardscope doctor` calls it: "GPU", "NCCL", ...
  bool available = false;
  std::string finding;
  std::string help;  ///< what would make it available
};

/// What an engine may know of its machine.
struct EngineMachine {
  bool known = false;
  std::string host;
  std::string cpu;
  int cores = 0;
  std::vector<EngineCapability> capabilities;
};

/// Reads what `shardscope doctor --json` prints.
[[nodiscard]] Result<EngineMachine> engine_machine(const std::string& json);

/// Why a run there cannot use it; empty where it can. While nothing is known, all that needs a GPU
/// is refused.
[[nodiscard]] std::string backend_refusal(const EngineMachine& machine, std::string_view backend);
[[nodiscard]] std::string comm_refusal(const EngineMachine& machine, std::string_view backend,
                                       std::string_view comm);
[[nodiscard]] std::string dense_math_refusal(const EngineMachine& machine,
                                             std::string_view dense_math);

}  // namespace shardscope::ui
