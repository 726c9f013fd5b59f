#pragma once
// What the pipeline asks of a device. Every function enqueues a list of calls on a stream and
// returns; the calls of a list may run in any order or at once (none reads what another writes).
// The list and all it points at stay valid until the stream has run it: nothing is copied.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/assembly.hpp"
#include "engine/ops.hpp"
#include "engine/stream.hpp"

namespace shardscope {
struct BufferSpec;
struct Topology;
}  // namespace shardscope

namespace shardscope::engine {

class DenseMath;
class Fabric;
class Mover;
struct FabricOptions;

class Ops {
 public:
  virtual ~Ops() = default;

  virtual void gather_pool(Stream& stream, std::span<const GatherPool> calls) = 0;
  virtual void gather_rows(Stream& stream, std::span<const GatherRows> calls) = 0;
  virtual void copy_columns(Stream& stream, std::span<const CopyColumns> calls) = 0;
  virtual void bucketize(Stream& stream, std::span<const Bucketize> calls) = 0;
  virtual void dedup(Stream& stream, std::span<const Dedup> calls) = 0;
  virtual void sort_index(Stream& stream, std::span<const SortIndex> calls) = 0;
  virtual void segment_reduce(Stream& stream, std::span<const SegmentReduce> calls) = 0;
  virtual void square_sum(Stream& stream, std::span<const SquareSum> calls) = 0;
  /// `step` replaces the calls' own: the list is made once, the step grows with every iteration.
  virtual void optimizer_update(Stream& stream, std::span<const OptimizerUpdate> calls,
                                std::int64_t step) = 0;

  virtual void copy_bytes(Stream& stream, std::span<const CopyBytes> calls) = 0;
  virtual void fill_zero(Stream& stream, std::span<const FillZero> calls) = 0;
  virtual void sum_columns(Stream& stream, std::span<const SumColumns> calls) = 0;
  virtual void bag_scale(Stream& stream, std::span<const BagScale> calls) = 0;
  virtual void scale_rows(Stream& stream, std::span<const ScaleRows> calls) = 0;
  virtual void mean_bags(Stream& stream, std::span<const MeanBags> calls) = 0;
  virtual void spread_bags(Stream& stream, std::span<const SpreadBags> calls) = 0;
  virtual void expand_bags(Stream& stream, std::span<const ExpandBags> calls) = 0;
  virtual void fill_offsets(Stream& stream, std::span<const FillOffsets> calls) = 0;
  virtual void group_ids(Stream& stream, std::span<const GroupIds> calls) = 0;
  virtual void scatter_rows(Stream& stream, std::span<const ScatterRows> calls) = 0;
  virtual void compact_rows(Stream& stream, std::span<const CompactRows> calls) = 0;
  virtual void add_sums(Stream& stream, std::span<const AddSums> calls) = 0;
  virtual void pack_sums(Stream& stream, std::span<const PackSums> calls) = 0;
  virtual void unpack_sums(Stream& stream, std::span<const UnpackSums> calls) = 0;
};

/// Where the ranks of an engine run, if not on the cpu device. Outlives streams, memory and
/// fabrics.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual Ops& ops() = 0;
  /// A rank's stream on a fabric of that mode.
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> stream(std::int32_t rank, StreamMode mode,
                                                               const char* name) = 0;
  /// The dense part's arithmetic, enqueued on that stream of the rank, which must outlive it. Null:
  /// the host computes it, in tasks of the stream.
  [[nodiscard]] virtual Result<std::shared_ptr<DenseMath>> dense_math(std::int32_t rank,
                                                                      Stream& stream) = 0;
  /// Zero bytes that kernels and tasks of the rank's streams reach; they go back with the pointer.
  /// `purpose` names it in errors.
  [[nodiscard]] virtual Result<std::shared_ptr<std::byte>> allocate(std::int32_t rank,
                                                                    std::int64_t bytes,
                                                                    std::string_view purpose) = 0;
  /// Copies bytes of the host to memory of allocate(); returns when they are there.
  [[nodiscard]] virtual Status upload(std::int32_t rank, void* to, const void* from,
                                      std::int64_t bytes) = 0;
  /// Most bytes a rank's work takes beside an arena of these buffers, while it runs: temporary
  /// memory of operations, what libraries ask for.
  [[nodiscard]] virtual std::int64_t scratch_bytes(const Workload& workload,
                                                   std::span<const BufferSpec> buffers) const = 0;
  /// Bytes that all memory of the device together has free.
  [[nodiscard]] virtual Result<std::int64_t> available_bytes() = 0;
  /// For fabrics whose ranks share the device (loopback).
  [[nodiscard]] virtual Mover* mover() = 0;
  /// The fabric over the wires between devices (CommKind::nccl), a device a rank.
  [[nodiscard]] virtual Result<std::shared_ptr<Fabric>> fabric(const Topology& topology,
                                                               std::int32_t channels,
                                                               const FabricOptions& options) = 0;
};

/// Runs the kernels of engine/cpu on the stream's thread, a list one call after the other.
[[nodiscard]] std::unique_ptr<Ops> make_cpu_ops();

}  // namespace shardscope::engine
