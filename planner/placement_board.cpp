#include "planner/placement_board.hpp"

#include <algorithm>

#include "planner/cost_constants.hpp"

namespace shardscope {

namespace {

double rate_of(const LinkModel& link) {
  double rate = link.bytes_per_s.value * link.efficiency.value;
  for (const BandwidthPoint& point : link.by_size) rate = std::max(rate, point.bytes_per_s);
  return rate > 0 ? rate : 1;
}

}  // namespace

BoardScale::BoardScale(const PlanContext& context) : context_(context) {
  const Gpu& gpu = context.topology.gpu;
  memory_rate_ = gpu.memory_bytes_per_s.value;
  gather_rate_ = memory_rate_ * gpu.gather_efficiency.value;
  reduce_rate_ = memory_rate_ * gpu.reduce_efficiency.value;
  update_rate_ = gpu.update_bytes_per_s();
  input_rate_ = gpu.input_bytes_per_s();
  stream_rate_ = memory_rate_ * gpu.stream_efficiency.value;
  near_rate_ = rate_of(context.topology.intra);
  far_rate_ = rate_of(context.topology.inter);
}

RankSeconds BoardScale::rank_seconds(const OwnerLoad& load) const {
  const Topology& topology = context_.topology;
  const double g = topology.fast_domain, all = topology.ranks(), n = topology.domains();
  const double samples = context_.facts.rank_batch;
  const double launch =
      context_.executor.fused_tables ? 0.0 : topology.gpu.launch_s.value * load.pieces;
  RankSeconds seconds{};
  seconds[kLookup] = load.gather_bytes / gather_rate_ + cost::kLookupKernels * launch;
  seconds[kReduction] = load.reduce_bytes / reduce_rate_ + load.update_bytes / update_rate_ +
                        (cost::kReduceKernels + cost::kUpdateKernels) * launch;
  const double flat_near = load.flat_bytes[kForwardIntra] + load.flat_bytes[kBackwardIntra];
  const double flat_far = load.flat_bytes[kForwardInter] + load.flat_bytes[kBackwardInter];
  const double inside = load.domain_bytes[0] + load.domain_bytes[1];
  seconds[kNearWire] = samples * (g - 1) * (flat_near + n * inside) / near_rate_;
  seconds[kFarWire] = all > g ? samples * (all - g) * flat_far / far_rate_ : 0;
  // Codecs lengthen the exchanges that they stand in.
  seconds[all > g ? kFarWire : kNearWire] +=
      context_.facts.batch * (load.codec_s[0] + load.codec_s[1]);
  seconds[kIndexing] = topology.gpu.sort_bytes_per_key.value * load.keys / memory_rate_ +
                       context_.executor.owner_key_bytes * load.keys / input_rate_ +
                       cost::kIndexKernels * launch;
  seconds[kIdWire] = all > g ? samples * (all - g) * load.ids_bytes / far_rate_
                             : samples * (g - 1) * load.ids_bytes / near_rate_;
  return seconds;
}

DomainSeconds BoardScale::domain_seconds(const DomainLoad& domain,
                                         const OwnerLoad& owners_sum) const {
  const Topology& topology = context_.topology;
  const double g = topology.fast_domain, n = topology.domains();
  const double samples = context_.facts.rank_batch;
  DomainSeconds seconds{};
  if (n > 1)
    seconds[kRailWire] =
        samples * (n - 1) * (domain.rail_bytes[0] + domain.rail_bytes[1]) / far_rate_ +
        samples * n * (domain.codec_s[0] + domain.codec_s[1]);
  const double inside = owners_sum.domain_bytes[0] + owners_sum.domain_bytes[1];
  seconds[kNearReceive] = samples * n * inside * (g - 1) / g / near_rate_;
  seconds[kRailReduce] = samples * n * (owners_sum.domain_elements + domain.rail_elements) *
                         context_.facts.wire_bytes / stream_rate_;
  return seconds;
}

BoardWeights BoardScale::weights(const LoadFields& prices, double floor) const {
  // One unit of a field on the mean rank costs its price times the ranks that share it; over the
  // seconds that unit takes, that is the share of the stage which the schedule does not hide.
  BoardWeights weights;
  weights.rank.fill(1);
  weights.domain.fill(1);
  if (prices.empty()) return weights;
  LoadFields unit(load_field_count(), 0.0);
  const auto price_of = [&](const LayoutLoads& loads) {
    return dot(prices, to_fields(loads)) * context_.topology.ranks();
  };
  const auto probe = [&](RankStage stage, auto fill) {
    double price = 0, seconds = 0;
    for (const bool ub : {false, true}) {
      LayoutLoads loads;
      loads.rb.resize(1);
      loads.ub.resize(1);
      loads.domains.resize(1);
      fill(ub ? loads.ub.front() : loads.rb.front());
      price = std::max(price, price_of(loads));
      seconds = rank_seconds(ub ? loads.ub.front() : loads.rb.front())[stage];
    }
    weights.rank[stage] = seconds > 0 ? std::clamp(price / seconds, floor, 1.0) : floor;
  };
  probe(kLookup, [](OwnerLoad& load) { load.gather_bytes = 1; });
  probe(kReduction, [](OwnerLoad& load) { load.update_bytes = 1; });
  // Near wires may be priced on either exchange: the dearer counts.
  probe(kNearWire, [](OwnerLoad& load) {
    load.domain_bytes = {1, 1};
    load.flat_bytes[kForwardIntra] = load.flat_bytes[kBackwardIntra] = 1;
  });
  probe(kFarWire, [](OwnerLoad& load) {
    load.flat_bytes[kForwardInter] = load.flat_bytes[kBackwardInter] = 1;
  });
  // Side work shares the device with what it overlaps.
  const double overlap = context_.topology.gpu.overlap_cost.value;
  probe(kIndexing, [](OwnerLoad& load) { load.keys = 1; });
  weights.rank[kIndexing] = std::max(weights.rank[kIndexing], overlap);
  probe(kIdWire, [](OwnerLoad& load) { load.ids_bytes = 1; });
  return weights;
}

PlacementBoard::PlacementBoard(const PlanContext& context, const BoardWeights& weights,
                               double mean_share)
    : weights_(weights),
      mean_share_(mean_share),
      domain_size_(context.topology.fast_domain),
      ranks_(static_cast<std::size_t>(context.topology.ranks())),
      domains_(static_cast<std::size_t>(context.topology.domains())),
      work_(ranks_.size()),
      domain_work_(domains_.size()),
      bytes_(ranks_.size()),
      domain_bytes_(domains_.size()),
      forbidden_(ranks_.size()),
      common_bytes_(context.memory.empty().common),
      capacity_(context.memory.capacity()) {}

double PlacementBoard::work_of(const RankSeconds& seconds) const {
  double sum = 0;
  for (std::size_t s = 0; s < kRankStages; ++s) sum += weights_.rank[s] * seconds[s];
  return sum;
}

double PlacementBoard::work_of(const DomainSeconds& seconds) const {
  // Owners' sending already counts the near wire.
  return weights_.domain[kRailWire] * seconds[kRailWire] +
         weights_.domain[kRailReduce] * seconds[kRailReduce];
}

void PlacementBoard::add(std::int32_t rank, const BoardShard& shard, double sign) {
  const auto r = static_cast<std::size_t>(rank);
  for (std::size_t s = 0; s < kRankStages; ++s) {
    ranks_[r][s] += sign * shard.seconds[s];
    rank_max_[s] = std::max(rank_max_[s], ranks_[r][s]);
  }
  const double work = sign * work_of(shard.seconds);
  work_[r] += work;
  total_work_ += work;
  bytes_[r] += sign * shard.bytes;
  fullest_ = std::max(fullest_, bytes_[r] + domain_bytes_[domain_index(rank)]);
}

void PlacementBoard::add_domain(std::int32_t domain, const DomainSeconds& seconds, double bytes,
                                double sign) {
  const auto d = static_cast<std::size_t>(domain);
  for (std::size_t s = 0; s < kDomainStages; ++s) {
    domains_[d][s] += sign * seconds[s];
    domain_max_[s] = std::max(domain_max_[s], domains_[d][s]);
  }
  const double work = sign * work_of(seconds);
  domain_work_[d] += work;
  total_work_ += work * domain_size_;
  domain_bytes_[d] += sign * bytes;
  for (std::size_t r = d * static_cast<std::size_t>(domain_size_);
       r < (d + 1) * static_cast<std::size_t>(domain_size_); ++r)
    fullest_ = std::max(fullest_, bytes_[r] + domain_bytes_[d]);
}

void PlacementBoard::add_everywhere(double seconds, double bytes, double sign) {
  everywhere_ += sign * seconds;
  common_bytes_ += sign * bytes;
}

void PlacementBoard::set_floor(const RankSeconds& ranks, const DomainSeconds& domains) {
  rank_floor_ = ranks;
  domain_floor_ = domains;
  refresh();
}

void PlacementBoard::refresh() {
  rank_max_ = rank_floor_;
  domain_max_ = domain_floor_;
  fullest_ = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (std::size_t s = 0; s < kRankStages; ++s)
      rank_max_[s] = std::max(rank_max_[s], ranks_[r][s]);
    fullest_ =
        std::max(fullest_, bytes_[r] + domain_bytes_[r / static_cast<std::size_t>(domain_size_)]);
  }
  for (const DomainSeconds& domain : domains_)
    for (std::size_t s = 0; s < kDomainStages; ++s)
      domain_max_[s] = std::max(domain_max_[s], domain[s]);
}

}  // namespace shardscope
