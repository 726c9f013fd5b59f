// model_forward, network_forward and network_backward of RB: pool at the owner, combine at the
// consumer, and the way back of the gradients.

#include "engine/comm/peer_window.hpp"
#include "engine/pipeline/rb.hpp"

namespace shardscope::engine {

void RbCluster::fill_pool(Batch& batch) {
  for (std::vector<GatherPool>& wave : batch.pool) wave.clear();
  std::size_t apart = 0;
  for (const Partial& partial : partials_) {
    for (std::int32_t p = 0; p < ranks_; ++p) {
      const std::int64_t bags = plan_.bags(partial.unit.feature, p);
      std::byte* const out = partial.send + partial.offset[static_cast<std::size_t>(p)];
      PooledApart* sum =
          partial.summed_apart ? &pooled_apart(batch, apart++, partial, out, bags) : nullptr;
      for (std::size_t term = 0; term < partial.id_units.size(); ++term) {
        GatherPool call = pool_call(batch, partial, term, p);
        call.accumulate = term > 0;
        if (sum != nullptr) {
          call.out = vectors_.partial;
          call.out_type = DType::fp32;
          sum->terms.push_back(call);
          continue;
        }
        call.out = out;
        if (batch.pool.size() == term) batch.pool.emplace_back();
        batch.pool[term].push_back(call);
      }
    }
  }
}

RbCluster::PooledApart& RbCluster::pooled_apart(Batch& batch, std::size_t number,
                                                const Partial& partial, std::byte* out,
                                                std::int64_t bags) const {
  if (batch.pool_apart.size() == number) batch.pool_apart.emplace_back();
  PooledApart& sum = batch.pool_apart[number];
  sum.terms.clear();
  sum.store = {};
  sum.store.from = vectors_.partial;
  sum.store.from_stride = partial.width;
  sum.store.to = out;
  sum.store.to_type = plan_.workload.wire;
  sum.store.to_stride = partial.width;
  sum.store.rows = bags;
  sum.store.width = partial.width;
  return sum;
}

GatherPool RbCluster::pool_call(const Batch& batch, const Partial& partial, std::size_t term,
                                std::int32_t source) const {
  const Received& received =
      batch.received[partial.id_units[term] * static_cast<std::size_t>(ranks_) +
                     static_cast<std::size_t>(source)];
  const ShardMemory& shard = *partial.shards[term];
  GatherPool call;
  call.rows = shard.weights;
  call.row_type = plan_.table(shard.table).dtype;
  call.row_stride = shard.width;
  call.width = shard.width;
  call.bags = plan_.bags(partial.unit.feature, source);
  call.lengths = received.lengths;
  call.ids = received.ids;
  call.key = plan_.workload.key;
  call.weights = received.weights;
  call.out_type = plan_.workload.wire;
  call.out_stride = shard.width;
  return call;
}

void RbCluster::model_forward(const StageCall& call) {
  const Batch& batch = batches_[call.slot];
  ops_.bag_scale(call.stream, batch.scales);
  for (const std::vector<GatherPool>& wave : batch.pool) ops_.gather_pool(call.stream, wave);
  for (const PooledApart& sum : batch.pool_apart) {
    for (const GatherPool& term : sum.terms) ops_.gather_pool(call.stream, {&term, 1});
    ops_.copy_columns(call.stream, {&sum.store, 1});
  }
}

void RbCluster::network_forward(const StageCall& call) {
  if (any_flat_) {
    exchange(call, Direction::forward, Group::flat,
             all_to_all(vectors_.flat_send, owner_flat_, vectors_.flat_receive, consumer_flat_));
  }
  if (any_hierarchical_) {
    call.communicator.alltoall_v(
        call.stream, Group::domain,
        all_to_all(vectors_.domain_send, owner_domain_, vectors_.domain_receive, rail_domain_));
    ops_.sum_columns(call.stream, rail_sum_calls_);
    exchange(call, Direction::forward, Group::rail,
             all_to_all(vectors_.rail_send, rail_out_, vectors_.rail_receive, consumer_rail_));
  }
  ops_.sum_columns(call.stream, combine_calls_);
}

void RbCluster::exchange(const StageCall& call, Direction direction, Group group,
                         const AllToAllV& arrays) {
  if (!call.coded || !coded_.active(direction)) {
    call.communicator.alltoall_v(call.stream, group, arrays);
    return;
  }
  const auto d = static_cast<std::size_t>(direction);
  const bool flat = group == Group::flat;
  const Chunks& chunks = flat ? flat_chunks_ : rail_chunks_;
  coded_.enqueue(call.stream, call.helper, call.communicator,
                 {direction, group, flat ? &all_ranks_ : &rail_ranks_, arrays, &chunks.sent[d],
                  &chunks.received[d], plan_.decay.factor(call.step - 1)});
}

void RbCluster::network_backward(const StageCall& call) {
  if (any_flat_) {
    ops_.copy_columns(call.stream, gradient_packs_flat_);
    exchange(call, Direction::backward, Group::flat,
             all_to_all(vectors_.flat_gradient_send, consumer_flat_, vectors_.flat_gradient_receive,
                        owner_flat_));
  }
  if (!any_hierarchical_) return;
  ops_.copy_columns(call.stream, gradient_packs_rail_);
  exchange(call, Direction::backward, Group::rail,
           all_to_all(vectors_.rail_gradient_send, consumer_rail_, vectors_.rail_gradient_receive,
                      rail_out_));
  return_gradients(call);
}

// Rails have the gradients of sums and give them to every owner that has a term in them: into its
// buffer where ranks may, else by message.
void RbCluster::return_gradients(const StageCall& call) {
  PeerWindow* window = plan_.peer_writes ? call.communicator.peer_window() : nullptr;
  if (window != nullptr) return write_to_peers(call.stream, *window);
  ops_.copy_bytes(call.stream, gradient_returns_);
  call.communicator.alltoall_v(call.stream, Group::domain,
                               all_to_all(vectors_.domain_gradient_send, rail_domain_,
                                          vectors_.domain_gradient_receive, owner_domain_));
}

// An owner has read its gradients before it joins the next forward exchange of the domain, and the
// next writes come behind that.
void RbCluster::write_to_peers(Stream& stream, PeerWindow& window) {
  if (!published_) {
    published_ = true;
    window.publish(stream, vectors_.domain_gradient_receive,
                   memory_.arena().bytes("rb.domain.gradient_receive"));
    const auto lead_to_peers = [this, &window] {
      for (const PeerReturn& one : peer_returns_) {
        CopyBytes& copy = gradient_returns_[one.copy];
        std::byte* const peer = window.peer(one.peer);
        if (peer == nullptr) copy.bytes = 0;  // the run was aborted
        if (peer != nullptr) copy.to = peer + one.offset;
      }
    };
    if (window.publishes_at_once()) {
      lead_to_peers();
    } else {
      stream.enqueue(lead_to_peers);
    }
  }
  ops_.copy_bytes(stream, gradient_returns_);
  std::int64_t received_bytes = 0;
  for (std::int32_t peer = 0; peer < plan_.topology.fast_domain; ++peer) {
    const std::int64_t bytes = rail_domain_.bytes[static_cast<std::size_t>(peer)];
    if (bytes > 0) window.wrote(stream, peer, bytes);
    const bool self = peer == plan_.topology.rail_of(rank_);
    if (!self) received_bytes += owner_domain_.bytes[static_cast<std::size_t>(peer)];
  }
  window.fence(stream, received_bytes);
}

}  // namespace shardscope::engine
