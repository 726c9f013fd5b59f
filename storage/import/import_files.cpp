#include "storage/import/import_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "storage/import/hugectr/hugectr_plan.hpp"
#include "storage/import/hugectr/mlperf_log.hpp"
#include "storage/import/input_text.hpp"
#include "storage/import/kineto/kineto.hpp"
#include "storage/import/nsys_import.hpp"
#include "storage/import/tbe_config.hpp"
#include "storage/import/torchrec/torchrec_plan.hpp"
#include "storage/import/torchrec/torchrec_stats.hpp"
#include "storage/import/trace/trace_source.hpp"
#include "storage/import/trace/trace_tables.hpp"

namespace shardscope::storage {
namespace {

Status add_hugectr(std::string_view text, const ImportContext& context, Imported& out) {
  const auto plans = read_hugectr_plans(text, out.notes);
  if (!plans) return fail(plans.error());
  for (const HugectrPlan& plan : *plans) {
    auto resolved = resolve_hugectr_plan(plan, context, out.notes);
    if (!resolved) return fail(resolved.error());
    out.plans.push_back(std::move(*resolved));
  }
  return {};
}

/// JSON, or the printed tables.
Status add_torchrec(std::string_view text, const ImportContext& context, Imported& out) {
  const bool json = text.find("\"sharding_type\"") != std::string_view::npos ||
                    text.find("'sharding_type'") != std::string_view::npos;
  const auto plan =
      json ? read_torchrec_json(text, out.notes) : read_torchrec_text(text, out.notes);
  if (!plan) return fail(plan.error());
  auto resolved = resolve_torchrec_plan(*plan, context, out.notes);
  if (!resolved) return fail(resolved.error());
  out.plans.push_back(std::move(*resolved));
  return {};
}

/// The printed box, or its table section as CSV.
Status add_stats(std::string_view text, const ImportContext& context, Imported& out) {
  const bool csv = text.starts_with("fqn,");
  const auto stats =
      csv ? read_torchrec_stats_csv(text, out.notes) : read_torchrec_stats(text, out.notes);
  if (!stats) return fail(stats.error());
  auto resolved = resolve_torchrec_stats(*stats, context, out.notes);
  if (!resolved) return fail(resolved.error());
  out.plans.push_back(std::move(*resolved));
  return {};
}

Status add_tbe(std::string_view text, Imported& out) {
  auto workloads = read_tbe_configs(text, out.notes);
  if (!workloads) return fail(workloads.error());
  for (Workload& workload : *workloads) {
    ImportedPlan plan;
    plan.name = workload.name;
    plan.workload = std::move(workload);
    out.plans.push_back(std::move(plan));
  }
  return {};
}

/// What was measured, with the plan where the log prints one.
Status add_mlperf(std::string_view text, const ImportContext& context, Imported& out) {
  const auto plan = read_mlperf_log(text, out.notes);
  if (!plan) return fail(plan.error());
  if (plan->ranks > 0) {
    auto resolved = resolve_hugectr_plan(*plan, context, out.notes);
    if (!resolved) return fail(resolved.error());
    out.plans.push_back(std::move(*resolved));
    return {};
  }
  ImportedPlan measured;
  measured.name = "mlperf";
  measured.facts = plan->facts;
  out.plans.push_back(std::move(measured));
  return {};
}

/// Arranges the ranks' traces and looks for the layout that they ran.
Status add_traces(std::vector<RankTrace> ranks, const ImportContext& context, const KernelMap& map,
                  Imported& out) {
  if (ranks.empty()) {
    return fail(
        {ErrorKind::usage, "there are no traces", out.notes.file(), "*.json or *.json.gz", ""});
  }
  for (const RankTrace& trace : ranks) {
    out.notes.skip(trace.skipped);
    if (out.device_name.empty()) out.device_name = trace.device_name;
  }
  out.trace = arrange_trace(std::move(ranks), map, out.notes,
                            context.topology ? context.topology->fast_domain : 0);
  std::int64_t work = 0;
  std::int64_t events = 0;
  for (const RankTrace& trace : out.trace->ranks) {
    work += static_cast<std::int64_t>(trace.work.size());
    events += trace.events;
  }
  if (work == 0) {
    out.notes.warn(0, "the traces hold no GPU work", "kernels (activities=[CUDA])");
  }
  out.notes.kept(fmt::format("{} of {} ranks, {} pieces of GPU work of {} events, {} iterations",
                             out.trace->ranks.size(), out.trace->world_size, work, events,
                             out.trace->iterations.size()));
  const auto count = static_cast<std::int32_t>(out.trace->ranks.size());
  if (auto plan = identify_tables(*out.trace, context, out.notes)) {
    const std::int32_t local = count % 8 == 0 ? 8 : count;
    plan->topology = context.topology
                         ? *context.topology
                         : machine_for(out.device_name, count / local, local, out.notes);
    if (plan->topology->ranks() == count) out.plans.push_back(std::move(*plan));
  }
  return {};
}

Status add_kineto(const std::vector<std::string>& paths, const ImportContext& context,
                  const KernelMap& map, const ImportProgress& progress, Imported& out) {
  std::vector<RankTrace> ranks;
  std::vector<RankTrace> without_events;
  std::optional<Error> first_trouble;
  const Status read = for_each_trace(paths, out.notes, progress, [&](const TraceMember& member) {
    auto trace = read_kineto(*member.bytes, member.name, out.notes);
    if (!trace) {
      if (trace.error().kind != ErrorKind::usage) return Status(fail(trace.error()));
      out.notes.warn_at(member.name, trace.error().what + "; it is left out",
                        trace.error().expected);
      if (!first_trouble) first_trouble = trace.error();
      return Status();
    }
    (trace->events > 0 ? ranks : without_events).push_back(std::move(*trace));
    return Status();
  });
  if (!read) return read;
  if (ranks.empty() && first_trouble) return fail(*first_trouble);
  if (ranks.empty()) std::swap(ranks, without_events);
  for (const RankTrace& trace : without_events) {
    out.notes.warn_at(trace.file, "it has no events and is left out", "traceEvents");
  }
  return add_traces(std::move(ranks), context, map, out);
}

/// Every file counts from its own start: where all say when that was, they count from the first's.
void join_clocks(std::vector<RankTrace>& ranks) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const RankTrace& trace : ranks) {
    if (trace.clock_utc_ns == 0) return;
    first = std::min(first, trace.clock_utc_ns);
  }
  for (RankTrace& trace : ranks) {
    const std::int64_t later = trace.clock_utc_ns - first;
    const auto shift = [&](auto& list) {
      for (auto& one : list) {
        one.start_ns += later;
        one.end_ns += later;
      }
    };
    shift(trace.work);
    shift(trace.calls);
    shift(trace.ranges);
  }
}

