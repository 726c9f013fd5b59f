// Where RB's vectors stand in the messages. Bags do not change between batches, so every copy
// between outputs, gradients and messages is laid down once.

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/pipeline/rb.hpp"
#include "layout/messages.hpp"

namespace shardscope::engine {

std::int32_t RbCluster::width_of(const PartialUnit& unit) const {
  return plan_.placement(unit.table).width(unit.column);
}

std::int64_t RbCluster::vector_bytes(const PartialUnit& unit, std::int32_t consumer) const {
  return plan_.bags(unit.feature, consumer) * width_of(unit) * wire_bytes_;
}

std::int32_t RbCluster::rank_at(std::int32_t domain, std::int32_t rail) const {
  return domain * plan_.topology.fast_domain + rail;
}

void RbCluster::place_partials() {
  const auto own = static_cast<std::size_t>(rank_);
  any_flat_ = std::any_of(plan_.routes.rb_flat.begin(), plan_.routes.rb_flat.end(),
                          [](const auto& list) { return !list.empty(); });
  any_hierarchical_ =
      std::any_of(plan_.routes.rb_hierarchical.begin(), plan_.routes.rb_hierarchical.end(),
                  [](const auto& list) { return !list.empty(); });
  const auto add = [&](const PartialUnit& unit, std::byte* send) {
    Partial partial;
    partial.unit = unit;
    partial.width = width_of(unit);
    partial.offset.resize(static_cast<std::size_t>(ranks_));
    partial.send = send;
    for (std::size_t u = 0; u < id_units_.size(); ++u) {
      if (id_units_[u].feature == unit.feature &&
          plan_.placement(unit.table).owner(id_units_[u].row, unit.column) == rank_) {
        partial.id_units.push_back(u);
        partial.shards.push_back(&memory_.shard(unit.table, id_units_[u].row, unit.column));
      }
    }
    partial.summed_apart = plan_.workload.wire != DType::fp32 && partial.id_units.size() > 1;
    partials_.push_back(std::move(partial));
  };
  for (const PartialUnit& unit : plan_.routes.rb_flat[own]) {
    add(unit, vectors_.flat_send);
  }
  for (const PartialUnit& unit : plan_.routes.rb_hierarchical[own]) {
    add(unit, vectors_.domain_send);
  }
  place_flat_messages();
  place_hierarchical_messages();
  place_flat_chunks();
  place_rail_chunks();
}

void RbCluster::place_flat_messages() {
  const Messages sizes(plan_.workload, plan_.topology, plan_.layout, plan_.routes, plan_.capacity);
  std::vector<std::int64_t> out, in;
  for (std::int32_t peer = 0; peer < ranks_; ++peer) {
    out.push_back(sizes.rb_flat(peer, rank_));
    in.push_back(sizes.rb_flat(rank_, peer));
  }
  owner_flat_ = MessageArrays::of_sizes(out);
  consumer_flat_ = MessageArrays::of_sizes(in);
  owner_flat_.size(rank_) = consumer_flat_.size(rank_) = 0;
  const std::size_t flat = plan_.routes.rb_flat[static_cast<std::size_t>(rank_)].size();
  for (std::int32_t consumer = 0; consumer < ranks_; ++consumer) {
    std::int64_t offset = owner_flat_.offset(consumer);
    for (std::size_t i = 0; i < flat; ++i) {
      partials_[i].offset[static_cast<std::size_t>(consumer)] = offset;
      offset += vector_bytes(partials_[i].unit, consumer);
    }
  }
}

void RbCluster::place_hierarchical_messages() {
  const Topology& topology = plan_.topology;
  const std::int32_t domain = topology.domain_of(rank_);
  const std::int32_t rail = topology.rail_of(rank_);
  const Messages sizes(plan_.workload, topology, plan_.layout, plan_.routes, plan_.capacity);
  std::vector<std::int64_t> rail_in, rail_out, consumer_in;
  for (std::int32_t peer = 0; peer < topology.fast_domain; ++peer) {
    rail_in.push_back(sizes.rb_domain(rank_at(domain, peer), rail));
  }
  for (std::int32_t other = 0; other < topology.domains(); ++other) {
    rail_out.push_back(sizes.rb_rail(rank_at(other, rail), domain));
    consumer_in.push_back(sizes.rb_rail(rank_, other));
  }
  owner_domain_ = domain_messages(sizes, rank_);
  rail_domain_ = MessageArrays::of_sizes(rail_in);
  rail_out_ = MessageArrays::of_sizes(rail_out);
  consumer_rail_ = MessageArrays::of_sizes(consumer_in);
  owner_domain_.size(rail) = rail_domain_.size(rail) = 0;
  rail_out_.size(domain) = consumer_rail_.size(domain) = 0;
  const std::size_t flat = plan_.routes.rb_flat[static_cast<std::size_t>(rank_)].size();
  for (std::int32_t r = 0; r < topology.fast_domain; ++r) {
    std::int64_t offset = owner_domain_.offset(r);
    for (std::int32_t d = 0; d < topology.domains(); ++d) {
      for (std::size_t i = flat; i < partials_.size(); ++i) {
        partials_[i].offset[static_cast<std::size_t>(rank_at(d, r))] = offset;
        offset += vector_bytes(partials_[i].unit, rank_at(d, r));
      }
    }
  }
}

/// What an owner sends to the rails of its domain.
MessageArrays RbCluster::domain_messages(const Messages& largest, std::int32_t owner) const {
  std::vector<std::int64_t> sizes;
  for (std::int32_t rail = 0; rail < plan_.topology.fast_domain; ++rail) {
    sizes.push_back(largest.rb_domain(owner, rail));
  }
  return MessageArrays::of_sizes(sizes);
}

// Received vectors into the outputs: owners (flat) and domains (hierarchical) in ascending order.
// A rank's message to itself does not travel: it is read where it was written.
void RbCluster::place_combines() {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> sum_of;
  const auto place = [&](const std::vector<PartialUnit>& units, const std::byte* from,
                         std::byte* gradient_to, std::vector<CopyColumns>& gradient_packs) {
    for (const PartialUnit& unit : units) {
      const auto [at, added] = sum_of.try_emplace({unit.feature, unit.column}, combines_.size());
      if (added) combines_.emplace_back();
      add_combine(combines_[at->second].terms, unit, from);
      add_gradient_pack(gradient_packs, unit, gradient_to);
      from += vector_bytes(unit, rank_);
      gradient_to += vector_bytes(unit, rank_);
    }
  };
  for (std::int32_t owner = 0; owner < ranks_; ++owner) {
    const bool self = owner == rank_;
    const std::int64_t offset = self ? owner_flat_.offset(rank_) : consumer_flat_.offset(owner);
    place(plan_.routes.rb_flat[static_cast<std::size_t>(owner)],
          (self ? vectors_.flat_send : vectors_.flat_receive) + offset,
          (self ? vectors_.flat_gradient_receive : vectors_.flat_gradient_send) + offset,
          gradient_packs_flat_);
  }
  for (std::int32_t domain = 0; domain < plan_.topology.domains(); ++domain) {
    const bool self = domain == plan_.topology.domain_of(rank_);
    const std::int64_t offset = self ? rail_out_.offset(domain) : consumer_rail_.offset(domain);
    place(plan_.routes.rb_domain[static_cast<std::size_t>(domain)],
          (self ? vectors_.rail_send : vectors_.rail_receive) + offset,
          (self ? vectors_.rail_gradient_receive : vectors_.rail_gradient_send) + offset,
          gradient_packs_rail_);
  }
  combine_calls_ = calls_of(combines_);
}

std::vector<SumColumns> RbCluster::calls_of(const std::vector<ColumnSum>& sums) {
  std::vector<SumColumns> calls;
  for (const ColumnSum& sum : sums) {
    calls.push_back({sum.terms.data(), static_cast<std::int32_t>(sum.terms.size()),
                     sum.stores ? &sum.store : nullptr});
  }
  return calls;
}

void RbCluster::add_combine(std::vector<CopyColumns>& terms, const PartialUnit& unit,
                            const std::byte* from) const {
  const FeatureMemory& feature = memory_.feature(unit.feature);
  CopyColumns call;
  call.from = from;
  call.from_type = plan_.workload.wire;
  call.from_stride = width_of(unit);
  call.to = feature.output + plan_.placement(unit.table).column_begin(unit.column);
  call.to_stride = plan_.table(unit.table).dim;
  call.rows = plan_.bags(unit.feature, rank_);
  call.width = width_of(unit);
  call.scale = feature.bag_scale;
  call.accumulate = !terms.empty();
  terms.push_back(call);
}

void RbCluster::add_gradient_pack(std::vector<CopyColumns>& packs, const PartialUnit& unit,
                                  std::byte* to) {
  const FeatureMemory& feature = memory_.feature(unit.feature);
  CopyColumns call;
  call.from = feature.gradient + plan_.placement(unit.table).column_begin(unit.column);
  call.from_stride = plan_.table(unit.table).dim;
  call.to = to;
  call.to_type = plan_.workload.wire;
  call.to_stride = width_of(unit);
  call.rows = plan_.bags(unit.feature, rank_);
  call.width = width_of(unit);
  call.scale = feature.bag_scale;
  call.factor = plan_.wire_scale();
  packs.push_back(call);
}

// What the owners of this domain sent for this rank's rail, summed in ascending order of owners.
void RbCluster::place_rail_sums() {
  const Topology& topology = plan_.topology;
  const std::int32_t domain = topology.domain_of(rank_);
  const std::int32_t rail = topology.rail_of(rank_);
  std::vector<OwnerPartials> owners;
  for (std::int32_t owner = 0; owner < topology.fast_domain; ++owner) {
    owners.push_back(partials_of_owner(rank_at(domain, owner)));
  }
  std::int64_t samples_before = 0;
  for (std::int32_t d = 0; d < topology.domains(); ++d) {
    const std::int32_t consumer = rank_at(d, rail);
    std::int64_t out = rail_out_.offset(d);
    for (const PartialUnit& unit : plan_.routes.rb_domain[static_cast<std::size_t>(domain)]) {
      std::vector<CopyColumns> terms;
      for (std::size_t owner = 0; owner < owners.size(); ++owner) {
        const auto before = owners[owner].before.find({unit.feature, unit.column});
        if (before == owners[owner].before.end()) continue;
        const std::int64_t inside =
            samples_before * owners[owner].all + plan_.samples(consumer) * before->second;
        add_rail_term(terms, unit, consumer, static_cast<std::int32_t>(owner), inside, out);
      }
      add_rail_sum(std::move(terms));
      out += vector_bytes(unit, consumer);
    }
    samples_before += plan_.samples(consumer);
  }
  rail_sum_calls_ = calls_of(rail_sums_);
  if (!plan_.peer_writes) return;
  const Messages largest(plan_.workload, plan_.topology, plan_.layout, plan_.routes,
                         plan_.capacity);
  std::vector<std::int64_t> message_at;  // of this rail, by owner
  for (std::int32_t owner = 0; owner < topology.fast_domain; ++owner) {
    message_at.push_back(domain_messages(largest, rank_at(domain, owner)).offset(rail));
  }
  for (PeerReturn& one : peer_returns_) {
    one.offset += message_at[static_cast<std::size_t>(one.peer)];
  }
}

RbCluster::OwnerPartials RbCluster::partials_of_owner(std::int32_t owner) const {
  OwnerPartials partials;
  for (const PartialUnit& unit : plan_.routes.rb_hierarchical[static_cast<std::size_t>(owner)]) {
    partials.before[{unit.feature, unit.column}] = partials.all;
    partials.all += plan_.feature(unit.feature).num_poolings * width_of(unit) * wire_bytes_;
  }
  return partials;
}

/// A partial of one owner towards its sum, and the sum's gradient on its way back to that owner.
void RbCluster::add_rail_term(std::vector<CopyColumns>& terms, const PartialUnit& unit,
                              std::int32_t consumer, std::int32_t owner, std::int64_t inside,
                              std::int64_t out) {
  const bool self = owner == plan_.topology.rail_of(rank_);
  const std::int64_t from =
      inside + (self ? owner_domain_.offset(owner) : rail_domain_.offset(owner));
  CopyColumns call;
  call.from = (self ? vectors_.domain_send : vectors_.domain_receive) + from;
  call.from_type = plan_.workload.wire;
  call.from_stride = width_of(unit);
  call.to = vectors_.rail_send + out;
  call.to_type = plan_.workload.wire;
  call.to_stride = width_of(unit);
  call.rows = plan_.bags(unit.feature, consumer);
  call.width = width_of(unit);
  call.accumulate = !terms.empty();
  terms.push_back(call);
  if (!self) peer_returns_.push_back({gradient_returns_.size(), owner, inside});
  gradient_returns_.push_back(
      {vectors_.rail_gradient_receive + out,
       (self ? vectors_.domain_gradient_receive : vectors_.domain_gradient_send) + from,
       vector_bytes(unit, consumer)});
}

void RbCluster::add_rail_sum(std::vector<CopyColumns> terms) {
  ColumnSum sum;
  sum.stores = plan_.workload.wire != DType::fp32 && terms.size() > 1;
  if (sum.stores) {
    sum.store = terms.front();
    sum.store.from = vectors_.partial;
    sum.store.from_type = DType::fp32;
    for (CopyColumns& term : terms) {
      term.to = vectors_.partial;
      term.to_type = DType::fp32;
    }
  }
  sum.terms = std::move(terms);
  rail_sums_.push_back(std::move(sum));
}

// Owners find the gradient of bag b of rank p in the message of p (or of p's rail), where the
// partial sum of that bag stood on its way out.
void RbCluster::place_gradient_offsets() {
  Arena& arena = memory_.arena();
  for (OwnedRow& owned : owned_.rows()) {
    const bool flat =
        plan_.layout.exchange_of(static_cast<std::size_t>(owned.table)) == Exchange::flat;
    for (OwnedColumn& column : owned.columns) {
      column.gradients = flat ? vectors_.flat_gradient_receive : vectors_.domain_gradient_receive;
      column.gradient_offset = arena.get<std::int64_t>(
          fmt::format("rb.gradient_offset[{}]", column.shard.column), owned.table);
      std::int64_t* next = column.gradient_offset;
      for (const Partial& partial : partials_) {
        if (partial.unit.table != owned.table || partial.unit.column != column.shard.column) {
          continue;
        }
        for (std::int32_t p = 0; p < ranks_; ++p) {
          const std::int64_t bags = plan_.bags(partial.unit.feature, p);
          fill_offsets({bags, partial.offset[static_cast<std::size_t>(p)] / wire_bytes_,
                        partial.width, next});
          next += bags;
        }
      }
    }
  }
}

}  // namespace shardscope::engine
