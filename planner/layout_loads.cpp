#include "planner/layout_loads.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "layout/routes.hpp"
#include "planner/codec_choice.hpp"
#include "planner/cost_constants.hpp"

namespace shardscope {

namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

void accumulate(OwnerLoad& to, const OwnerLoad& from, double sign) {
  to.gather_bytes += sign * from.gather_bytes;
  to.keys += sign * from.keys;
  to.reduce_bytes += sign * from.reduce_bytes;
  to.update_bytes += sign * from.update_bytes;
  to.pieces += sign * from.pieces;
}

/// Owners in ascending order, once each; `sorted` is reused between calls.
void distinct(std::vector<std::int32_t>& sorted) {
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

}  // namespace

double row_traffic_bytes(double bytes) {
  if (bytes <= 0) return 0;
  return cost::kSectorBytes * std::ceil(bytes / cost::kSectorBytes) + cost::kRowOverheadBytes;
}

ExchangeChoice exchange_choice(const Layout& layout, std::size_t table) {
  return {layout.exchange_of(table), layout.options(layout.tables[table].cluster).dedup,
          &layout.codecs_of(table)};
}

LoadModel::LoadModel(const WorkloadFacts& facts, const Topology& topology,
                     const ExecutorModel& executor, const std::vector<CodecProfile>& codecs)
    : facts_(facts), topology_(topology), executor_(executor) {
  const double per_rank =
      std::max(1.0, static_cast<double>(facts.tables.size()) / topology.ranks());
  cache_bytes_ = topology.gpu.cache_bytes.value * cost::kCacheShare / per_rank;
  const double ranks = topology.ranks(), domains = topology.domains();
  near_share_ = (topology.fast_domain - 1) / ranks;
  far_share_ = (ranks - topology.fast_domain) / ranks;
  rail_share_ = (domains - 1) / domains;
  if (codecs.empty()) return;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t t = 0; t < facts.tables.size(); ++t) index.emplace(facts.tables[t].name, t);
  profiles_.resize(facts.tables.size() + 1);
  for (const CodecProfile& profile : codecs) {
    const auto found = index.find(profile.table);
    if (profile.table.empty()) profiles_.back().push_back(&profile);
    if (found != index.end()) profiles_[found->second].push_back(&profile);
  }
}

LoadModel LoadModel::without_cut_losses() const {
  constexpr double kEverything = 1e30;
  LoadModel model = *this;
  model.cache_bytes_ = kEverything;
  model.best_throughput_ = true;
  return model;
}

LayoutLoads LoadModel::empty() const {
  LayoutLoads loads;
  loads.rb.resize(at(topology_.ranks()));
  loads.ub.resize(at(topology_.ranks()));
  loads.domains.resize(at(topology_.domains()));
  return loads;
}

LayoutLoads LoadModel::of(const Layout& layout) const {
  LayoutLoads loads = empty();
  for (std::size_t t = 0; t < layout.tables.size(); ++t)
    add(loads, t, layout.tables[t], exchange_choice(layout, t), 1);
  return loads;
}

void LoadModel::add(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
                    const ExchangeChoice& choice, double sign) const {
  const TableFacts& facts = facts_.tables[table];
  loads.tables[static_cast<std::size_t>(placement.cluster)] += sign;
  switch (placement.cluster) {
    case ClusterType::DP: {
      const ReplicatedLoad one = replicated(facts);
      loads.dp.gather_bytes += sign * one.gather_bytes;
      loads.dp.keys += sign * one.keys;
      loads.dp.reduce_bytes += sign * one.reduce_bytes;
      loads.dp.update_bytes += sign * one.update_bytes;
      loads.dp.pieces += sign;
      loads.dp.allreduce_elements += sign * one.allreduce_elements;
      break;
    }
    case ClusterType::RB:
      add_rb(loads, table, placement, choice, sign);
      count_coded(loads, choice, placement.cluster, sign);
      break;
    case ClusterType::UB:
      add_ub(loads, table, placement, choice, sign);
      count_coded(loads, choice, placement.cluster, sign);
      break;
  }
}

