// Built-in machines. Rates are datasheet figures of one GPU and one direction; efficiencies and
// latencies are estimates that a calibration replaces.

#include "layout/models_machines.hpp"

#include <cstdint>

#include "layout/models.hpp"

namespace shardscope {

namespace {

constexpr const char* kRead = "2026-09-01";  // when the sources below were read

struct GpuFacts {
  const char* name;
  const char* source;
  double memory_bytes;
  double memory_bytes_per_s;
  double cache_bytes;
  double gemm_flops_per_s;  ///< fp16 dense
};

constexpr GpuFacts kV100{"V100 SXM2 32GB", "NVIDIA V100 datasheet", 32e9, 0.9e12, 6e6, 125e12};
constexpr GpuFacts kA100{"A100 SXM 80GB", "NVIDIA A100 datasheet", 80e9, 2.04e12, 40e6, 312e12};
constexpr GpuFacts kH100{"H100 SXM 80GB", "NVIDIA H100 datasheet", 80e9, 3.35e12, 50e6, 989e12};
constexpr GpuFacts kH200{"H200 SXM", "NVIDIA H200 datasheet", 141e9, 4.8e12, 50e6, 989e12};
constexpr GpuFacts kB200{"B200", "NVIDIA DGX B200 datasheet", 180e9, 8.0e12, 126e6, 2250e12};
constexpr GpuFacts kGb200{"GB200", "NVIDIA GB200 NVL72 datasheet", 186e9, 8.0e12, 126e6, 2500e12};
constexpr GpuFacts kH100Pcie{"H100 PCIe", "NVIDIA H100 PCIe datasheet", 80e9, 2.0e12, 50e6, 756e12};
constexpr GpuFacts kA40{"A40", "NVIDIA A40 datasheet", 48e9, 0.696e12, 6e6, 149.7e12};
constexpr GpuFacts kL40{"L40", "NVIDIA L40 datasheet", 48e9, 0.864e12, 96e6, 181e12};
constexpr GpuFacts kL40s{"L40S", "NVIDIA L40S datasheet", 48e9, 0.864e12, 96e6, 362e12};

/// Share of a link's peak that an all-to-all reaches, and how that is known.
struct EfficiencyFact {
  double value;
  Origin origin;
  const char* source;
};

constexpr const char* kFitted =
    "fitted to MLPerf training v3.0 and v3.1 DLRM-DCNv2 on A100 and H100 (bench/validate --fit)";

constexpr EfficiencyFact kNvlinkShare{0.75, Origin::published, kFitted};
constexpr EfficiencyFact kNicShare{0.57, Origin::published, kFitted};
// Whole-box exchange over PCIe implied by one published system each. Boxes of one GPU differ by 3x,
// so it stays a guess until it is measured.
constexpr EfficiencyFact kH100PcieShare{
    21.0 / 63, Origin::prior, "implied by MLPerf v3.1 DLRM-DCNv2 on one box of 8x H100 PCIe"};
constexpr EfficiencyFact kA40Share{8.8 / 31.5, Origin::prior,
                                   "implied by MLPerf v3.0 DLRM-DCNv2 on one box of 8x A40"};
constexpr EfficiencyFact kL40Share{18.9 / 31.5, Origin::prior,
                                   "implied by MLPerf v3.1 DLRM-DCNv2 on one box of 8x L40"};
constexpr EfficiencyFact kL40sShare{13.6 / 31.5, Origin::prior,
                                    "implied by MLPerf v3.1 DLRM-DCNv2 on one box of 8x L40S"};

struct MachineFacts {
  const char* name;
  const GpuFacts* gpu;
  std::int32_t default_hosts;
  std::int32_t gpus_per_host;
  std::int32_t fast_domain;  ///< ranks, of a whole machine
  double intra_bytes_per_s;
  EfficiencyFact intra_efficiency;
  const char* intra_source;
  double inter_bytes_per_s;  ///< NIC rate of one GPU
  Origin inter_origin;
  const char* inter_source;
  double host_memory_bytes;
};

constexpr MachineFacts kMachines[] = {
    {"dgx-a100", &kA100, 1, 8, 8, 300e9, kNvlinkShare, "NVLink 3", 25e9, Origin::datasheet,
     "HDR 200 Gb/s a GPU, DGX A100 datasheet", 2e12},
    {"dgx-h100", &kH100, 1, 8, 8, 450e9, kNvlinkShare, "NVLink 4", 50e9, Origin::datasheet,
     "NDR 400 Gb/s a GPU, DGX H100 datasheet", 2e12},
    {"dgx-h200", &kH200, 1, 8, 8, 450e9, kNvlinkShare, "NVLink 4", 50e9, Origin::datasheet,
     "NDR 400 Gb/s a GPU, DGX H200 datasheet", 2e12},
    {"dgx-b200", &kB200, 1, 8, 8, 900e9, kNvlinkShare, "NVLink 5", 50e9, Origin::datasheet,
     "400 Gb/s a GPU, DGX B200 datasheet", 2e12},
    {"gb200", &kGb200, 18, 4, 72, 900e9, kNvlinkShare, "NVLink 5, NVL72", 50e9, Origin::datasheet,
     "400 Gb/s a GPU, GB200 NVL72 datasheet", 960e9},
    {"dgx1-v100", &kV100, 1, 8, 8, 150e9, kNvlinkShare, "NVLink 2", 6.25e9, Origin::datasheet,
     "four EDR 100 Gb/s for 8 GPUs, DGX-1 datasheet", 512e9},
    {"h100-pcie", &kH100Pcie, 1, 8, 8, 63e9, kH100PcieShare, "PCIe 5.0 x16", 12.5e9, Origin::prior,
     "assumed: 100 Gb/s a GPU", 1e12},
    {"a40-pcie", &kA40, 1, 8, 8, 31.5e9, kA40Share, "PCIe 4.0 x16", 12.5e9, Origin::prior,
     "assumed: 100 Gb/s a GPU", 1e12},
    {"l40-pcie", &kL40, 1, 8, 8, 31.5e9, kL40Share, "PCIe 4.0 x16", 12.5e9, Origin::prior,
     "assumed: 100 Gb/s a GPU", 1e12},
    {"l40s-pcie", &kL40s, 1, 8, 8, 31.5e9, kL40sShare, "PCIe 4.0 x16", 12.5e9, Origin::prior,
     "assumed: 100 Gb/s a GPU", 1e12},
};

constexpr std::int32_t kHostCpuRanks = 4;
constexpr std::int64_t kGpuReserveBytes = std::int64_t{2} << 30;  // CUDA context, NCCL, allocator

Quantity datasheet(double value, const char* source) {
  return {value, Origin::datasheet, source, kRead};
}

Quantity estimate(double value, const char* source) {
  return {value, Origin::prior, source, kRead};
}

/// Kernel efficiencies fitted to published times; on other GPUs than A100 and H100 they are taken
/// over.
void set_gpu_estimates(Gpu& gpu, bool fitted) {
  const auto share = [&](double value) {
    return Quantity{value, fitted ? Origin::published : Origin::prior, kFitted, kRead};
  };
  gpu.gemm_efficiency = share(0.735);
  gpu.reduce_efficiency = share(0.50);
  gpu.stream_efficiency = share(0.76);
  gpu.overlap_cost = share(0.47);
  gpu.launch_s = share(7e-6);
  gpu.gather_efficiency = estimate(0.65, "estimate for fused embedding kernels");
  gpu.sort_bytes_per_key = estimate(100, "estimate for a radix sort of pairs; probably low");
}

Topology machine_of(const MachineFacts& facts) {
  Topology topology;
  topology.name = facts.name;
  topology.hosts = facts.default_hosts;
  topology.gpus_per_host = facts.gpus_per_host;
  topology.fast_domain = facts.fast_domain;
  Gpu& gpu = topology.gpu;
  gpu.name = facts.gpu->name;
  gpu.memory_bytes = datasheet(facts.gpu->memory_bytes, facts.gpu->source);
  gpu.memory_bytes_per_s = datasheet(facts.gpu->memory_bytes_per_s, facts.gpu->source);
  gpu.cache_bytes = datasheet(facts.gpu->cache_bytes, facts.gpu->source);
  gpu.gemm_flops_per_s = datasheet(facts.gpu->gemm_flops_per_s, facts.gpu->source);
  set_gpu_estimates(gpu, facts.gpu == &kA100 || facts.gpu == &kH100);
  topology.intra.latency_s = estimate(25e-6, "estimate for one collective inside a box");
  topology.intra.latency_per_doubling_s = estimate(0, "not seen inside a box");
  topology.intra.bytes_per_s = datasheet(facts.intra_bytes_per_s, facts.intra_source);
  topology.intra.efficiency = {facts.intra_efficiency.value, facts.intra_efficiency.origin,
                               facts.intra_efficiency.source, kRead};
  topology.inter.latency_s = {20.5e-6, Origin::published, kFitted, kRead};
  topology.inter.latency_per_doubling_s = {18e-6, Origin::published, kFitted, kRead};
  topology.inter.bytes_per_s = {facts.inter_bytes_per_s, facts.inter_origin, facts.inter_source,
                                kRead};
  topology.inter.efficiency = {kNicShare.value, kNicShare.origin, kNicShare.source, kRead};
  topology.host_memory_bytes =
      estimate(facts.host_memory_bytes, "usual configuration of the machine");
  topology.reserve_bytes = kGpuReserveBytes;
  return topology;
}

/// Ranks are threads of one machine that share its memory: every figure waits for a calibration.
Topology host_cpu() {
  constexpr const char* kGuess = "estimate for one core of a server; calibrate";
  Topology topology;
  topology.name = kHostCpu;
  topology.hosts = 1;
  topology.gpus_per_host = kHostCpuRanks;
  topology.fast_domain = kHostCpuRanks;
  Gpu& gpu = topology.gpu;
  gpu.name = "CPU core";
  gpu.memory_bytes = estimate(4294967296.0, kSharedHostMemory);
  gpu.memory_bytes_per_s = estimate(10e9, kGuess);
  gpu.cache_bytes = estimate(2e6, kGuess);
  gpu.gemm_flops_per_s = estimate(60e9, kGuess);
  gpu.gemm_efficiency = estimate(0.8, kGuess);
  gpu.gather_efficiency = estimate(0.9, kGuess);
  gpu.reduce_efficiency = estimate(0.6, kGuess);
  gpu.stream_efficiency = estimate(0.9, kGuess);
  gpu.sort_bytes_per_key = estimate(200, kGuess);
  gpu.launch_s = estimate(1e-6, kGuess);
  gpu.overlap_cost = estimate(1, "ranks and streams share the cores");
  topology.intra.latency_s = estimate(10e-6, kGuess);
  topology.intra.latency_per_doubling_s = estimate(5e-6, kGuess);
  topology.intra.bytes_per_s = estimate(5e9, "one copy through memory");
  topology.intra.efficiency = estimate(0.8, kGuess);
  topology.intra.sender_share = 0;
  topology.inter = topology.intra;
  topology.host_memory_bytes = estimate(kHostCpuRanks * 4294967296.0, kGuess);
  return topology;
}

}  // namespace

std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const MachineFacts& facts : kMachines) names.emplace_back(facts.name);
  names.emplace_back(kHostCpu);
  return names;
}

std::optional<Topology> find_machine(std::string_view name) {
  if (name == kHostCpu) return host_cpu();
  for (const MachineFacts& facts : kMachines) {
    if (name == facts.name) return machine_of(facts);
  }
  return std::nullopt;
}

}  // namespace shardscope
