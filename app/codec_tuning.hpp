#pragma once
// Codecs of a model's tables: measured on vectors of one batch, bounds by class, a choice for the
// hop between fast domains.

#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "engine/batches/batch.hpp"
#include "engine/codec/codec_kind.hpp"
#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "planner/bound_class.hpp"
#include "planner/codec_choice.hpp"

namespace shardscope::app {

struct TableCodecs {
  std::int32_t table = 0;
  std::int64_t sampled_rows = 0;  ///< 0: no vectors of it travel
  double homogenization = 1;      ///< at the base bound; see planner/bound_class.hpp
  BoundClass bound_class = BoundClass::base;
  double bound = 0;
  std::vector<CodecProfile> profiles;
};

/// What the measurements look at.
struct CodecTuning {
  std::uint64_t seed = 1;
  engine::RangePolicy range_policy = engine::RangePolicy::wrap;
  ClassBounds bounds;
  std::vector<engine::CodecKind> codecs;
  double seconds_each = 0.01;  ///< for every size of every codec and table
};

/// One entry a table, for the clusters that they have in the layout.
[[nodiscard]] Result<std::vector<TableCodecs>> measure_tables(const Inputs& inputs,
                                                              const Layout& layout,
                                                              const CodecTuning& tuning);

/// All profiles in one list.
[[nodiscard]] std::vector<CodecProfile> profiles_of(const std::vector<TableCodecs>& tables);

/// Codecs worth choosing among on a slow link: those that keep a bound, without the baselines.
[[nodiscard]] std::vector<engine::CodecKind> codecs_to_choose_from();

/// The choice for both hops of every table, and what it rests on.
struct TunedCodecs {
  std::vector<TableCodecs> tables;
  std::vector<CodecChoice> between;  ///< fast domains, by table
  std::vector<CodecChoice> inside;
  Layout layout;  ///< with the choices in its slots
};

/// Measures the tables with codecs_to_choose_from() (and bf16, for the gradients) and chooses for
/// the topology's links: by exchange, then by what the predicted iteration makes of it.
/// `tuning.codecs` is not read.
[[nodiscard]] Result<TunedCodecs> tune_codecs(const Inputs& inputs, const Layout& layout,
                                              CodecTuning tuning);

/// The machine with links as slow as the wire ("GB/s[,GB/s]") that a run is throttled to.
[[nodiscard]] Result<Topology> topology_at_wire(Topology topology, const std::string& wire);

}  // namespace shardscope::app