LoadModel::ShardShape LoadModel::row_shape(const TableFacts& table, const TablePlacement& placement,
                                           std::int32_t row) {
  if (placement.mapping == RowMapping::modulo) {
    const double even =
        table.rows > 0
            ? static_cast<double>(placement.rows_in(row, static_cast<std::int64_t>(table.rows))) /
                  table.rows
            : 1.0 / placement.row_shards;
    return {table.by_popularity ? table.modulo_share(row, placement.row_shards) : even, even, 0};
  }
  const std::int64_t begin = placement.row_cuts[at(row)], end = placement.row_cuts[at(row) + 1];
  return {table.block_share(begin, end), table.block_unique_share(begin, end), 0};
}

double LoadModel::requests(const TableFacts& table, bool dedup) const {
  return dedup ? table.rank_unique * facts_.ranks : table.batch_keys;
}

double LoadModel::update_bytes(const TableFacts& table, double rows, double width) const {
  const double row =
      width * executor_.reduced_bytes + 2 * row_traffic_bytes(width * table.weight_bytes) +
      2 * row_traffic_bytes(width * table.state_element_bytes) + 2 * table.state_row_bytes;
  return rows * row;
}

OwnerLoad LoadModel::rb_shard(const TableFacts& table, const ShardShape& shape) const {
  OwnerLoad load;
  const double keys = table.batch_keys * shape.key_share;
  const double unique = table.batch_unique * shape.row_share;
  const double row = row_traffic_bytes(shape.width * table.weight_bytes);
  // The cache holds this shard's hot rows: as many of the table's as the shard has of its rows.
  const double cached = row > 0 && shape.row_share > 0 ? cache_bytes_ / row / shape.row_share : 0;
  const double from_memory = std::max(unique, keys * (1 - table.top_mass(cached)));
  const double partials = facts_.batch * table.pooled * shape.width * facts_.wire_bytes;
  load.keys = keys;
  const double repeated = std::max(0.0, keys - from_memory);
  load.gather_bytes = (from_memory + cost::kCachedRowCost * repeated) * row +
                      cost::kLookupBytesPerKey * keys + partials;
  // Each gradient vector is read for every id of its bag: once from memory, then from the cache.
  const double gradient = row_traffic_bytes(shape.width * facts_.wire_bytes);
  const double first = std::min(keys, facts_.batch * table.pooled);
  load.reduce_bytes = (first + cost::kCachedRowCost * (keys - first)) * gradient +
                      unique * shape.width * executor_.reduced_bytes;
  load.update_bytes = update_bytes(table, unique, shape.width);
  load.pieces = 1;
  return load;
}

OwnerLoad LoadModel::least_rb_part(const TableFacts& table, bool even_rows) const {
  // Of all widths the one whose rows move least for what they hold, as a whole row's bytes.
  const auto least_row = [&](double element_bytes) {
    double least = element_bytes * table.dim + cost::kRowOverheadBytes;
    for (double width = 1; width <= table.dim; ++width)
      least = std::min(least, row_traffic_bytes(width * element_bytes) * table.dim / width);
    return element_bytes > 0 ? least : 0;
  };
  const double keys = table.batch_keys;
  const double unique = even_rows ? table.batch_unique : 0;
  const double first = std::min(keys, facts_.batch * table.pooled);
  const auto cached = [&](double from_memory) {
    return from_memory + cost::kCachedRowCost * (keys - from_memory);
  };
  OwnerLoad load;
  load.gather_bytes = cached(std::min(unique, keys)) * least_row(table.weight_bytes) +
                      cost::kLookupBytesPerKey * keys +
                      facts_.batch * table.pooled * table.dim * facts_.wire_bytes;
  load.reduce_bytes =
      cached(first) * least_row(facts_.wire_bytes) + unique * table.dim * executor_.reduced_bytes;
  load.update_bytes =
      unique * (table.dim * executor_.reduced_bytes + 2 * least_row(table.weight_bytes) +
                2 * least_row(table.state_element_bytes) + 2 * table.state_row_bytes);
  return load;
}

