#include "engine/calibration/copy_rate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/assembly.hpp"
#include "profiler/clock.hpp"
#include "profiler/median.hpp"

namespace shardscope::engine {

Result<double> copy_bytes_per_s(Ops& ops, const RankDevice& device, std::int64_t bytes,
                                std::int32_t repeats, StageClock clock) {
  Result<std::unique_ptr<Stream>> stream = device.stream(0);
  if (!stream) return fail(stream.error());
  const auto from = device.memory(bytes);
  if (!from) return fail(from.error());
  const auto to = device.memory(bytes);
  if (!to) return fail(to.error());
  const CopyBytes copy{from->get(), to->get(), bytes};
  std::vector<std::int64_t> moments(static_cast<std::size_t>(repeats) + 1);
  for (std::int64_t& moment : moments) {
    ops.copy_bytes(**stream, {&copy, 1});
    (*stream)->enqueue([&moment, clock] {
      moment = clock == StageClock::thread_cpu ? thread_cpu_ns() : steady_ns();
    });
  }
  (*stream)->synchronize((*stream)->record());
  if (Status status = (*stream)->status(); !status) return fail(status.error());
  std::vector<double> rates;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const auto ns = static_cast<double>(std::max<std::int64_t>(moments[i] - moments[i - 1], 1));
    rates.push_back(2.0 * static_cast<double>(bytes) / (ns * 1e-9));
  }
  return median(std::move(rates));
}

}  // namespace shardscope::engine
