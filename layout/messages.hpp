#pragma once
// Size of every message between two ranks, per exchange. One message is one peer's part of an
// all-to-all; the formats stand in docs/pipeline.md.

#include <cstdint>
#include <vector>

#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/routes.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// Message sizes in bytes under one layout. Keeps references: the arguments must outlive it.
class Messages {
 public:
  Messages(const Workload& workload, const Topology& topology, const Layout& layout,
           const Routes& routes, const BatchCounts& counts);

  /// RB input_dist, rank to owner: per id unit a length (4 B) a bag, and per id its local row (key
  /// bytes) and, where weighted, an fp32 weight.
  [[nodiscard]] std::int64_t rb_ids(std::int32_t from, std::int32_t owner) const;
  /// RB flat, between consumer and owner (forward and backward): per partial a vector a bag.
  [[nodiscard]] std::int64_t rb_flat(std::int32_t consumer, std::int32_t owner) const;
  /// RB hierarchical inside a domain, between an owner and the domain's rank of rail `rail`: the
  /// owner's partials for the bags of all ranks of that rail, one domain's rank after the other.
  [[nodiscard]] std::int64_t rb_domain(std::int32_t owner, std::int32_t rail) const;
  /// RB hierarchical along a rail, between a consumer and its rail's rank in `domain`: a vector a
  /// bag for every partial that is present on the domain, once.
  [[nodiscard]] std::int64_t rb_rail(std::int32_t consumer, std::int32_t domain) const;
  /// UB input_dist, rank to owner: per row unit the asked local rows (key bytes).
  [[nodiscard]] std::int64_t ub_ids(std::int32_t from, std::int32_t owner) const;
  /// UB, between consumer and owner (forward and backward): the asked rows of every column shard
  /// that stands on the owner.
  [[nodiscard]] std::int64_t ub_rows(std::int32_t consumer, std::int32_t owner) const;
  /// update of RB or UB: a sum of g^2 (4 B) a distinct row of every row shard that both own.
  [[nodiscard]] std::int64_t square_sums(ClusterType cluster, std::int32_t from,
                                         std::int32_t to) const;

 private:
  /// A row shard whose owners exchange sums of g^2.
  struct SquareUnit {
    std::size_t table = 0;
    std::int32_t row = 0;
  };

  [[nodiscard]] std::int64_t samples(std::int32_t rank) const;
  void list_square_units();

  const Workload& workload_;
  const Topology& topology_;
  const Layout& layout_;
  const Routes& routes_;
  const BatchCounts& counts_;
  std::vector<std::int64_t> flat_bytes_;               ///< bytes a sample, by owner
  std::vector<std::int64_t> hierarchical_bytes_;       ///< bytes a sample, by owner
  std::vector<std::int64_t> domain_bytes_;             ///< bytes a sample, by domain
  std::vector<std::int64_t> rail_samples_;             ///< samples of all ranks of a rail
  std::vector<std::vector<SquareUnit>> square_units_;  ///< of each owner, by (table, row)
};

}  // namespace shardscope