LoadModel::CutGrowth LoadModel::flat_cut_growth(const TableFacts& table) const {
  CutGrowth growth;
  const double elements = table.pooled * table.dim;
  growth.wire.gather_bytes = facts_.batch * elements * facts_.wire_bytes;
  growth.wire.flat_elements = elements;
  growth.wire.flat_bytes.fill(elements * facts_.wire_bytes);
  growth.keys.keys = table.batch_keys;
  // A part has a share of ids and of distinct rows, and pays a row's overhead for each of them
  // however few of its columns it has.
  const double keys = table.batch_keys, unique = std::min(table.batch_unique, keys);
  const double first = std::min(keys, facts_.batch * table.pooled);
  const auto cached = [&](double from_memory) {
    return from_memory + cost::kCachedRowCost * (keys - from_memory);
  };
  growth.keys.gather_bytes =
      cost::kLookupBytesPerKey * keys + cached(unique) * cost::kRowOverheadBytes;
  growth.keys.reduce_bytes = cached(first) * cost::kRowOverheadBytes;
  const double state = table.state_element_bytes > 0 ? cost::kRowOverheadBytes : 0;
  growth.keys.update_bytes =
      table.batch_unique * 2 * (cost::kRowOverheadBytes + state + table.state_row_bytes);
  growth.keys.ids_bytes = table.keys * executor_.id_bytes + table.weighted_keys * 4;
  return growth;
}

OwnerLoad LoadModel::ub_shard(const TableFacts& table, const ShardShape& shape, bool dedup) const {
  OwnerLoad load;
  const double asked = requests(table, dedup) * (dedup ? shape.row_share : shape.key_share);
  const double unique = table.batch_unique * shape.row_share;
  const double row = row_traffic_bytes(shape.width * table.weight_bytes);
  const double cached = row > 0 ? cache_bytes_ / row : 0;
  // A cached row is asked for by every rank at most once (dedup) or as often as it is hot.
  const double repeats = dedup ? cached * (facts_.ranks - 1)
                               : asked * table.top_mass(cached / std::max(shape.row_share, 1e-12));
  const double from_memory = std::max(unique, asked - repeats);
  load.keys = asked;
  const double repeated = std::max(0.0, asked - from_memory);
  load.gather_bytes = (from_memory + cost::kCachedRowCost * repeated) * row +
                      cost::kLookupBytesPerKey * asked + asked * shape.width * facts_.wire_bytes;
  load.reduce_bytes = asked * row_traffic_bytes(shape.width * facts_.wire_bytes) +
                      unique * shape.width * executor_.reduced_bytes;
  load.update_bytes = update_bytes(table, unique, shape.width);
  load.pieces = 1;
  return load;
}

ReplicatedLoad LoadModel::replicated(const TableFacts& table) const {
  ReplicatedLoad load;
  const double keys = table.rank_keys;
  const double row = row_traffic_bytes(table.dim * table.weight_bytes);
  const double cached = row > 0 ? cache_bytes_ / row : 0;
  const double from_memory = std::max(table.rank_unique, keys * (1 - table.top_mass(cached)));
  const double outputs = facts_.rank_batch * table.outputs();
  load.keys = keys;
  load.gather_bytes = (from_memory + cost::kCachedRowCost * (keys - from_memory)) * row +
                      cost::kLookupBytesPerKey * keys + outputs * executor_.activation_bytes;
  const double gradient = row_traffic_bytes(table.dim * executor_.activation_bytes);
  const double vectors = facts_.rank_batch * (table.pooled + table.unpooled);
  const double first = std::min(keys, vectors);
  const double elements = table.rows * table.dim;
  // The dense gradient is cleared, then the touched rows are written.
  load.reduce_bytes = (first + cost::kCachedRowCost * (keys - first)) * gradient +
                      (elements + table.rank_unique * table.dim) * executor_.allreduced_bytes;
  load.allreduce_elements = elements + (executor_.touch_marks ? table.rows : 0);
  if (executor_.dense_dp_update) {
    const double element =
        executor_.allreduced_bytes + 2 * table.weight_bytes + 2 * table.state_element_bytes;
    load.update_bytes = elements * element + table.rows * 2 * table.state_row_bytes;
  } else {
    load.update_bytes = table.rows * executor_.allreduced_bytes +
                        update_bytes(table, table.batch_unique, table.dim);
  }
  load.pieces = 1;
  return load;
}

