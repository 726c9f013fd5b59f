#include "planner/step_loads.hpp"

#include <algorithm>

#include "planner/cost_constants.hpp"

namespace shardscope {

namespace {

std::size_t index_of(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

/// Per-owner amounts summed over ranks: what a consumer gets from (or sends to) all of them.
struct StepModel::Totals {
  const LayoutLoads& loads;
  double ranks_each = 1;    ///< ranks that one entry of `loads` stands for
  double domains_each = 1;  ///< domains likewise

  [[nodiscard]] const std::vector<OwnerLoad>& owners(Work work) const {
    return work == Work::UB ? loads.ub : loads.rb;
  }
  [[nodiscard]] const ConsumerLoad& consumer(Work work) const {
    return work == Work::UB ? loads.ub_consumer : loads.rb_consumer;
  }
  template <class Amount>
  [[nodiscard]] double over_ranks(Work work, Amount amount) const {
    double sum = 0;
    for (const OwnerLoad& owner : owners(work)) sum += amount(owner);
    return sum * ranks_each;
  }
  template <class Amount>
  [[nodiscard]] double over_domains(Amount amount) const {
    double sum = 0;
    for (const DomainLoad& domain : loads.domains) sum += amount(domain);
    return sum * domains_each;
  }
};

/// Fills one step's parts, reusing what an earlier call left.
class StepModel::PartWriter {
 public:
  PartWriter(StepLoad& step, const Topology& topology, double samples, const LayoutLoads& loads)
      : step_(step), topology_(topology), samples_(samples), entries_(loads.rb.size()) {}
  ~PartWriter() { step_.parts.resize(used_); }
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  std::vector<PartLoad>& add(Barrier barrier) {
    if (used_ == step_.parts.size()) step_.parts.emplace_back();
    StepPart& part = step_.parts[used_++];
    part.barrier = topology_.ranks() > 1 ? barrier : Barrier::none;
    part.ranks.assign(entries_, PartLoad{});
    return part.ranks;
  }

  /// Kernels of `seconds(rank)` on every rank.
  template <class Seconds>
  std::vector<PartLoad>& kernels(Barrier barrier, Seconds seconds) {
    std::vector<PartLoad>& ranks = add(barrier);
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].kernel_s = seconds(r);
    return ranks;
  }

  /// Every consumer moves `amount(owner)` bytes a sample from (or to) every other owner.
  template <class Amount>
  void all_to_all(std::vector<PartLoad>& ranks, const std::vector<OwnerLoad>& owners,
                  bool from_owner, WireSlot intra_slot, Amount amount) const {
    const std::int32_t g = topology_.fast_domain, all = topology_.ranks();
    const auto inter_slot = static_cast<WireSlot>(intra_slot + 1);
    std::vector<double> intra(index_of(topology_.domains()), 0.0), inter = intra;
    double everywhere = 0;
    for (std::int32_t r = 0; r < all; ++r) {
      const OwnerLoad& owner = owners[owners.size() == 1 ? 0 : index_of(r)];
      const auto d = index_of(topology_.domain_of(r));
      intra[d] += amount(owner, intra_slot);
      inter[d] += amount(owner, inter_slot);
      everywhere += amount(owner, inter_slot);
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto d = index_of(topology_.domain_of(static_cast<std::int32_t>(r)));
      const double near = amount(owners[r], intra_slot);
      const double far = amount(owners[r], inter_slot);
      set(ranks[r].intra, from_owner, samples_ * (g - 1) * near, samples_ * (intra[d] - near),
          g - 1);
      set(ranks[r].inter, from_owner, samples_ * (all - g) * far,
          samples_ * (everywhere - inter[d]), all - g);
    }
  }

  static void set(WireLoad& wire, bool from_owner, double as_owner, double as_consumer,
                  std::int32_t peers) {
    wire.sent_bytes = std::max(0.0, from_owner ? as_owner : as_consumer);
    wire.received_bytes = std::max(0.0, from_owner ? as_consumer : as_owner);
    wire.peers = peers;
  }

 private:
  StepLoad& step_;
  const Topology& topology_;
  double samples_;
  std::size_t entries_;
  std::size_t used_ = 0;
};

StepModel::StepModel(const WorkloadFacts& facts, const Topology& topology,
                     const ExecutorModel& executor, const DenseCost& dense)
    : facts_(facts), topology_(topology), executor_(executor), dense_(dense) {}

std::vector<StepLoad> StepModel::steps(const Schedule& schedule, const LayoutLoads& loads) const {
  std::vector<StepLoad> result;
  steps(schedule, loads, result);
  return result;
}

void StepModel::steps(const Schedule& schedule, const LayoutLoads& loads,
                      std::vector<StepLoad>& into) const {
  into.resize(schedule.steps.size());
  const Totals totals{
      loads, static_cast<double>(topology_.ranks()) / static_cast<double>(loads.rb.size()),
      static_cast<double>(topology_.domains()) / static_cast<double>(loads.domains.size())};
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduleStep& step = schedule.steps[i];
    PartWriter parts(into[i], topology_, facts_.rank_batch, loads);
    const auto constant = [&](double seconds) {
      parts.kernels(Barrier::none, [&](std::size_t) { return seconds; });
    };
    const bool bottom = step.work == Work::bottom_mlp;
    switch (step.stage) {
      case Stage::input_dist:
        input_dist(parts, totals, step.work);
        break;
      case Stage::model_forward:
        model_forward(parts, totals, step.work);
        break;
      case Stage::network_forward:
        network(parts, totals, step.work, true);
        break;
      case Stage::network_backward:
        network(parts, totals, step.work, false);
        break;
      case Stage::dense_forward:
        constant(bottom ? dense_.bottom_forward_s : dense_.top_forward_s);
        break;
      case Stage::dense_backward:
        constant(bottom ? dense_.bottom_backward_s : dense_.top_backward_s);
        break;
      case Stage::index_calculation:
      case Stage::local_reduce:
        owner_kernels(parts, totals, step.work, step.stage);
        break;
      case Stage::update:
        if (step.work == Work::dense) {
          constant(dense_.update_s);
        } else {
          owner_kernels(parts, totals, step.work, step.stage);
        }
        break;
      case Stage::allreduce:
        allreduce(parts, totals, schedule, step.work);
        break;
    }
  }
}

void StepModel::input_dist(PartWriter& parts, const Totals& totals, Work work) const {
  const Gpu& gpu = topology_.gpu;
  const double bandwidth = gpu.input_bytes_per_s();
  const double launch = gpu.launch_s.value;
  const std::vector<OwnerLoad>& owners = totals.owners(work);
  const std::int32_t g = topology_.fast_domain, all = topology_.ranks();
  const ConsumerLoad& consumer = totals.consumer(work);
  const double bag = work == Work::RB ? executor_.bag_bytes : 0;
  const double source_bytes =
      executor_.source_key_bytes * consumer.keys + executor_.split_key_bytes * consumer.split_keys +
      executor_.dedup_key_bytes * consumer.dedup_keys + bag * consumer.lists;
  const double source =
      source_bytes * facts_.rank_batch / bandwidth +
      cost::kInputDistKernels * launch * (executor_.fused_tables ? 1.0 : consumer.lists);
  double slots = 0;
  for (const OwnerLoad& owner : owners) slots = std::max(slots, owner.id_lists);

  std::vector<PartLoad>& counts = parts.kernels(Barrier::flat, [&](std::size_t) { return source; });
  for (PartLoad& load : counts) {
    load.delay_s = all > 1 ? cost::kHostWaitLaunches * launch : 0;
    load.intra = {8 * slots * (g - 1), 8 * slots * (g - 1), g - 1};
    load.inter = {8 * slots * (all - g), 8 * slots * (all - g), all - g};
  }
  std::vector<PartLoad>& ids = parts.add(Barrier::flat);
  parts.all_to_all(ids, owners, false, kForwardIntra,
                   [](const OwnerLoad& owner, WireSlot) { return owner.ids_bytes; });
  std::vector<PartLoad>& received = parts.kernels(Barrier::none, [&](std::size_t r) {
    return (executor_.owner_key_bytes * owners[r].keys + bag * owners[r].id_lists * facts_.batch) /
           bandwidth;
  });
  for (std::size_t r = 0; r < received.size(); ++r)
    received[r].rows = static_cast<std::int64_t>(owners[r].keys);
}

void StepModel::model_forward(PartWriter& parts, const Totals& totals, Work work) const {
  owner_kernels(parts, totals, work, Stage::model_forward);
}

void StepModel::owner_kernels(PartWriter& parts, const Totals& totals, Work work,
                              Stage stage) const {
  const Gpu& gpu = topology_.gpu;
  const double bandwidth = gpu.memory_bytes_per_s.value;
  const double launch = gpu.launch_s.value;
  // Sums of repeated ids' gradients where they are read; lengths where their rows are.
  const bool index = stage == Stage::index_calculation;
  const double read_here = index && work == Work::UB && executor_.ub_consumer_sorts
                               ? gpu.sort_bytes_per_key.value * facts_.rank_batch *
                                     totals.consumer(work).dedup_keys / bandwidth
                               : 0;
  const double a_list =
      index && work == Work::RB ? executor_.index_bag_bytes * facts_.batch / bandwidth : 0;
  const auto seconds = [&](double gather, double keys, double reduce, double update,
                           double pieces) {
    const double calls = executor_.fused_tables ? 1.0 : pieces;
    switch (stage) {
      case Stage::model_forward:
        return gather / (bandwidth * gpu.gather_efficiency.value) +
               cost::kLookupKernels * calls * launch;
      case Stage::index_calculation:
        return gpu.sort_bytes_per_key.value * keys / bandwidth +
               cost::kIndexKernels * calls * launch;
      case Stage::local_reduce:
        return reduce / (bandwidth * gpu.reduce_efficiency.value) +
               cost::kReduceKernels * calls * launch;
      default:
        return update / gpu.update_bytes_per_s() + cost::kUpdateKernels * calls * launch;
    }
  };
  if (work == Work::DP) {
    const ReplicatedLoad& dp = totals.loads.dp;
    const double all =
        seconds(dp.gather_bytes, dp.keys, dp.reduce_bytes, dp.update_bytes, dp.pieces);
    for (PartLoad& load : parts.kernels(Barrier::none, [&](std::size_t) { return all; }))
      load.rows = static_cast<std::int64_t>(dp.keys);
    return;
  }
  const std::vector<OwnerLoad>& owners = totals.owners(work);
  bool squares = false;
  if (stage == Stage::update) {
    for (const OwnerLoad& owner : owners)
      squares |= owner.square_intra_bytes + owner.square_inter_bytes > 0.5;
  }
  if (squares) {
    std::vector<PartLoad>& exchange = parts.add(Barrier::flat);
    const std::int32_t g = topology_.fast_domain, all = topology_.ranks();
    for (std::size_t r = 0; r < exchange.size(); ++r) {
      // Owners of a row send each other the same sums.
      const OwnerLoad& owner = owners[r];
      exchange[r].intra = {owner.square_intra_bytes, owner.square_intra_bytes, g - 1};
      exchange[r].inter = {owner.square_inter_bytes, owner.square_inter_bytes, all - g};
    }
  }
  std::vector<PartLoad>& kernels = parts.kernels(Barrier::none, [&](std::size_t r) {
    const OwnerLoad& owner = owners[r];
    return seconds(owner.gather_bytes, owner.keys, owner.reduce_bytes, owner.update_bytes,
                   owner.pieces) +
           read_here + a_list * owner.id_lists;
  });
  for (std::size_t r = 0; r < kernels.size(); ++r)
    kernels[r].rows = static_cast<std::int64_t>(owners[r].keys);
}

double StepModel::consumer_kernel(const Totals& totals, Work work, bool forward) const {
  const Gpu& gpu = topology_.gpu;
  const ConsumerLoad& consumer = totals.consumer(work);
  double wire = totals.over_ranks(work, [](const OwnerLoad& owner) { return owner.flat_elements; });
  if (work == Work::RB)
    wire += totals.over_domains([](const DomainLoad& domain) { return domain.rail_elements; });
  if (work == Work::UB)
    wire *= forward ? executor_.ub_forward_passes : executor_.ub_backward_passes;
  // Expanding (UB) touches a vector for every id; received rows are reused from the cache.
  const double expanded = consumer.vectors * cost::kCachedRowCost;
  double codec_s = consumer.codec_s[forward ? 0 : 1];
  for (const WireSlot slot :
       {forward ? kForwardIntra : kBackwardIntra, forward ? kForwardInter : kBackwardInter})
    if (totals.loads.is_coded(work == Work::UB, slot)) codec_s += consumer.plain_codec_s[slot];
  const double bytes = facts_.rank_batch * ((wire + expanded) * facts_.wire_bytes +
                                            consumer.outputs * executor_.activation_bytes);
  return bytes / (gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value) +
         cost::kCombineKernels * gpu.launch_s.value + facts_.rank_batch * codec_s;
}

void StepModel::network(PartWriter& parts, const Totals& totals, Work work, bool forward) const {
  const double consume = consumer_kernel(totals, work, forward);
  const WireSlot intra_slot = forward ? kForwardIntra : kBackwardIntra;
  const WireSlot inter_slot = forward ? kForwardInter : kBackwardInter;
  const bool ub = work == Work::UB;
  const bool coded = totals.loads.is_coded(ub, intra_slot) || totals.loads.is_coded(ub, inter_slot);
  const bool hierarchical = work == Work::RB && totals.loads.hierarchical_tables > 0.5;
  const bool flat = work == Work::UB || totals.loads.flat_tables > 0.5;
  const std::vector<OwnerLoad>& owners = totals.owners(work);
  const double batch = facts_.batch;
  const auto exchange = [&](std::vector<PartLoad>& ranks) {
    parts.all_to_all(ranks, owners, forward, forward ? kForwardIntra : kBackwardIntra,
                     [](const OwnerLoad& owner, WireSlot slot) { return owner.flat_bytes[slot]; });
  };
  const auto owner_codec = [&](std::size_t r) {
    double seconds = owners[r].codec_s[forward ? 0 : 1];
    for (const WireSlot slot : {intra_slot, inter_slot})
      if (totals.loads.is_coded(ub, slot)) seconds += owners[r].plain_codec_s[slot];
    return batch * seconds;
  };
  if (forward) {
    if (hierarchical) hierarchical_forward(parts, totals, coded);
    if (flat) {
      if (coded) exchange_sizes(parts.kernels(Barrier::flat, owner_codec), Barrier::flat);
      exchange(coded ? parts.add(Barrier::flat) : parts.kernels(Barrier::flat, owner_codec));
    }
    parts.kernels(Barrier::none, [&](std::size_t) { return consume; });
    return;
  }
  // The consumer packs gradients before the first exchange, whichever that is.
  parts.kernels(Barrier::none, [&](std::size_t) { return consume; });
  if (hierarchical) hierarchical_backward(parts, totals, coded);
  if (flat) {
    if (coded) exchange_sizes(parts.add(Barrier::flat), Barrier::flat);
    exchange(parts.add(Barrier::flat));
    parts.kernels(Barrier::none, owner_codec);
  }
}

/// Coded messages are as long as they turn out: every rank first tells every other.
void StepModel::exchange_sizes(std::vector<PartLoad>& ranks, Barrier barrier) const {
  constexpr double kSizeBytes = 8;
  const bool rails = barrier == Barrier::rail;
  const std::int32_t near = rails ? 0 : topology_.fast_domain - 1;
  const std::int32_t far =
      rails ? topology_.domains() - 1 : topology_.ranks() - topology_.fast_domain;
  for (PartLoad& load : ranks) {
    load.intra = {kSizeBytes * near, kSizeBytes * near, near};
    load.inter = {kSizeBytes * far, kSizeBytes * far, far};
  }
}

/// What the owners of a domain exchange inside it, a sample; by represented domain.
struct StepModel::DomainSums {
  std::vector<double> bytes, elements;
  double rails = 0;  ///< rail bytes of all domains
};

StepModel::DomainSums StepModel::domain_sums(const Totals& totals, std::size_t direction) const {
  const std::vector<OwnerLoad>& owners = totals.loads.rb;
  DomainSums sums;
  sums.bytes.assign(totals.loads.domains.size(), 0.0);
  sums.elements = sums.bytes;
  for (std::size_t r = 0; r < owners.size(); ++r) {
    const std::size_t d = domain_at(r);
    // One entry for all ranks stands for those of one domain.
    const double each = owners.size() == 1 ? topology_.fast_domain : 1.0;
    sums.bytes[d] += each * owners[r].domain_bytes[direction];
    sums.elements[d] += each * owners[r].domain_elements;
  }
  sums.rails =
      totals.over_domains([&](const DomainLoad& domain) { return domain.rail_bytes[direction]; });
  return sums;
}

std::size_t StepModel::domain_at(std::size_t entry) const {
  return index_of(topology_.domain_of(static_cast<std::int32_t>(entry)));
}

void StepModel::exchange_in_domains(std::vector<PartLoad>& parts, const Totals& totals,
                                    const DomainSums& sums, bool forward) const {
  const double rail_samples = facts_.rank_batch * topology_.domains();
  const std::int32_t peers = topology_.fast_domain - 1;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const double own = totals.loads.rb[r].domain_bytes[forward ? 0 : 1];
    PartWriter::set(parts[r].intra, forward, rail_samples * peers * own,
                    rail_samples * (sums.bytes[domain_at(r)] - own), peers);
  }
}

