#include "app/machine.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace shardscope::app {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Value of "key : value" or "key: value kB" lines of /proc files.
std::string proc_value(const fs::path& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::int64_t meminfo_bytes(const std::string& key) {
  std::istringstream text(proc_value("/proc/meminfo", key));
  std::int64_t kib = 0;
  text >> kib;
  return kib * 1024;
}

/// "32768K" of the highest cache level of processor 0.
std::int64_t last_level_cache_bytes() {
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::istringstream text(
        first_line("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size"));
    std::int64_t size = 0;
    char unit = 0;
    text >> size >> unit;
    largest = std::max(largest, size * (unit == 'M' ? 1 << 20 : 1 << 10));
  }
  return largest;
}

/// The chosen word of "always [madvise] never".
std::string huge_page_mode() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return line.substr(open + 1, close - open - 1);
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

std::string best_simd_target() {
  const std::int64_t supported = hwy::SupportedTargets();
  return hwy::TargetName(supported & -supported);  // lower bits are better targets
}

std::vector<std::string> nvidia_devices() {
  std::vector<std::string> found;
  for (int index = 0; index < 64; ++index) {
    const std::string node = "/dev/nvidia" + std::to_string(index);
    if (fs::exists(node)) found.push_back(node);
  }
  return found;
}

std::string cuda_toolkit_folder() {
  for (const char* folder : {"/usr/local/cuda", "/usr/lib/cuda", "/opt/cuda"}) {
    if (fs::exists(fs::path(folder) / "bin/nvcc")) return folder;
  }
  return fs::exists("/usr/bin/nvcc") ? "/usr" : "";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.host = names.nodename;
    machine.kernel = std::string(names.sysname) + " " + names.release;
  }
  machine.cpu = proc_value("/proc/cpuinfo", "model name");
  machine.cores = usable_cores();
  machine.simd = best_simd_target();
  machine.memory_bytes = meminfo_bytes("MemTotal");
  machine.memory_available_bytes = meminfo_bytes("MemAvailable");
  machine.cache_bytes = last_level_cache_bytes();
  machine.huge_pages = huge_page_mode();
  machine.cuda_toolkit = cuda_toolkit_folder();
  machine.nvidia_driver = proc_value("/proc/driver/nvidia/version", "NVRM version");
  machine.nvidia_gpus = nvidia_devices();
  std::error_code error;
  machine.folder = fs::current_path(error).string();
  machine.folder_writable = access(".", W_OK) == 0;
  struct statvfs disk {};
  if (statvfs(".", &disk) == 0) {
    machine.disk_free_bytes =
        static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  }
  return machine;
}

std::string today_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  return date;
}

std::string environment_json(const Machine& machine) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const nlohmann::ordered_json json = {
      {"host", machine.host},
      {"kernel", machine.kernel},
      {"cpu", machine.cpu},
      {"cores", machine.cores},
      {"simd", machine.simd},
      {"memory_bytes", machine.memory_bytes},
      {"cache_bytes", machine.cache_bytes},
      {"huge_pages", machine.huge_pages},
      {"shardscope", SHARDSCOPE_VERSION},
      {"compiler", __VERSION__},
      {"build", SHARDSCOPE_BUILD_TYPE},
      {"date", date},
  };
  return json.dump();
}

}  // namespace shardscope::app