/// Several files are merged: each GPU of a process is a rank.
Status add_nsys(const std::vector<std::string>& given, const ImportContext& context,
                const KernelMap& map, const ImportProgress& progress, Imported& out) {
  std::vector<std::string> paths;
  for (const std::string& path : given) {
    std::error_code error;
    const std::vector<std::string> inside =
        std::filesystem::is_directory(path, error) ? nsys_files(path) : std::vector{path};
    paths.insert(paths.end(), inside.begin(), inside.end());
  }
  std::vector<RankTrace> ranks;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (progress && !progress(static_cast<double>(i) / static_cast<double>(paths.size()))) {
      return fail({ErrorKind::runtime, "the import was cancelled", paths[i], "", ""});
    }
    auto traces = read_nsys(paths[i], out.notes);
    if (!traces) return fail(traces.error());
    for (RankTrace& trace : *traces) ranks.push_back(std::move(trace));
  }
  join_clocks(ranks);
  return add_traces(std::move(ranks), context, map, out);
}

Status add_text(const std::string& path, const ImportContext& context, Imported& out) {
  const Result<std::string> text = read_input_text(path, out.notes);
  if (!text) return fail(text.error());
  switch (out.kind) {
    case ImportKind::hugectr:
      return add_hugectr(*text, context, out);
    case ImportKind::torchrec:
      return add_torchrec(*text, context, out);
    case ImportKind::torchrec_stats:
      return add_stats(*text, context, out);
    case ImportKind::tbe:
      return add_tbe(*text, out);
    case ImportKind::mlperf:
      return add_mlperf(*text, context, out);
    case ImportKind::nccl_tests:
      return fail({ErrorKind::usage, "measurements of links are no plan or trace", path, "",
                   "Fit a machine's links to them: shardscope calibrate --from nccl-tests FILE "
                   "--topology NAME"});
    default:
      break;
  }
  return fail({ErrorKind::usage, fmt::format("{} files hold no plan or trace", to_string(out.kind)),
               path, import_kinds(), "nccl-tests are for calibration"});
}

}  // namespace

Result<Imported> import_files(ImportKind kind, const std::vector<std::string>& paths,
                              const ImportContext& context, const KernelMap& map,
                              const ImportProgress& progress) {
  Imported out;
  out.kind = kind;
  if (kind == ImportKind::kineto || kind == ImportKind::nsys) {
    out.notes = ImportNotes(paths.empty() ? "" : paths.front());
    const Status done = kind == ImportKind::kineto ? add_kineto(paths, context, map, progress, out)
                                                   : add_nsys(paths, context, map, progress, out);
    if (!done) return fail(done.error());
    return out;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (progress && !progress(static_cast<double>(i) / static_cast<double>(paths.size()))) {
      return fail({ErrorKind::runtime, "the import was cancelled", paths[i], "", ""});
    }
    ImportNotes before = std::move(out.notes);
    out.notes = ImportNotes(paths[i]);
    const Status done = add_text(paths[i], context, out);
    before.add(out.notes);
    out.notes = std::move(before);
    if (!done) return fail(done.error());
  }
  return out;
}

}  // namespace shardscope::storage