void StepModel::exchange_along_rails(std::vector<PartLoad>& parts, const Totals& totals,
                                     const DomainSums& sums, bool forward) const {
  const std::int32_t peers = topology_.domains() - 1;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const double own = totals.loads.domains[domain_at(r)].rail_bytes[forward ? 0 : 1];
    PartWriter::set(parts[r].inter, forward, facts_.rank_batch * peers * own,
                    facts_.rank_batch * (sums.rails - own), peers);
  }
}

void StepModel::hierarchical_forward(PartWriter& parts, const Totals& totals, bool coded) const {
  const Gpu& gpu = topology_.gpu;
  const double stream = gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value;
  const double rail_samples = facts_.rank_batch * topology_.domains();
  const DomainSums sums = domain_sums(totals, 0);
  exchange_in_domains(parts.kernels(Barrier::domain,
                                    [&](std::size_t r) {
                                      return facts_.batch * totals.loads.rb[r].domain_codec_s[0];
                                    }),
                      totals, sums, true);
  const bool rails = topology_.domains() > 1;
  std::vector<PartLoad>& reduced =
      parts.kernels(rails ? Barrier::rail : Barrier::none, [&](std::size_t r) {
        const DomainLoad& domain = totals.loads.domains[domain_at(r)];
        const double elements = sums.elements[domain_at(r)] + domain.rail_elements;
        return rail_samples * elements * facts_.wire_bytes / stream + gpu.launch_s.value +
               rail_samples * (domain.codec_s[0] + (coded ? domain.plain_codec_s[0] : 0));
      });
  if (!rails) return;
  if (coded) exchange_sizes(reduced, Barrier::rail);
  exchange_along_rails(coded ? parts.add(Barrier::rail) : reduced, totals, sums, true);
}

