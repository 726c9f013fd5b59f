#pragma once
// Why a model does not fit a machine, or a layout its GPUs: which tables and GPUs, how many bytes,
// whether tables or batch are to blame, and the least change that fits.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"

namespace shardscope {

/// A table and bytes of it: weights and optimizer state.
struct TableBytes {
  std::int32_t table = 0;
  double bytes = 0;
};

/// What would fit instead.
enum class Relief : std::uint8_t {
  smaller_batch,   ///< amount: samples
  wire_16_bit,     ///< vectors and gradients travel in fp16
  half_weights,    ///< fp16 weights of every fp32 table
  rowwise_state,   ///< row-wise adagrad where the state is larger
  no_state,        ///< plain SGD
  half_and_state,  ///< fp16 weights and row-wise adagrad
  more_hosts,      ///< amount: hosts of the same kind
};
inline constexpr std::size_t kReliefs = 7;

[[nodiscard]] const char* to_string(Relief value);

struct ReliefEffect {
  Relief relief = Relief::smaller_batch;
  bool legal = true;        ///< the executor can train it
  bool fits = false;        ///< a layout was found and passes check()
  std::int64_t amount = 0;  ///< see Relief; half_weights ...: tables changed
  double needed_bytes = 0;  ///< of the fullest GPU then
  double freed_bytes = 0;   ///< needed before less needed after; of a GPU
  /// Where changing only the largest tables is enough: those. Empty: all of them, or none help.
  std::vector<std::int32_t> enough;
  std::string why_not;  ///< first rule that forbids it
};

/// A model on a machine, whatever the layout.
struct Shortage {
  double capacity_bytes = 0;          ///< of a GPU
  double needed_bytes = 0;            ///< of the fullest GPU in the evenest spread found
  double short_bytes = 0;             ///< needed - capacity; of a GPU
  double table_bytes = 0;             ///< weights and state of all tables, once each
  double fixed_bytes = 0;             ///< of every GPU without tables: dense part, outputs, reserve
  bool table_bound = false;           ///< even one sample a GPU does not fit
  std::vector<TableBytes> largest;    ///< five, largest first
  std::vector<TableBytes> left_over;  ///< found no room, largest first
  std::vector<ReliefEffect> reliefs;  ///< in Relief's order, those that change anything
  std::optional<std::size_t> least;   ///< of reliefs: the least change that fits
};

/// Nothing where memory suffices for a layout of the executor (other rules may forbid it all the
/// same). Least change: reliefs in their order, but those
/// that touch some tables alone come before those that touch all.
[[nodiscard]] std::optional<Shortage> find_shortage(const Workload& workload,
                                                    const Topology& topology,
                                                    const PredictOptions& options);

/// A GPU that a layout overfills.
struct CrowdedGpu {
  std::int32_t rank = 0;
  double short_bytes = 0;
  std::vector<TableBytes> largest;  ///< three there, weights and state on this GPU
};

/// A layout on its GPUs.
struct LayoutShortage {
  double capacity_bytes = 0;
  std::vector<CrowdedGpu> gpus;    ///< most crowded first
  bool table_bound = false;        ///< even one sample a GPU does not fit this layout
  std::int64_t largest_batch = 0;  ///< that fits this layout; 0: none
  std::vector<std::string> moves;  ///< fewest moves found that make it fit, in words; may be empty
  std::optional<Layout> moved;     ///< the layout after them; passes check()
};

/// Nothing where every GPU holds its part. Needs a sound geometry (layout/check.hpp).
[[nodiscard]] std::optional<LayoutShortage> find_layout_shortage(const Workload& workload,
                                                                 const Topology& topology,
                                                                 const Layout& layout,
                                                                 const PredictOptions& options);

}  // namespace shardscope
