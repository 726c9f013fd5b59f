#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/commands/commands.hpp"
#include "app/inputs.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "layout/models.hpp"

namespace shardscope::app {
namespace {

std::string gb_per_s(const Quantity& quantity) {
  return fmt::format("{:.4g}", quantity.value / 1e9);
}

Status list_topologies(bool json) {
  TextTable table({{"machine", Align::left},
                   {"GPU", Align::left},
                   {"hosts x GPUs"},
                   {"fast domain"},
                   {"memory"},
                   {"HBM GB/s"},
                   {"intra GB/s"},
                   {"inter GB/s"}});
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& name : topology_names()) {
    const Result<Topology> topology = topology_by_name(name);
    if (!topology) return fail(topology.error());
    list.push_back({{"name", name},
                    {"gpu", topology->gpu.name},
                    {"hosts", topology->hosts},
                    {"gpus_per_host", topology->gpus_per_host},
                    {"fast_domain", topology->fast_domain},
                    {"memory_bytes", topology->gpu.memory_bytes.value},
                    {"memory_bytes_per_s", topology->gpu.memory_bytes_per_s.value},
                    {"intra_bytes_per_s", topology->intra.bytes_per_s.value},
                    {"inter_bytes_per_s", topology->inter.bytes_per_s.value}});
    table.row({name, topology->gpu.name,
               fmt::format("{} x {}", topology->hosts, topology->gpus_per_host),
               std::to_string(topology->fast_domain), bytes_text(topology->gpu.memory_bytes.value),
               gb_per_s(topology->gpu.memory_bytes_per_s), gb_per_s(topology->intra.bytes_per_s),
               gb_per_s(topology->inter.bytes_per_s)});
  }
  if (json) {
    fmt::print("{}\n", list.dump(2));
  } else {
    fmt::print(
        "{}\nNAME:NODES sets the hosts, NAME:NODESxGPUS also the GPUs of each. Bandwidths "
        "are one direction of one GPU.\n",
        table.text());
  }
  return {};
}

void add_quantity(TextTable& table, const std::string& name, const Quantity& quantity,
                  const std::string& value) {
  table.row({name, value, to_string(quantity.origin), quantity.date, quantity.source});
}

void add_link(TextTable& table, const std::string& name, const LinkModel& link) {
  add_quantity(table, name + " latency", link.latency_s,
               fmt::format("{:.3g} us", link.latency_s.value * 1e6));
  add_quantity(table, name + " latency a doubling", link.latency_per_doubling_s,
               fmt::format("{:.3g} us", link.latency_per_doubling_s.value * 1e6));
  add_quantity(table, name + " bandwidth", link.bytes_per_s, gb_per_s(link.bytes_per_s) + " GB/s");
  add_quantity(table, name + " efficiency", link.efficiency,
               fmt::format("{:.3g}", link.efficiency.value));
}

void print_topology(const Topology& topology) {
  fmt::print("{}: {} x {} ({}), {} in fast domains of {}; {} kept free on each\n\n", topology.name,
             counted(topology.hosts, "host"), counted(topology.gpus_per_host, "GPU"),
             topology.gpu.name, counted(topology.ranks(), "rank"), topology.fast_domain,
             bytes_text(static_cast<double>(topology.reserve_bytes)));
  TextTable table({{"number", Align::left},
                   {"value"},
                   {"origin", Align::left},
                   {"date", Align::left},
                   {"source", Align::left}});
  const Gpu& gpu = topology.gpu;
  const auto share = [](const Quantity& quantity) { return fmt::format("{:.3g}", quantity.value); };
  add_quantity(table, "memory", gpu.memory_bytes, bytes_text(gpu.memory_bytes.value));
  add_quantity(table, "memory bandwidth", gpu.memory_bytes_per_s,
               gb_per_s(gpu.memory_bytes_per_s) + " GB/s");
  add_quantity(table, "cache", gpu.cache_bytes, bytes_text(gpu.cache_bytes.value));
  add_quantity(table, "GEMM peak", gpu.gemm_flops_per_s,
               fmt::format("{:.4g} TFLOP/s", gpu.gemm_flops_per_s.value / 1e12));
  add_quantity(table, "GEMM efficiency", gpu.gemm_efficiency, share(gpu.gemm_efficiency));
  add_quantity(table, "gather efficiency", gpu.gather_efficiency, share(gpu.gather_efficiency));
  add_quantity(table, "reduce efficiency", gpu.reduce_efficiency, share(gpu.reduce_efficiency));
  if (gpu.update_efficiency.value > 0)
    add_quantity(table, "update efficiency", gpu.update_efficiency, share(gpu.update_efficiency));
  if (gpu.input_efficiency.value > 0)
    add_quantity(table, "input efficiency", gpu.input_efficiency, share(gpu.input_efficiency));
  add_quantity(table, "stream efficiency", gpu.stream_efficiency, share(gpu.stream_efficiency));
  add_quantity(table, "sort traffic a key", gpu.sort_bytes_per_key,
               fmt::format("{:.3g} B", gpu.sort_bytes_per_key.value));
  add_quantity(table, "kernel launch", gpu.launch_s,
               fmt::format("{:.3g} us", gpu.launch_s.value * 1e6));
  add_quantity(table, "cost of overlap", gpu.overlap_cost, share(gpu.overlap_cost));
  add_link(table, "intra", topology.intra);
  add_link(table, "inter", topology.inter);
  add_quantity(table, "host memory", topology.host_memory_bytes,
               bytes_text(topology.host_memory_bytes.value));
  add_quantity(table, "reader of a host", topology.reader_bytes_per_s,
               topology.reader_bytes_per_s.value > 0
                   ? gb_per_s(topology.reader_bytes_per_s) + " GB/s"
                   : "no limit");
  fmt::print("{}", table.text());
}

}  // namespace

Status topologies(const TopologiesOptions& options) {
  if (options.name.empty()) return list_topologies(options.json);
  const Result<Topology> topology = load_topology(options.name);
  if (!topology) return fail(topology.error());
  if (options.json) {
    fmt::print("{}\n", to_json(*topology));
  } else {
    print_topology(*topology);
  }
  return {};
}

}  // namespace shardscope::app