void StepModel::hierarchical_backward(PartWriter& parts, const Totals& totals, bool coded) const {
  const double rail_samples = facts_.rank_batch * topology_.domains();
  const DomainSums sums = domain_sums(totals, 1);
  if (topology_.domains() > 1) {
    if (coded) exchange_sizes(parts.add(Barrier::rail), Barrier::rail);
    exchange_along_rails(parts.add(Barrier::rail), totals, sums, false);
  }
  exchange_in_domains(parts.kernels(Barrier::domain,
                                    [&](std::size_t r) {
                                      const DomainLoad& domain = totals.loads.domains[domain_at(r)];
                                      return rail_samples * (domain.codec_s[1] +
                                                             (coded ? domain.plain_codec_s[1] : 0));
                                    }),
                      totals, sums, false);
  parts.kernels(Barrier::none,
                [&](std::size_t r) { return facts_.batch * totals.loads.rb[r].domain_codec_s[1]; });
}

void StepModel::allreduce(PartWriter& parts, const Totals& totals, const Schedule& schedule,
                          Work work) const {
  double elements = work == Work::DP ? totals.loads.dp.allreduce_elements : dense_.parameters;
  if (executor_.grouped_allreduce) {
    const bool dense_step =
        std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const ScheduleStep& step) {
          return step.stage == Stage::allreduce && step.work == Work::dense;
        });
    if (dense_step && work == Work::DP) {
      parts.add(Barrier::none);  // travels with the dense gradients
      return;
    }
    if (work == Work::dense) elements += totals.loads.dp.allreduce_elements;
  }
  const double bytes = elements * executor_.allreduced_bytes;
  const double g = topology_.fast_domain, n = topology_.domains(), all = topology_.ranks();
  // Ring: reduced and gathered inside the domain, each rail carries 1/g between domains.
  // Otherwise every rank reduces one chunk and sends it to all.
  const double intra =
      executor_.ring_allreduce ? 2 * bytes * (g - 1) / g : 2 * bytes * (g - 1) / all;
  const double inter =
      executor_.ring_allreduce ? 2 * bytes * (n - 1) / n / g : 2 * bytes * (all - g) / all;
  const auto near = static_cast<std::int32_t>(g) - 1;
  const auto far = static_cast<std::int32_t>(executor_.ring_allreduce ? n - 1 : all - g);
  for (PartLoad& load : parts.add(Barrier::flat)) {
    load.intra = {intra, intra, near};
    load.inter = {inter, inter, far};
    // Two rounds between domains: the sum goes out and comes back.
    if (far > 0) load.delay_s = topology_.inter.seconds(0, far);
  }
}

}  // namespace shardscope
