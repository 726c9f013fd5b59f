#pragma once
// What the engine uses of NCCL, as a table of functions over plain types: filled from libnccl.so.2
// when a run asks for it, by tests with a fake. Functions return ncclResult_t's numbers.

#include <cstddef>
#include <cstdint>

#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// ncclComm_t.
using NcclComm = void*;

/// ncclUniqueId.
struct NcclId {
  char bytes[128] = {};
};

/// Start of ncclConfig_t as of NCCL 2.28; NCCL takes the fields it knows by size and version.
inline constexpr int kNcclSuccess = 0;
inline constexpr int kNcclInProgress = 7;
/// ncclDataType_t.
inline constexpr int kNcclInt8 = 0;
inline constexpr int kNcclInt64 = 4;
inline constexpr int kNcclFloat16 = 6;
inline constexpr int kNcclFloat32 = 7;
inline constexpr int kNcclBfloat16 = 9;
/// ncclRedOp_t.
inline constexpr int kNcclSum = 0;

struct NcclApi {
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(NcclId* id) = nullptr;
  /// Non-blocking: returns kNcclInProgress while the ranks find each other.
  int (*init_rank)(NcclComm* comm, int ranks, NcclId id, int rank) = nullptr;
  int (*async_error)(NcclComm comm, int* error) = nullptr;
  int (*abort)(NcclComm comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void* data, std::size_t count, int type, int peer, NcclComm comm,
              void* stream) = nullptr;
  int (*receive)(void* data, std::size_t count, int type, int peer, NcclComm comm,
                 void* stream) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation,
                    NcclComm comm, void* stream) = nullptr;
  const char* (*error_text)(int error) = nullptr;
  /// What NCCL says about the last failure of the communicator.
  const char* (*last_error)(NcclComm comm) = nullptr;
};

/// The library's functions. Opened at the first call.
[[nodiscard]] Result<const NcclApi*> nccl_api();

}  // namespace shardscope::engine::cuda
