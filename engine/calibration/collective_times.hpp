#pragma once
// Times one collective between the ranks of a fabric.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/calibration/stage_timer.hpp"
#include "engine/comm/fabric.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

enum class Collective : std::uint8_t { alltoall, all_reduce, counts };

[[nodiscard]] const char* to_string(Collective value);

/// One collective at one size.
struct CollectiveRequest {
  Collective collective = Collective::alltoall;
  std::int64_t bytes = 0;  ///< alltoall, counts: to each peer; all_reduce: the buffer (fp32)
  std::int32_t calls = 1;  ///< timed, one after the other
};

/// What a rank's stream and memory come from: the cpu device, or another.
struct RankDevice {
  std::function<Result<std::unique_ptr<Stream>>(std::int32_t rank)> stream;
  /// Zero bytes that the stream's work reaches.
  std::function<Result<std::shared_ptr<std::byte>>(std::int64_t bytes)> memory;
};

/// Streams and memory of this host, for ranks that are threads.
[[nodiscard]] RankDevice cpu_rank_device(StreamMode mode);

/// Seconds a call and rank took (median over calls of the mean over ranks), on `clock`: with
/// thread_cpu what the rank itself worked. An error ends all ranks.
[[nodiscard]] Result<double> time_collective(Fabric& fabric, std::int32_t ranks,
                                             const RankDevice& device,
                                             const CollectiveRequest& request, StageClock clock);

/// Bytes that one rank receives from others in a call, as the cost model counts them.
[[nodiscard]] double received_bytes(const CollectiveRequest& request, std::int32_t ranks);

}  // namespace shardscope::engine
