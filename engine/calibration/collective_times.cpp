#include "engine/calibration/collective_times.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/cpu/cores.hpp"
#include "profiler/clock.hpp"
#include "profiler/median.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int32_t kUntimedCalls = 3;

/// Clock values around every call, written on the stream.
struct CallTimes {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};

std::int64_t read_stage_clock(StageClock clock) {
  return clock == StageClock::thread_cpu ? thread_cpu_ns() : steady_ns();
}

/// One rank's buffers and the repeated call.
class RankCalls {
 public:
  RankCalls(const CollectiveRequest& request, std::int32_t ranks, StageClock clock)
      : request_(request), ranks_(ranks), clock_(clock) {
    const std::size_t calls = static_cast<std::size_t>(request.calls + kUntimedCalls);
    times_.before.resize(calls);
    times_.after.resize(calls);
  }

  Status run(Communicator& communicator, Stream& stream, const RankDevice& device) {
    const std::int64_t peers = request_.collective == Collective::all_reduce ? 1 : ranks_;
    const std::int64_t bytes = std::max<std::int64_t>(request_.bytes, 8) * peers;
    auto send = device.memory(bytes);
    if (!send) return fail(send.error());
    auto receive = device.memory(bytes);
    if (!receive) return fail(receive.error());
    for (std::int32_t peer = 0; peer < ranks_; ++peer) {
      offsets_.push_back(peer * request_.bytes);
      sizes_.push_back(request_.bytes);
    }
    for (std::size_t call = 0; call < times_.before.size(); ++call) {
      communicator.barrier(stream, Group::flat);
      stream.enqueue([this, call] { times_.before[call] = read_stage_clock(clock_); });
      issue(communicator, stream, send->get(), receive->get());
      stream.enqueue([this, call] { times_.after[call] = read_stage_clock(clock_); });
    }
    stream.synchronize(stream.record());
    if (Status status = stream.status(); !status) return status;
    return communicator.status();
  }

  [[nodiscard]] double seconds(std::int32_t call) const {
    const auto at = static_cast<std::size_t>(call + kUntimedCalls);
    return static_cast<double>(times_.after[at] - times_.before[at]) * 1e-9;
  }

 private:
  void issue(Communicator& communicator, Stream& stream, std::byte* send, std::byte* receive) {
    switch (request_.collective) {
      case Collective::alltoall:
        communicator.alltoall_v(
            stream, Group::flat,
            {send, offsets_.data(), sizes_.data(), receive, offsets_.data(), sizes_.data()});
        break;
      case Collective::all_reduce:
        communicator.all_reduce(stream, Group::flat, send, request_.bytes / 4, DType::fp32);
        break;
      case Collective::counts:
        static_cast<void>(communicator.exchange_counts(
            stream, Group::flat, reinterpret_cast<const std::int64_t*>(send),
            reinterpret_cast<std::int64_t*>(receive),
            static_cast<std::int32_t>(request_.bytes / 8)));
        break;
    }
  }

  CollectiveRequest request_;
  std::int32_t ranks_;
  StageClock clock_;
  CallTimes times_;
  std::vector<std::int64_t> offsets_, sizes_;
};

}  // namespace

const char* to_string(Collective value) {
  switch (value) {
    case Collective::alltoall:
      return "alltoall";
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::counts:
      return "counts";
  }
  return "";
}

RankDevice cpu_rank_device(StreamMode mode) {
  RankDevice device;
  device.stream = [mode](std::int32_t rank) -> Result<std::unique_ptr<Stream>> {
    std::unique_ptr<Stream> stream = make_cpu_stream(mode, "calibrate");
    if (mode == StreamMode::threaded) {
      stream->enqueue([rank] { stay_on_core(core_of(rank, 1 << 16, 0, 1)); });
    }
    return stream;
  };
  device.memory = [](std::int64_t bytes) -> Result<std::shared_ptr<std::byte>> {
    auto* memory = static_cast<std::byte*>(std::calloc(1, static_cast<std::size_t>(bytes)));
    if (memory == nullptr) {
      return fail({ErrorKind::runtime, "there is no memory for the messages", "calibrate", "",
                   "Close other programs"});
    }
    std::fill_n(memory, bytes, std::byte{1});  // touched: pages are there before the first call
    return std::shared_ptr<std::byte>(memory, std::free);
  };
  return device;
}

Result<double> time_collective(Fabric& fabric, std::int32_t ranks, const RankDevice& device,
                               const CollectiveRequest& request, StageClock clock) {
  // A communicator exists once for each rank and channel; a fabric serves one measurement.
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<RankCalls>> calls;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    communicators.push_back(fabric.communicator(rank, 0));
    calls.push_back(std::make_unique<RankCalls>(request, ranks, clock));
  }
  std::mutex mutex;
  std::optional<Error> failed;
  const auto work = [&](std::int32_t rank) {
    const RankTurn turn(fabric, rank);
    Result<std::unique_ptr<Stream>> stream = device.stream(rank);
    const auto r = static_cast<std::size_t>(rank);
    const Status status =
        stream ? calls[r]->run(*communicators[r], **stream, device) : Status(fail(stream.error()));
    if (status) return;
    const std::lock_guard lock(mutex);
    if (!failed) failed = status.error();
    fabric.abort(status.error());
  };
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) threads.emplace_back(work, rank);
  for (std::thread& thread : threads) thread.join();
  if (failed) return fail(*failed);
  std::vector<double> means;
  for (std::int32_t call = 0; call < request.calls; ++call) {
    double sum = 0;
    for (const auto& rank : calls) sum += rank->seconds(call);
    means.push_back(sum / ranks);
  }
  return median(std::move(means));
}

double received_bytes(const CollectiveRequest& request, std::int32_t ranks) {
  const auto bytes = static_cast<double>(request.bytes);
  // Every rank reduces one chunk and sends it to all (planner/step_loads.cpp).
  if (request.collective == Collective::all_reduce) return 2 * bytes * (ranks - 1) / ranks;
  return bytes * (ranks - 1);
}

}  // namespace shardscope::engine
