#pragma once
// Where it is trained: hosts x GPUs, fast domains, link classes. Every number carries its origin.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope {

/// Where a number comes from; shown wherever the number is used.
enum class Origin : std::uint8_t { datasheet, published, measured, prior };

/// A number with its unit in the field's name and its origin beside it.
struct Quantity {
  double value = 0;
  Origin origin = Origin::prior;
  std::string source;  ///< document, run or reasoning
  std::string date;    ///< YYYY-MM-DD

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// How two ranks reach each other.
enum class LinkClass : std::uint8_t {
  self,   ///< the same rank; nothing travels
  intra,  ///< inside one fast domain (NVLink, PCIe of one box)
  inter,  ///< between fast domains (NIC)
};

inline constexpr int kLinkClasses = 3;

/// Bandwidth a rank reaches at one message size.
struct BandwidthPoint {
  double message_bytes = 0;
  double bytes_per_s = 0;

  friend bool operator==(const BandwidthPoint&, const BandwidthPoint&) = default;
};

/// Cost of moving bytes from (or to) one rank over one link class.
struct LinkModel {
  Quantity latency_s;                   ///< of one collective, at two participants
  Quantity latency_per_doubling_s;      ///< added for each doubling of participants beyond two
  Quantity bytes_per_s;                 ///< peak of one rank, one direction
  Quantity efficiency;                  ///< share of the peak an all-to-all reaches, 0..1
  std::vector<BandwidthPoint> by_size;  ///< measured curve; ascending; replaces peak x efficiency
  /// Share of a message's cost that its sender bears besides the receiver, 0..1. Wires: 1. Ranks
  /// that are threads: 0, as the receiver copies.
  double sender_share = 1;

  /// Bytes a second at one message size: of the measured curve, else peak x efficiency.
  [[nodiscard]] double bytes_per_s_at(double message_bytes) const;
  /// The same for messages so large that their size no longer counts.
  [[nodiscard]] double large_bytes_per_s() const;

  /// Seconds for one rank to send `bytes` in all to `peers` other ranks. 0 bytes cost the latency;
  /// 0 peers cost nothing.
  [[nodiscard]] double seconds(double bytes, std::int32_t peers) const;

  friend bool operator==(const LinkModel&, const LinkModel&) = default;
};

/// One GPU model (or one CPU rank of host-cpu).
struct Gpu {
  std::string name;
  Quantity memory_bytes;
  Quantity memory_bytes_per_s;
  Quantity cache_bytes;         ///< last-level cache a rank can use
  Quantity gemm_flops_per_s;    ///< dense peak at the training precision
  Quantity gemm_efficiency;     ///< 0..1
  Quantity gather_efficiency;   ///< share of memory bandwidth, row gather
  Quantity reduce_efficiency;   ///< share of memory bandwidth, gradient reduce (and update)
  Quantity stream_efficiency;   ///< share of memory bandwidth, elementwise
  Quantity sort_bytes_per_key;  ///< memory traffic of index calculation
  Quantity launch_s;            ///< serial cost of one kernel
  Quantity overlap_cost;        ///< share of overlapped kernels' time that is not hidden, 0..1
  Quantity update_efficiency;   ///< share of memory bandwidth, update; absent (0): reduce's
  Quantity input_efficiency;    ///< share of memory bandwidth, input_dist; absent (0): all of it

  /// Bytes a second of the optimizer's update and of input_dist's passes.
  [[nodiscard]] double update_bytes_per_s() const {
    const Quantity& share = update_efficiency.value > 0 ? update_efficiency : reduce_efficiency;
    return memory_bytes_per_s.value * share.value;
  }
  [[nodiscard]] double input_bytes_per_s() const {
    return memory_bytes_per_s.value * (input_efficiency.value > 0 ? input_efficiency.value : 1);
  }

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// hosts x gpus_per_host ranks. Rank = host * gpus_per_host + local GPU.
struct Topology {
  std::string name;
  std::int32_t hosts = 1;
  std::int32_t gpus_per_host = 1;
  /// Ranks that share the fast links: consecutive, divides ranks(). 8 on a DGX, 72 on GB200 NVL72.
  std::int32_t fast_domain = 1;
  Gpu gpu;
  LinkModel intra;
  LinkModel inter;
  Quantity host_memory_bytes;
  Quantity reader_bytes_per_s;     ///< input pipeline of one host; 0: not limiting
  std::int64_t reserve_bytes = 0;  ///< kept free on each GPU (framework, fragmentation)

  [[nodiscard]] std::int32_t ranks() const { return hosts * gpus_per_host; }
  [[nodiscard]] std::int32_t domains() const { return ranks() / fast_domain; }
  [[nodiscard]] std::int32_t domain_of(std::int32_t rank) const { return rank / fast_domain; }
  /// Position inside the domain; ranks of equal position form a rail.
  [[nodiscard]] std::int32_t rail_of(std::int32_t rank) const { return rank % fast_domain; }
  [[nodiscard]] std::int32_t host_of(std::int32_t rank) const { return rank / gpus_per_host; }
  [[nodiscard]] LinkClass link(std::int32_t a, std::int32_t b) const {
    if (a == b) return LinkClass::self;
    return domain_of(a) == domain_of(b) ? LinkClass::intra : LinkClass::inter;
  }
  [[nodiscard]] const LinkModel& model(LinkClass link) const {
    return link == LinkClass::intra ? intra : inter;
  }

  friend bool operator==(const Topology&, const Topology&) = default;
};

[[nodiscard]] const char* to_string(Origin value);
[[nodiscard]] const char* to_string(LinkClass value);

}  // namespace shardscope
