// Communicators of the threads fabric: bandwidth of all-to-all beside plain copies of the same
// bytes, latency of small calls, the throttle's accuracy, and the cost of a stream.

#include <benchmark/benchmark.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "engine/comm/fabric.hpp"
#include "engine/comm/progress.hpp"
#include "engine/comm/threads.hpp"
#include "engine/stream.hpp"

namespace shardscope::engine {
namespace {

/// Ranks with a stream and buffers each; the benchmark's thread enqueues for all of them.
class Team {
 public:
  Team(std::int32_t ranks, std::int64_t bytes_per_peer, const WireThrottle& wire = {})
      : ranks_(ranks), bytes_per_peer_(bytes_per_peer) {
    Topology topology;
    topology.gpus_per_host = ranks;
    topology.fast_domain = ranks;
    FabricOptions options;
    options.wire = wire;
    auto fabric = ThreadsFabric::create(topology, 1, options);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      comms_.push_back((*fabric)->communicator(rank, 0));
      streams_.push_back(make_cpu_stream(StreamMode::threaded, "bench"));
      const auto bytes = static_cast<std::size_t>(ranks * bytes_per_peer);
      send_.emplace_back(bytes, std::byte{1});
      receive_.emplace_back(bytes, std::byte{2});
      offsets_.push_back(rank * bytes_per_peer);
      sizes_.push_back(bytes_per_peer);
    }
  }

  void all_to_all() {
    for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
      comms_[rank]->alltoall_v(*streams_[rank], Group::flat,
                               {send_[rank].data(), offsets_.data(), sizes_.data(),
                                receive_[rank].data(), offsets_.data(), sizes_.data()});
    }
  }
  /// The same bytes from the same senders, without any agreement between the ranks.
  void copies() {
    for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
      streams_[rank]->enqueue([this, rank] {
        const auto bytes = static_cast<std::size_t>(bytes_per_peer_);
        for (std::size_t step = 0; step < comms_.size(); ++step) {
          const std::size_t peer = (rank + step) % comms_.size();
          std::memcpy(receive_[rank].data() + peer * bytes, send_[peer].data() + rank * bytes,
                      bytes);
        }
      });
    }
  }
  void all_reduce() {
    const auto floats = static_cast<std::int64_t>(send_[0].size() / sizeof(float));
    for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
      comms_[rank]->all_reduce(*streams_[rank], Group::flat, send_[rank].data(), floats,
                               DType::fp32);
    }
  }
  void barrier() {
    for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
      comms_[rank]->barrier(*streams_[rank], Group::flat);
    }
  }
  void settle() {
    for (const auto& stream : streams_) stream->synchronize(stream->record());
  }

  [[nodiscard]] std::int64_t bytes_moved() const { return bytes_per_peer_ * ranks_ * ranks_; }

 private:
  std::int64_t ranks_;
  std::int64_t bytes_per_peer_;
  std::vector<std::unique_ptr<Communicator>> comms_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::vector<std::byte>> send_, receive_;
  std::vector<std::int64_t> offsets_, sizes_;
};

double seconds_of(const std::function<void()>& work) {
  const std::int64_t start = now_ns();
  work();
  return static_cast<double>(now_ns() - start) * 1e-9;
}

/// Copies and all-to-all alternate, so that both see the same machine; time is the all-to-all's.
void all_to_all_against_copies(benchmark::State& state) {
  Team team(static_cast<std::int32_t>(state.range(0)), state.range(1));
  double copies = 0;
  double exchanges = 0;
  for ([[maybe_unused]] auto _ : state) {
    copies += seconds_of([&] {
      team.copies();
      team.settle();
    });
    const double seconds = seconds_of([&] {
      team.all_to_all();
      team.settle();
    });
    exchanges += seconds;
    state.SetIterationTime(seconds);
  }
  state.SetBytesProcessed(state.iterations() * team.bytes_moved());
  state.counters["of_copy_speed"] = copies / exchanges;
}
BENCHMARK(all_to_all_against_copies)
    ->ArgNames({"ranks", "bytes"})
    ->ArgsProduct({{2, 4, 8}, {4 << 10, 64 << 10, 1 << 20, 4 << 20}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

constexpr int kCallsAtOnce = 100;

/// One of many small calls in a row.
template <class Call>
void latency(benchmark::State& state, Call call) {
  Team team(static_cast<std::int32_t>(state.range(0)), 64);
  for ([[maybe_unused]] auto _ : state) {
    for (int i = 0; i < kCallsAtOnce; ++i) call(team);
    team.settle();
  }
  state.SetItemsProcessed(state.iterations() * kCallsAtOnce);
  state.counters["us_a_call"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kCallsAtOnce * 1e-6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void latency_of_all_to_all(benchmark::State& state) {
  latency(state, [](Team& team) { team.all_to_all(); });
}
void latency_of_all_reduce(benchmark::State& state) {
  latency(state, [](Team& team) { team.all_reduce(); });
}
void latency_of_barrier(benchmark::State& state) {
  latency(state, [](Team& team) { team.barrier(); });
}
BENCHMARK(latency_of_all_to_all)->ArgName("ranks")->Arg(2)->Arg(4)->Arg(8)->UseRealTime();
BENCHMARK(latency_of_all_reduce)->ArgName("ranks")->Arg(2)->Arg(4)->Arg(8)->UseRealTime();
BENCHMARK(latency_of_barrier)->ArgName("ranks")->Arg(2)->Arg(4)->Arg(8)->UseRealTime();

void all_reduce_bandwidth(benchmark::State& state) {
  Team team(static_cast<std::int32_t>(state.range(0)), state.range(1) / state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    team.all_reduce();
    team.settle();
  }
  state.SetBytesProcessed(state.iterations() * state.range(1));
}
BENCHMARK(all_reduce_bandwidth)
    ->ArgNames({"ranks", "bytes"})
    ->ArgsProduct({{2, 4, 8}, {1 << 20, 16 << 20}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// Time of a throttled all-to-all over bytes / bandwidth; 1 is exact.
void throttled_all_to_all(benchmark::State& state) {
  constexpr double kBytesPerSecond = 1e9;
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  Team team(ranks, state.range(1), {kBytesPerSecond, 0});
  const double expected = static_cast<double>((ranks - 1) * state.range(1)) / kBytesPerSecond;
  double total = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double seconds = seconds_of([&] {
      team.all_to_all();
      team.settle();
    });
    total += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["over_expected"] = total / (expected * static_cast<double>(state.iterations()));
}
BENCHMARK(throttled_all_to_all)
    ->ArgNames({"ranks", "bytes"})
    ->ArgsProduct({{2, 8}, {16 << 10, 128 << 10, 1 << 20}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

/// An empty call from enqueue to its end, one at a time.
void stream_round_trip(benchmark::State& state) {
  const auto stream = make_cpu_stream(StreamMode::threaded, "bench");
  for ([[maybe_unused]] auto _ : state) {
    stream->enqueue([] {});
    stream->synchronize(stream->record());
  }
}
BENCHMARK(stream_round_trip)->UseRealTime();

/// The same with the queue kept full.
void stream_throughput(benchmark::State& state) {
  const auto stream = make_cpu_stream(StreamMode::threaded, "bench");
  for ([[maybe_unused]] auto _ : state) stream->enqueue([] {});
  stream->synchronize(stream->record());
}
BENCHMARK(stream_throughput)->UseRealTime();

}  // namespace
}  // namespace shardscope::engine

BENCHMARK_MAIN();
