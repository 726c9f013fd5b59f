#pragma once
// Event simulation of a Schedule over the ranks of a topology: what an iteration takes once
// collectives wait for their last participant and steps share kernels' units and wires.
//
// A step is a sequence of parts; a part is kernels on one rank, then (unless `none`) an exchange
// that begins when every rank of its group has arrived and ends when the slowest of them is done.
// Resources of a rank are its compute units, its fast-domain wire and its NIC. Kernels of a side
// stream (index calculation, prefetch, updates beside the all-reduce) make one step of a lower
// stream that may run beside them longer by overlap_cost x their own time: nothing overlaps for
// free. An exchange that meets another on its wire waits for what is left of it.
// Every time is a non-decreasing function of every load, so more bandwidth is never slower.

#include <cstdint>
#include <vector>

#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "profiler/span.hpp"

namespace shardscope {

/// Who takes part in a part's exchange.
enum class Barrier : std::uint8_t {
  none,    ///< nobody: kernels only
  flat,    ///< all ranks
  domain,  ///< the ranks of one fast domain
  rail,    ///< equal positions of all fast domains
};

/// What one rank moves over one link class in an exchange.
struct WireLoad {
  double sent_bytes = 0;
  double received_bytes = 0;
  std::int32_t peers = 0;  ///< other ranks reached over this class; 0: the class is not used

  friend bool operator==(const WireLoad&, const WireLoad&) = default;
};

/// One part of a step on one rank.
struct PartLoad {
  double kernel_s = 0;  ///< kernels before the exchange, alone on the device
  double delay_s = 0;   ///< fixed cost of the exchange besides link latency; holds no resource
  WireLoad intra;
  WireLoad inter;
  std::int64_t rows = 0;  ///< ids or rows worked on; recorded, not priced

  friend bool operator==(const PartLoad&, const PartLoad&) = default;
};

struct StepPart {
  Barrier barrier = Barrier::none;
  std::vector<PartLoad> ranks;  ///< one a rank

  friend bool operator==(const StepPart&, const StepPart&) = default;
};

struct StepLoad {
  std::vector<StepPart> parts;

  friend bool operator==(const StepLoad&, const StepLoad&) = default;
};

/// `steps` has one entry a schedule step. Ranks are numbered as in Topology.
struct SimulationInput {
  Schedule schedule;
  std::int32_t ranks = 1;
  std::int32_t fast_domain = 1;  ///< divides ranks
  std::vector<StepLoad> steps;
  LinkModel intra;
  LinkModel inter;
  double overlap_cost = 0;  ///< 0..1, Gpu::overlap_cost
};

/// One step on one rank in the steady iteration; seconds since that iteration began anywhere.
struct SimulatedStep {
  double start_s = 0;
  double end_s = 0;
  double waiting_s = 0;  ///< for the last peer of the step's exchanges
  double busy_s = 0;     ///< kernels, overlap included

  friend bool operator==(const SimulatedStep&, const SimulatedStep&) = default;
};

/// A piece of the chain of cause that ends with the iteration's end, in order of time.
struct CriticalPiece {
  std::uint16_t step = 0;
  std::int32_t rank = 0;
  bool exchange = false;  ///< wire and latency; else kernels
  bool previous = false;  ///< waiting for a prefetch step begun in the iteration before
  double start_s = 0;
  double end_s = 0;
};

struct Simulation {
  double iteration_s = 0;  ///< steady state, slowest rank
  bool steady = false;     ///< false: the rate still drifted; iteration_s is the last difference
  std::vector<SimulatedStep> steps;  ///< [step * ranks + rank]
  std::vector<double> waiting_s;     ///< by rank, one iteration
  std::vector<double> busy_s;        ///< by rank, one iteration
  std::vector<CriticalPiece> critical_path;
  std::vector<Span> spans;  ///< of the steady iteration; waiting parts apart from working parts

  [[nodiscard]] const SimulatedStep& at(std::size_t step, std::int32_t rank) const {
    return steps[step * waiting_s.size() + static_cast<std::size_t>(rank)];
  }
};

[[nodiscard]] Simulation simulate(const SimulationInput& input);

/// The same iteration time without steps, path and spans.
[[nodiscard]] double simulated_iteration_seconds(const SimulationInput& input);

}  // namespace shardscope
