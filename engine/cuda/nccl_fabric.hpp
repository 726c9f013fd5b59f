#pragma once
// Ranks are threads of this process, a GPU each, that exchange through NCCL.

#include <functional>
#include <memory>
#include <span>

#include "engine/comm/fabric.hpp"
#include "engine/cuda/nccl_api.hpp"
#include "engine/device.hpp"

namespace shardscope::engine::cuda {

/// What the communicators need of NCCL and of the device. All of it outlives the fabric.
struct NcclPort {
  const NcclApi* nccl = nullptr;
  Ops* ops = nullptr;
  /// NCCL's handle of a stream.
  std::function<void*(Stream&)> native;
  /// Makes the rank's GPU current on the calling thread.
  std::function<void(std::int32_t rank)> set_device;
  /// Device memory, and back. Null when there is none.
  std::function<void*(std::int32_t rank, std::int64_t bytes)> allocate;
  std::function<void(void* memory)> free;
  /// Kernels of every GPU of a fast domain write into memory of the others.
  bool peer_access = false;
  /// What the stream goes through now is in a graph, or on its way there. Null: never.
  std::function<bool(const Stream&)> in_graph;
  /// Inside a graph: whether calls of NCCL with these values are to be made (CudaStream::call).
  std::function<bool(Stream&, std::span<const std::int64_t>)> call;
};

struct NcclState;

/// Non-blocking communicators, one a rank and channel. A thread of the fabric looks for NCCL's
/// asynchronous errors and for ranks that keep others waiting: either ends the run with an error
/// naming rank and stage. Calls may go into graphs, which all ranks launch or none (NCCL wants the
/// calls of an exchange captured on all ranks or on none). NCCL takes sizes when a call is
/// enqueued: alltoall_v waits on the host for its stream where work before it writes them
/// (AllToAllV::sizes_from_stream), else for nothing.
class NcclFabric final : public Fabric {
 public:
  [[nodiscard]] static Result<std::unique_ptr<NcclFabric>> create(const Topology& topology,
                                                                  std::int32_t channels,
                                                                  const FabricOptions& options,
                                                                  NcclPort port);
  ~NcclFabric() override;

  std::unique_ptr<Communicator> communicator(std::int32_t rank, std::int32_t channel) override;
  StreamMode stream_mode() const override { return StreamMode::threaded; }
  void enter(std::int32_t rank) override;
  void leave(std::int32_t /*rank*/) override {}
  std::int64_t waited_ns(std::int32_t /*rank*/) const override { return 0; }
  void abort(const Error& reason) override;
  Status status() const override;

 private:
  explicit NcclFabric(std::shared_ptr<NcclState> state);

  std::shared_ptr<NcclState> state_;
};

}  // namespace shardscope::engine::cuda
