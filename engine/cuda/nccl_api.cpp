#include "engine/cuda/nccl_api.hpp"

#include <limits>

#include <fmt/format.h>

#include "engine/cuda/library.hpp"

namespace shardscope::engine::cuda {
namespace {

/// ncclConfig_t as NCCL 2.28 lays it out; later versions append and read the size.
struct NcclConfig {
  static constexpr int kUnset = std::numeric_limits<int>::min();
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeefU;
  unsigned version = 22809;
  int blocking = 0;
  int cga_cluster_size = kUnset;
  int min_ctas = kUnset;
  int max_ctas = kUnset;
  const char* net_name = nullptr;
  int split_share = kUnset;
  int traffic_class = kUnset;
  const char* comm_name = nullptr;
  int collnet_enable = kUnset;
  int cta_policy = kUnset;
  int shrink_share = kUnset;
  int nvls_ctas = kUnset;
  int channels_per_net_peer = kUnset;
  int nvlink_centric_sched = kUnset;
};

constexpr int kOldestVersion = 22800;

using InitWithConfig = int(NcclComm*, int, NcclId, int, NcclConfig*);
InitWithConfig* init_with_config = nullptr;

Status fill(NcclApi& api, const Library& library) {
  Status status = library.load(api.get_version, "ncclGetVersion");
  const auto load = [&](auto*& function, const char* name) {
    if (status) status = library.load(function, name);
  };
  load(api.get_unique_id, "ncclGetUniqueId");
  load(init_with_config, "ncclCommInitRankConfig");
  load(api.async_error, "ncclCommGetAsyncError");
  load(api.abort, "ncclCommAbort");
  load(api.group_start, "ncclGroupStart");
  load(api.group_end, "ncclGroupEnd");
  load(api.send, "ncclSend");
  load(api.receive, "ncclRecv");
  load(api.all_reduce, "ncclAllReduce");
  load(api.error_text, "ncclGetErrorString");
  load(api.last_error, "ncclGetLastError");
  api.init_rank = [](NcclComm* comm, int ranks, NcclId id, int rank) {
    NcclConfig config;
    return init_with_config(comm, ranks, id, rank, &config);
  };
  return status;
}

Result<const NcclApi*> open_nccl() {
  const char* cure = "Install NCCL 2.28 or later for CUDA 13, or use --comm loopback";
  Result<Library> library =
      Library::open({"libnccl.so.2", "libnccl.so", "/usr/local/cuda/lib64/libnccl.so.2"},
                    "exchange between GPUs", cure);
  if (!library) return fail(library.error());
  static NcclApi api;
  if (Status status = fill(api, *library); !status) return fail(status.error());
  int version = 0;
  api.get_version(&version);
  if (version < kOldestVersion) {
    return fail({ErrorKind::runtime, fmt::format("NCCL is version {}", version), library->name(),
                 fmt::format("{} or later", kOldestVersion), cure});
  }
  return &api;
}

}  // namespace

Result<const NcclApi*> nccl_api() {
  static const Result<const NcclApi*> api = open_nccl();
  return api;
}

}  // namespace shardscope::engine::cuda