const CodecProfile* LoadModel::profile_of(std::size_t table, ClusterType cluster,
                                          const CodecSlot& codec) const {
  if (profiles_.empty()) return nullptr;
  const CodecProfile* found = nullptr;
  int best = 0;
  for (const std::size_t list : {table, profiles_.size() - 1}) {
    for (const CodecProfile* profile : profiles_[list]) {
      if (profile->codec != codec.name || (profile->cluster && profile->cluster != cluster))
        continue;
      const int fits = 1 + (profile->bound == codec.bound ? 2 : 0) + (profile->cluster ? 1 : 0);
      if (fits <= best) continue;
      best = fits;
      found = profile;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

double LoadModel::chunk_bytes(std::size_t table, const TablePlacement& placement) const {
  const TableFacts& facts = facts_.tables[table];
  const double rows = placement.cluster == ClusterType::UB
                          ? facts.rank_unique / std::max(placement.row_shards, 1)
                          : facts_.rank_batch * facts.largest_pooled;
  return 4 * rows * facts.dim / std::max(placement.column_shards(), 1);
}

LoadModel::WireCost LoadModel::wire_cost(const CodecSlots* slots, std::size_t table,
                                         const TablePlacement& placement) const {
  WireCost cost;
  cost.bytes.fill(facts_.wire_bytes);
  if (slots == nullptr || profiles_.empty()) return cost;
  const std::array<const CodecSlot*, kWireSlots> order = {
      &slots->forward_intra, &slots->forward_inter, &slots->backward_intra, &slots->backward_inter};
  for (std::size_t s = 0; s < kWireSlots; ++s) {
    const bool plain = order[s]->name == "raw";
    const CodecProfile* profile = profile_of(table, placement.cluster, *order[s]);
    if (profile == nullptr || profile->ratio <= 0) continue;  // not profiled: costs nothing
    const CodecThroughput rate = best_throughput_
                                     ? best_throughput(*profile)
                                     : throughput_at(*profile, chunk_bytes(table, placement));
    // Ratios and throughputs are of fp32 values.
    constexpr double kValueBytes = 4;
    if (!plain) cost.bytes[s] = kValueBytes / profile->ratio;
    double& encode_s = plain ? cost.plain_encode_s[s] : cost.encode_s[s];
    double& decode_s = plain ? cost.plain_decode_s[s] : cost.decode_s[s];
    if (rate.encode_bytes_per_s > 0) encode_s = kValueBytes / rate.encode_bytes_per_s;
    if (rate.decode_bytes_per_s > 0) decode_s = kValueBytes / rate.decode_bytes_per_s;
  }
  return cost;
}

void LoadModel::count_coded(LayoutLoads& loads, const ExchangeChoice& choice, ClusterType cluster,
                            double sign) const {
  if (choice.codecs == nullptr || !executor_.coded_sizes) return;
  const bool near = near_share_ > 0, far = far_share_ > 0;
  auto& count = loads.coded_tables[cluster == ClusterType::UB ? 1 : 0];
  const auto look_at = [&](WireSlot slot, bool exists, const CodecSlot& codec) {
    if (exists && codec.name != "raw") count[slot] += sign;
  };
  look_at(kForwardIntra, near, choice.codecs->forward_intra);
  look_at(kForwardInter, far, choice.codecs->forward_inter);
  look_at(kBackwardIntra, near, choice.codecs->backward_intra);
  look_at(kBackwardInter, far, choice.codecs->backward_inter);
}

void LoadModel::add_rb(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
                       const ExchangeChoice& choice, double sign) const {
  const TableFacts& facts = facts_.tables[table];
  const WireCost wire = wire_cost(choice.codecs, table, placement);
  loads.rb_consumer.keys += sign * facts.keys;
  loads.rb_consumer.lists += sign * facts.bags * placement.row_shards;
  if (placement.row_shards > 1) loads.rb_consumer.split_keys += sign * facts.keys;
  loads.rb_consumer.outputs += sign * facts.pooled * facts.dim;
  (choice.exchange == Exchange::flat ? loads.flat_tables : loads.hierarchical_tables) += sign;
  std::vector<std::int32_t> owners;
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    ShardShape shape = row_shape(facts, placement, row);
    owners.clear();
    for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
      shape.width = placement.width(column);
      const std::int32_t owner = placement.owner(row, column);
      accumulate(loads.rb[at(owner)], rb_shard(facts, shape), sign);
      owners.push_back(owner);
    }
    distinct(owners);
    const double ids = facts.keys * shape.key_share * executor_.id_bytes +
                       facts.weighted_keys * shape.key_share * 4 +
                       facts.bags * executor_.length_bytes;
    for (const std::int32_t owner : owners) {
      loads.rb[at(owner)].ids_bytes += sign * ids;
      loads.rb[at(owner)].id_lists += sign * facts.bags;
    }
  }
  add_partials(loads, facts, placement, choice.exchange, wire, sign);
  add_square_sums(loads.rb, facts, placement, sign);
}

/// Vectors for the rank itself are copied; the others are coded by the hop they take.
void LoadModel::add_flat_codecs(OwnerLoad& owner, ConsumerLoad& consumer, const WireCost& wire,
                                double elements) const {
  for (const WireSlot intra : {kForwardIntra, kBackwardIntra}) {
    const auto inter = static_cast<WireSlot>(intra + 1);
    const bool forward = intra == kForwardIntra;
    const double near = elements * near_share_, far = elements * far_share_;
    const double encode = near * wire.encode_s[intra] + far * wire.encode_s[inter];
    const double decode = near * wire.decode_s[intra] + far * wire.decode_s[inter];
    owner.codec_s[forward ? 0 : 1] += forward ? encode : decode;
    consumer.codec_s[forward ? 0 : 1] += forward ? decode : encode;
    for (const auto& [slot, share] : {std::pair{intra, near}, {inter, far}}) {
      const double packed = share * wire.plain_encode_s[slot];
      const double unpacked = share * wire.plain_decode_s[slot];
      owner.plain_codec_s[slot] += forward ? packed : unpacked;
      consumer.plain_codec_s[slot] += forward ? unpacked : packed;
    }
  }
}

void LoadModel::add_partials(LayoutLoads& loads, const TableFacts& table,
                             const TablePlacement& placement, Exchange exchange,
                             const WireCost& wire, double sign) const {
  std::vector<std::int32_t> owners, domains;
  const bool flat = exchange == Exchange::flat;
  for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
    const double elements = sign * table.pooled * placement.width(column);
    owners.clear();
    for (std::int32_t row = 0; row < placement.row_shards; ++row)
      owners.push_back(placement.owner(row, column));
    distinct(owners);
    domains.clear();
    for (const std::int32_t owner : owners) {
      OwnerLoad& load = loads.rb[at(owner)];
      if (flat) {
        load.flat_elements += elements;
        for (std::size_t s = 0; s < kWireSlots; ++s) load.flat_bytes[s] += elements * wire.bytes[s];
        add_flat_codecs(load, loads.rb_consumer, wire, elements);
        continue;
      }
      load.domain_elements += elements;
      load.domain_bytes[0] += elements * wire.bytes[kForwardIntra];
      load.domain_bytes[1] += elements * wire.bytes[kBackwardIntra];
      load.domain_codec_s[0] += elements * wire.encode_s[kForwardIntra];
      load.domain_codec_s[1] += elements * wire.decode_s[kBackwardIntra];
      domains.push_back(topology_.domain_of(owner));
    }
    distinct(domains);
    for (const std::int32_t domain : domains) {
      DomainLoad& load = loads.domains[at(domain)];
      load.rail_elements += elements;
      load.rail_bytes[0] += elements * wire.bytes[kForwardInter];
      load.rail_bytes[1] += elements * wire.bytes[kBackwardInter];
      const double along = elements * rail_share_;
      load.codec_s[0] +=
          elements * wire.decode_s[kForwardIntra] + along * wire.encode_s[kForwardInter];
      load.codec_s[1] +=
          along * wire.decode_s[kBackwardInter] + elements * wire.encode_s[kBackwardIntra];
      loads.rb_consumer.codec_s[0] += along * wire.decode_s[kForwardInter];
      loads.rb_consumer.codec_s[1] += along * wire.encode_s[kBackwardInter];
      load.plain_codec_s[0] += along * wire.plain_encode_s[kForwardInter];
      load.plain_codec_s[1] += along * wire.plain_decode_s[kBackwardInter];
      loads.rb_consumer.plain_codec_s[kForwardInter] += along * wire.plain_decode_s[kForwardInter];
      loads.rb_consumer.plain_codec_s[kBackwardInter] +=
          along * wire.plain_encode_s[kBackwardInter];
    }
  }
}

