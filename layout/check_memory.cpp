#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "layout/check_report.hpp"
#include "layout/memory.hpp"
#include "layout/memory_parts.hpp"

namespace shardscope {

namespace {

double gib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

/// "weights 12.1, communication 3.0": the three largest purposes in GiB.
std::string largest_parts(const MemoryUse& use) {
  std::vector<std::pair<std::int64_t, const char*>> parts = {
      {use.weights, "weights"},       {use.optimizer_state, "optimizer state"},
      {use.transients, "transients"}, {use.communication, "communication"},
      {use.indices, "indices"},       {use.sort, "sort"},
      {use.wgrad, "wgrad"},           {use.tier_overhead, "tier overhead"},
      {use.dense, "dense part"},      {use.reserve, "reserve"}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < 3 && parts[i].first > 0; ++i) {
    text += fmt::format("{}{} {:.2f}", i > 0 ? ", " : "", parts[i].second, gib(parts[i].first));
  }
  return text;
}

/// Weights and state of every table on a rank's GPU.
std::vector<std::int64_t> table_bytes_on(const CheckInput& input, std::int32_t rank) {
  std::vector<std::int64_t> bytes(input.layout.tables.size(), 0);
  for (std::size_t t = 0; t < bytes.size(); ++t) {
    const TablePlacement& placement = input.placement(t);
    MemoryUse gpu;
    MemoryUse host;
    if (placement.cluster == ClusterType::DP) {
      add_shard(input.table(t), {input.table(t).rows, input.table(t).dim}, input.tier(t, 0), 8, gpu,
                host);
    }
    for (std::size_t cell = 0; cell < placement.owners.size(); ++cell) {
      if (placement.owners[cell] != rank) continue;
      const auto columns = static_cast<std::size_t>(placement.column_shards());
      const ShardSize size{
          placement.rows_in(static_cast<std::int32_t>(cell / columns), input.table(t).rows),
          placement.width(static_cast<std::int32_t>(cell % columns))};
      add_shard(input.table(t), size, input.tier(t, cell), 8, gpu, host);
    }
    bytes[t] = gpu.total();
  }
  return bytes;
}

/// One action on the largest table of the rank that makes it fit, or as much of it as there is.
std::string cure_of(const CheckInput& input, std::int32_t rank, std::int64_t over) {
  const std::vector<std::int64_t> bytes = table_bytes_on(input, rank);
  const auto largest = std::max_element(bytes.begin(), bytes.end());
  if (largest == bytes.end() || *largest == 0) {
    return "Lower the batch: no table lies there";
  }
  const auto t = static_cast<std::size_t>(largest - bytes.begin());
  const std::string what =
      fmt::format("table {} ({:.2f} GiB there)", input.table(t).name, gib(*largest));
  if (*largest <= over) {
    return fmt::format("Move {} and more elsewhere: it alone does not free {:.2f} GiB", what,
                       gib(over));
  }
  if (input.placement(t).cluster == ClusterType::DP) {
    return fmt::format("Shard {} instead of replicating it", what);
  }
  const std::int64_t kept = *largest - over;
  const std::int64_t parts = (*largest - 1) / kept + 1;
  return fmt::format(
      "Move {} elsewhere, or keep at most {:.2f} GiB of it there: 1 of {} equal parts", what,
      gib(kept), parts);
}

void check_gpus(const CheckInput& input, const MemoryAccount& account, Report& report) {
  const std::int64_t limit = whole_bytes(input.topology.gpu.memory_bytes.value);
  if (limit == 0) return;
  int told = 0;
  for (std::size_t rank = 0; rank < account.gpus.size(); ++rank) {
    const std::int64_t used = account.gpus[rank].total();
    if (used <= limit) continue;
    const auto r = static_cast<std::int32_t>(rank);
    report.error(
        "memory.gpu", {-1, -1, -1, r}, used - limit,
        fmt::format("GPU {} needs {:.2f} GiB of {:.2f} GiB, {:.2f} GiB too much ({})", rank,
                    gib(used), gib(limit), gib(used - limit), largest_parts(account.gpus[rank])),
        ++told > Report::kMostOfAKind ? "as above" : cure_of(input, r, used - limit));
  }
}

void check_hosts(const CheckInput& input, const MemoryAccount& account, Report& report) {
  const std::int64_t limit = whole_bytes(input.topology.host_memory_bytes.value);
  if (limit == 0) return;
  for (std::size_t host = 0; host < account.hosts.size(); ++host) {
    const std::int64_t used = account.hosts[host].total();
    if (used <= limit) continue;
    const auto first = static_cast<std::int32_t>(host) * input.topology.gpus_per_host;
    report.error(
        "memory.host", {-1, -1, -1, first}, used - limit,
        fmt::format("host {} needs {:.2f} GiB of {:.2f} GiB, {:.2f} GiB too much ({})", host,
                    gib(used), gib(limit), gib(used - limit), largest_parts(account.hosts[host])),
        "Move shards from uvm to hbm, or to other hosts");
  }
}

}  // namespace

void check_memory(const CheckInput& input, Executor executor, Report& report) {
  if (!memory_is_complete(input.workload, input.layout, executor)) {
    report.warning("memory.partial", {}, 0,
                   "the engine's buffers are too many to list at this size: only weights, state "
                   "and the dense part are counted",
                   "Use fewer row shards, or check for another executor");
  }
  const MemoryAccount account = memory_of(input.workload, input.topology, input.layout, executor);
  check_gpus(input, account, report);
  check_hosts(input, account, report);
}

}  // namespace shardscope
