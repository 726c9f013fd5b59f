// Which parts of RB's messages codecs see: a chunk a partial. Bags do not change between batches,
// so the lists are laid down once.

#include <algorithm>

#include "engine/pipeline/rb.hpp"

namespace shardscope::engine {

// Partial sums of one (feature, column shard) that a consumer adds up: one an owner (flat) or one a
// domain (hierarchical). They share the bound, so that it holds for their sum.
std::int32_t RbCluster::terms_of(const PartialUnit& unit) const {
  const bool flat =
      plan_.layout.exchange_of(static_cast<std::size_t>(unit.table)) == Exchange::flat;
  std::int32_t terms = 0;
  for (const std::vector<PartialUnit>& list :
       flat ? plan_.routes.rb_flat : plan_.routes.rb_domain) {
    terms += static_cast<std::int32_t>(std::count(list.begin(), list.end(), unit));
  }
  return terms;
}

MessageChunk RbCluster::chunk_of(const PartialUnit& unit, std::int32_t consumer, std::int32_t peer,
                                 std::int64_t offset, Direction direction) const {
  const std::int32_t terms = direction == Direction::forward ? terms_of(unit) : 1;
  return {unit.table,
          coded_.spec_of(unit.table, peer, direction, terms),
          offset,
          {plan_.bags(unit.feature, consumer), width_of(unit)}};
}

void RbCluster::place_flat_chunks() {
  for (std::int32_t p = 0; p < ranks_; ++p) all_ranks_.push_back(p);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    if (!coded_.active(direction)) continue;
    ChunkLists as_owner(static_cast<std::size_t>(ranks_));
    ChunkLists as_consumer(static_cast<std::size_t>(ranks_));
    for (std::int32_t p = 0; p < ranks_; ++p) {
      if (p == rank_) continue;
      std::int64_t offset = owner_flat_.offset(p);
      for (const PartialUnit& unit : plan_.routes.rb_flat[static_cast<std::size_t>(rank_)]) {
        as_owner[static_cast<std::size_t>(p)].push_back(chunk_of(unit, p, p, offset, direction));
        offset += vector_bytes(unit, p);
      }
      offset = consumer_flat_.offset(p);
      for (const PartialUnit& unit : plan_.routes.rb_flat[static_cast<std::size_t>(p)]) {
        as_consumer[static_cast<std::size_t>(p)].push_back(
            chunk_of(unit, rank_, p, offset, direction));
        offset += vector_bytes(unit, rank_);
      }
    }
    const bool forward = direction == Direction::forward;
    const auto d = static_cast<std::size_t>(direction);
    flat_chunks_.sent[d] = forward ? as_owner : as_consumer;
    flat_chunks_.received[d] = forward ? as_consumer : as_owner;
    CodedExchange::drop_raw(flat_chunks_.sent[d]);
    CodedExchange::drop_raw(flat_chunks_.received[d]);
  }
}

void RbCluster::place_rail_chunks() {
  const Topology& topology = plan_.topology;
  const std::int32_t own = topology.domain_of(rank_);
  for (std::int32_t d = 0; d < topology.domains(); ++d) {
    rail_ranks_.push_back(rank_at(d, topology.rail_of(rank_)));
  }
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    if (!coded_.active(direction)) continue;
    ChunkLists as_rail(rail_ranks_.size());
    ChunkLists as_consumer(rail_ranks_.size());
    for (std::int32_t d = 0; d < topology.domains(); ++d) {
      if (d == own) continue;
      const auto at = static_cast<std::size_t>(d);
      const std::int32_t peer = rail_ranks_[at];
      std::int64_t offset = rail_out_.offset(d);
      for (const PartialUnit& unit : plan_.routes.rb_domain[static_cast<std::size_t>(own)]) {
        as_rail[at].push_back(chunk_of(unit, peer, peer, offset, direction));
        offset += vector_bytes(unit, peer);
      }
      offset = consumer_rail_.offset(d);
      for (const PartialUnit& unit : plan_.routes.rb_domain[at]) {
        as_consumer[at].push_back(chunk_of(unit, rank_, peer, offset, direction));
        offset += vector_bytes(unit, rank_);
      }
    }
    const bool forward = direction == Direction::forward;
    const auto at = static_cast<std::size_t>(direction);
    rail_chunks_.sent[at] = forward ? as_rail : as_consumer;
    rail_chunks_.received[at] = forward ? as_consumer : as_rail;
    CodedExchange::drop_raw(rail_chunks_.sent[at]);
    CodedExchange::drop_raw(rail_chunks_.received[at]);
  }
}

}  // namespace shardscope::engine
