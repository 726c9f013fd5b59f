#pragma once
// Invariants that only a bug can break. A broken one prints the condition with file and line and
// aborts; nothing the outside world does may reach one.

namespace shardscope {

[[noreturn]] void invariant_failed(const char* condition, const char* file, int line,
                                   const char* message);

}  // namespace shardscope

#define SHARDSCOPE_CHECK(condition, message)                                      \
  ((condition) ? static_cast<void>(0)                                             \
               : ::shardscope::invariant_failed(#condition, __FILE__, __LINE__, message))