void LoadModel::add_ub(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
                       const ExchangeChoice& choice, double sign) const {
  const TableFacts& facts = facts_.tables[table];
  const WireCost wire = wire_cost(choice.codecs, table, placement);
  loads.ub_consumer.keys += sign * facts.keys;
  loads.ub_consumer.lists += sign * placement.row_shards;
  if (choice.dedup) loads.ub_consumer.dedup_keys += sign * facts.keys;
  loads.ub_consumer.outputs += sign * facts.outputs();
  loads.ub_consumer.vectors += sign * facts.keys * facts.dim;
  const double asked = requests(facts, choice.dedup) / facts_.batch;  // rows a sample
  std::vector<std::int32_t> owners;
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    ShardShape shape = row_shape(facts, placement, row);
    const double rows = sign * asked * (choice.dedup ? shape.row_share : shape.key_share);
    owners.clear();
    for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
      shape.width = placement.width(column);
      const std::int32_t owner = placement.owner(row, column);
      OwnerLoad& load = loads.ub[at(owner)];
      accumulate(load, ub_shard(facts, shape, choice.dedup), sign);
      const double elements = rows * shape.width;
      load.flat_elements += elements;
      for (std::size_t s = 0; s < kWireSlots; ++s) load.flat_bytes[s] += elements * wire.bytes[s];
      add_flat_codecs(load, loads.ub_consumer, wire, elements);
      owners.push_back(owner);
    }
    distinct(owners);
    for (const std::int32_t owner : owners) {
      loads.ub[at(owner)].ids_bytes += rows * executor_.request_bytes;
      loads.ub[at(owner)].id_lists += sign;
    }
  }
  add_square_sums(loads.ub, facts, placement, sign);
}

void LoadModel::add_square_sums(std::vector<OwnerLoad>& owners, const TableFacts& table,
                                const TablePlacement& placement, double sign) const {
  if (!table.row_wise_state || placement.column_shards() < 2) return;
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    const double bytes = 4 * table.batch_unique * row_shape(table, placement, row).row_share;
    const std::vector<std::int32_t> here = owners_of_row(placement, row);
    for (const std::int32_t from : here) {
      for (const std::int32_t to : here) {
        const LinkClass link = topology_.link(from, to);
        if (link == LinkClass::intra) owners[at(from)].square_intra_bytes += sign * bytes;
        if (link == LinkClass::inter) owners[at(from)].square_inter_bytes += sign * bytes;
      }
    }
  }
}

}  // namespace shardscope
