#include <fmt/core.h>

#include <cmath>

#include "layout/check_report.hpp"

namespace shardscope {

namespace {

constexpr std::int64_t kMostRanksOfAWorld = 1 << 20;

void check_shape(const Topology& topology, Report& report) {
  const std::int64_t ranks = std::int64_t{topology.hosts} * topology.gpus_per_host;
  if (topology.hosts < 1 || topology.gpus_per_host < 1 || ranks > kMostRanksOfAWorld) {
    report.error("topology.shape", {}, ranks,
                 fmt::format("{} hosts of {} GPUs", topology.hosts, topology.gpus_per_host),
                 fmt::format("Use at least one host and one GPU, and at most {} GPUs in all",
                             kMostRanksOfAWorld));
    return;
  }
  const std::int32_t domain = topology.fast_domain;
  const bool whole = domain >= 1 && ranks % domain == 0 &&
                     (domain % topology.gpus_per_host == 0 || topology.gpus_per_host % domain == 0);
  if (whole) return;
  report.error("topology.fast_domain", {}, domain,
               fmt::format("a fast domain of {} ranks does not divide {} hosts of {} GPUs", domain,
                           topology.hosts, topology.gpus_per_host),
               "Use a divisor of the ranks that is a part of a host or whole hosts");
}

class QuantityCheck {
 public:
  explicit QuantityCheck(Report& report) : report_(report) {}

  /// 0 means that nobody stated it.
  void at_least_zero(const std::string& name, const Quantity& quantity, bool needed) {
    if (!std::isfinite(quantity.value) || quantity.value < 0) {
      report_.error("topology.quantity", {}, 0, fmt::format("{} is {}", name, quantity.value),
                    "Use a number >= 0");
    } else if (quantity.value == 0 && needed) {
      report_.warning("topology.not_stated", {}, 0, fmt::format("{} is not stated", name),
                      "State it, or calibrate; without it nothing that needs it can be judged");
    }
  }

  void share(const std::string& name, const Quantity& quantity, bool needed) {
    at_least_zero(name, quantity, needed);
    if (!(quantity.value > 1)) return;
    report_.error("topology.share", {}, 0,
                  fmt::format("{} is {}, more than all of it", name, quantity.value),
                  "Use a share from 0 to 1");
  }

  void link(const std::string& name, const LinkModel& link, bool used) {
    at_least_zero(name + ".latency_s", link.latency_s, false);
    at_least_zero(name + ".latency_per_doubling_s", link.latency_per_doubling_s, false);
    const bool measured = !link.by_size.empty();
    at_least_zero(name + ".bytes_per_s", link.bytes_per_s, used && !measured);
    share(name + ".efficiency", link.efficiency, used && !measured);
    double before = 0;
    for (const BandwidthPoint& point : link.by_size) {
      const bool valid = std::isfinite(point.message_bytes) && point.message_bytes > before &&
                         std::isfinite(point.bytes_per_s) && point.bytes_per_s > 0;
      before = point.message_bytes;
      if (valid) continue;
      report_.error("topology.by_size", {}, 0,
                    fmt::format("{}.by_size has the point ({} bytes, {} bytes/s)", name,
                                point.message_bytes, point.bytes_per_s),
                    "List ascending message sizes with rates above 0");
      return;
    }
  }

 private:
  Report& report_;
};

void check_gpu(const Topology& topology, QuantityCheck& check) {
  const Gpu& gpu = topology.gpu;
  check.at_least_zero("gpu.memory_bytes", gpu.memory_bytes, true);
  check.at_least_zero("gpu.memory_bytes_per_s", gpu.memory_bytes_per_s, true);
  check.at_least_zero("gpu.cache_bytes", gpu.cache_bytes, false);
  check.at_least_zero("gpu.gemm_flops_per_s", gpu.gemm_flops_per_s, true);
  check.share("gpu.gemm_efficiency", gpu.gemm_efficiency, true);
  check.share("gpu.gather_efficiency", gpu.gather_efficiency, true);
  check.share("gpu.reduce_efficiency", gpu.reduce_efficiency, true);
  check.share("gpu.stream_efficiency", gpu.stream_efficiency, true);
  check.at_least_zero("gpu.sort_bytes_per_key", gpu.sort_bytes_per_key, false);
  check.at_least_zero("gpu.launch_s", gpu.launch_s, false);
  check.share("gpu.overlap_cost", gpu.overlap_cost, false);
  check.share("gpu.update_efficiency", gpu.update_efficiency, false);
  check.share("gpu.input_efficiency", gpu.input_efficiency, false);
}

}  // namespace

void check_topology_rules(const Topology& topology, Report& report) {
  const std::size_t mark = report.size();
  check_shape(topology, report);
  QuantityCheck check(report);
  check_gpu(topology, check);
  check.at_least_zero("host_memory_bytes", topology.host_memory_bytes, false);
  check.at_least_zero("reader_bytes_per_s", topology.reader_bytes_per_s, false);
  if (topology.reserve_bytes < 0) {
    report.error("topology.reserve", {}, topology.reserve_bytes,
                 fmt::format("reserve_bytes is {}", topology.reserve_bytes), "Use a number >= 0");
  }
  if (report.has_errors_since(mark)) return;
  check.link("intra", topology.intra, topology.fast_domain > 1);
  check.link("inter", topology.inter, topology.domains() > 1);
}

}  // namespace shardscope
