#pragma once
// Facts about this machine, for doctor and for the environment stored with every run.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope::app {

struct Machine {
  std::string host;
  std::string kernel;  ///< "Linux 6.1.0"
  std::string cpu;     ///< model name of the first processor
  int cores = 0;       ///< this process may run on
  std::string simd;    ///< best Highway target of this CPU, e.g. "AVX3"
  std::int64_t memory_bytes = 0;
  std::int64_t memory_available_bytes = 0;
  std::int64_t cache_bytes = 0;          ///< last level
  std::string huge_pages;                ///< always | madvise | never | unknown
  std::string cuda_toolkit;              ///< folder, or empty
  std::string nvidia_driver;             ///< version text, or empty
  std::vector<std::string> nvidia_gpus;  ///< device nodes
  std::string folder;                    ///< working directory: where sessions go by default
  bool folder_writable = false;
  std::int64_t disk_free_bytes = 0;  ///< there
};

/// Reads /proc, /sys and the file system; never fails, unknown facts stay empty or 0.
[[nodiscard]] Machine this_machine();

/// Today, YYYY-MM-DD.
[[nodiscard]] std::string today_utc();

/// One JSON object with the facts that matter for a figure: machine, build, date.
[[nodiscard]] std::string environment_json(const Machine& machine);

}  // namespace shardscope::app
