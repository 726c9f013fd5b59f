// Which parts of RB's messages codecs see: a chunk a partial. Bags do not change between batches,
// so the lists are laid down once.

#include <algorithm>
#include <utility>

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
  place_chunks(flat_chunks_,
               {all_ranks_, rank_, plan_.routes.rb_flat, owner_flat_, consumer_flat_});
}

void RbCluster::place_rail_chunks() {
  const Topology& topology = plan_.topology;
  for (std::int32_t d = 0; d < topology.domains(); ++d) {
    rail_ranks_.push_back(rank_at(d, topology.rail_of(rank_)));
  }
  place_chunks(rail_chunks_, {rail_ranks_, topology.domain_of(rank_), plan_.routes.rb_domain,
                              rail_out_, consumer_rail_});
}

void RbCluster::place_chunks(Chunks& chunks, const VectorRoute& route) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    if (!coded_.active(direction)) continue;
    ChunkLists as_owner(route.peers.size());
    ChunkLists as_consumer(route.peers.size());
    for (std::int32_t at = 0; at < static_cast<std::int32_t>(route.peers.size()); ++at) {
      if (at == route.own) continue;
      const auto place = static_cast<std::size_t>(at);
      const std::int32_t peer = route.peers[place];
      const auto lay = [&](ChunkLists& lists, const std::vector<PartialUnit>& units,
                           std::int32_t consumer, std::int64_t offset) {
        for (const PartialUnit& unit : units) {
          lists[place].push_back(chunk_of(unit, consumer, peer, offset, direction));
          offset += vector_bytes(unit, consumer);
        }
      };
      lay(as_owner, route.partials[static_cast<std::size_t>(route.own)], peer,
          route.owned.offset(at));
      lay(as_consumer, route.partials[place], rank_, route.consumed.offset(at));
    }
    CodedExchange::drop_raw(as_owner);
    CodedExchange::drop_raw(as_consumer);
    const bool forward = direction == Direction::forward;
    const auto d = static_cast<std::size_t>(direction);
    chunks.sent[d] = forward ? as_owner : as_consumer;
    chunks.received[d] = std::move(forward ? as_consumer : as_owner);
  }
}

}  // namespace shardscope::engine
