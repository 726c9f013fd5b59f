#pragma once
// How our values are said in Nsight Systems' tables. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/activity.hpp"

namespace shardscope::storage::nsys {

inline constexpr std::int64_t kVirtualMachine = std::int64_t{1} << 48;

/// ENUM_NSYS_EVENT_TYPE of an NVTX range that was pushed and popped.
inline constexpr std::int64_t kPushPopRange = 59;

/// Process number (24 bits) as a globalPid: vm << 48 | pid << 24.
[[nodiscard]] constexpr std::int64_t global_pid(std::int64_t process) {
  return kVirtualMachine | ((process & 0xffffff) << 24);
}

/// A thread (24 bits) of that process.
[[nodiscard]] constexpr std::int64_t global_tid(std::int64_t of_process, std::int64_t thread) {
  return of_process | (thread & 0xffffff);
}

/// Nsight Systems counts pageable as 0 and unknown last; CUPTI counts unknown as 0.
[[nodiscard]] constexpr std::int64_t memory_kind(MemoryKind kind) {
  constexpr std::int64_t kUnknown = 7;
  return kind == MemoryKind::unknown ? kUnknown : static_cast<std::int64_t>(kind) - 1;
}

/// "void ns::gather<float>(float*)" is "gather": no return type, scope, template or parameters.
[[nodiscard]] std::string short_kernel_name(std::string_view demangled);

}  // namespace shardscope::storage::nsys
