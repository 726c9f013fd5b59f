#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/import_report.hpp"
#include "app/inputs.hpp"
#include "app/text_table.hpp"
#include "layout/json.hpp"
#include "storage/import/import_files.hpp"
#include "storage/import/input_text.hpp"
#include "storage/import/nccl_tests.hpp"

namespace shardscope::app {
namespace {

/// What the files let one see of a machine.
struct Findings {
  storage::ExchangeCurve exchange;
  double gather_bytes_per_s = 0;  ///< of the rank that reached most; 0: not visible
  std::vector<std::string> missing;
  storage::ImportNotes notes;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

/// Bytes of rows that a rank looks up in an iteration, by the time of its lookup kernels.
double gather_rate(const storage::Imported& imported) {
  if (imported.plans.empty() || !imported.plans.front().layout) return 0;
  const storage::ImportedTrace& trace = *imported.trace;
  const Table& table = imported.plans.front().workload->tables.front();
  double best = 0;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    double ms = 0;
    for (std::size_t w = 0; w < trace.ranks[r].work.size(); ++w) {
      const storage::WorkPlace& place = trace.places[r][w];
      const std::string& name = trace.ranks[r].names.text(trace.ranks[r].work[w].name);
      const bool lookup = place.mapped && place.stage == Stage::model_forward &&
                          place.work == Work::RB && name.find("forward") != std::string::npos;
      if (!lookup) continue;
      ms += static_cast<double>(trace.ranks[r].work[w].end_ns - trace.ranks[r].work[w].start_ns) /
            1e6;
    }
    ms /= static_cast<double>(std::max<std::int64_t>(trace.totals[r].iterations, 1));
    const double bytes =
        trace.totals[r].ids * table.dim * static_cast<double>(bytes_of(table.dtype));
    if (ms > 0) best = std::max(best, bytes / (ms * 1e-3));
  }
  return best;
}

Result<Findings> findings_of(const CalibrateOptions& options, const Topology& topology) {
  Findings found;
  found.notes = storage::ImportNotes(options.files.front());
  if (options.from == "nccl-tests") {
    const auto text = storage::read_input_text(options.files.front(), found.notes);
    if (!text) return fail(text.error());
    const auto curve = storage::read_nccl_tests(*text, topology.ranks(), found.notes);
    if (!curve) return fail(curve.error());
    found.exchange = *curve;
    found.missing = {"gather", "reduce and update", "GEMM", "sort", "launch"};
    return found;
  }
  const auto kind = storage::parse_import_kind(options.from);
  if (kind != storage::ImportKind::kineto && kind != storage::ImportKind::nsys) {
    return fail({ErrorKind::usage, "nothing is fitted from \"" + options.from + "\"", "--from",
                 "kineto, nsys or nccl-tests", ""});
  }
  const auto imported =
      storage::import_files(*kind, options.files, {}, storage::built_in_kernel_map(), {});
  if (!imported) return fail(imported.error());
  found.notes = imported->notes;
  found.exchange = storage::exchange_curve(*imported->trace);
  found.gather_bytes_per_s = gather_rate(*imported);
  if (found.exchange.by_size.empty())
    found.missing.emplace_back("exchange (no sizes are recorded)");
  if (found.gather_bytes_per_s == 0) found.missing.emplace_back("gather (dims are not recorded)");
  for (const char* constant : {"reduce and update (fused, rows are not recorded)",
                               "GEMM (shapes are not recorded)", "sort", "launch"}) {
    found.missing.emplace_back(constant);
  }
  return found;
}

/// The topology with what was seen; an efficiency above 1 is refused, not stored.
Topology fitted(Topology topology, Findings& found, const std::string& source) {
  LinkModel& link = topology.domains() == 1 ? topology.intra : topology.inter;
  if (!found.exchange.by_size.empty()) link.by_size = found.exchange.by_size;
  const double peak = topology.gpu.memory_bytes_per_s.value;
  if (found.gather_bytes_per_s > 0 && peak > 0) {
    const double efficiency = found.gather_bytes_per_s / peak;
    if (efficiency <= 1) {
      topology.gpu.gather_efficiency = {efficiency, Origin::measured, source, today()};
    } else {
      found.missing.push_back(
          fmt::format("gather: {} a second are above the memory's peak (rows came from the cache)",
                      bytes_text(found.gather_bytes_per_s)));
    }
  }
  return topology;
}

nlohmann::ordered_json findings_json(const Findings& found, const Topology& topology) {
  nlohmann::ordered_json json = {
      {"topology", topology.name},
      {"link", topology.domains() == 1 ? "intra" : "inter"},
      {"exchange", nlohmann::ordered_json::array()},
      {"gather_efficiency", topology.gpu.gather_efficiency.value},
      {"gather_origin", to_string(topology.gpu.gather_efficiency.origin)},
      {"missing", found.missing}};
  for (const BandwidthPoint& point : found.exchange.by_size) {
    json["exchange"].push_back(
        {{"message_bytes", point.message_bytes}, {"bytes_per_s", point.bytes_per_s}});
  }
  return json;
}

void print_findings(const Findings& found, const Topology& topology) {
  fmt::print("{}", import_notes_text(found.notes));
  if (!found.exchange.by_size.empty()) {
    fmt::print("\nExchange over the {} links of {} ({} collectives):\n",
               topology.domains() == 1 ? "fast" : "slow", topology.name, found.exchange.samples);
    TextTable table({{"message"}, {"GB/s a rank"}});
    for (const BandwidthPoint& point : found.exchange.by_size) {
      table.row({bytes_text(point.message_bytes), fmt::format("{:.4g}", point.bytes_per_s / 1e9)});
    }
    fmt::print("{}", table.text(2));
  }
  if (topology.gpu.gather_efficiency.origin == Origin::measured) {
    fmt::print("Gather: {:.3f} of the memory's peak ({}/s)\n", topology.gpu.gather_efficiency.value,
               bytes_text(found.gather_bytes_per_s));
  }
  for (const std::string& constant : found.missing) fmt::print("not seen  {}\n", constant);
}

}  // namespace

Status calibrate_command(const CalibrateOptions& options) {
  const auto topology = load_topology(options.topology);
  if (!topology) return fail(topology.error());
  auto found = findings_of(options, *topology);
  if (!found) return fail(found.error());
  const Topology result = fitted(*topology, *found, options.files.front());
  if (!options.out.empty()) {
    std::ofstream out(options.out, std::ios::binary);
    out << to_json(result) << '\n';
    out.close();
    if (!out) {
      return fail({ErrorKind::runtime, "the file cannot be written", options.out, "",
                   "Choose a folder that exists and that you may write"});
    }
  }
  if (options.json) {
    fmt::print("{}\n", findings_json(*found, result).dump(2));
  } else {
    print_findings(*found, result);
    if (!options.out.empty()) fmt::print("wrote  {}\n", options.out);
  }
  return {};
}

}  // namespace shardscope::app
