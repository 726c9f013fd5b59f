#include "storage/import/trace/trace_totals.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "layout/memory.hpp"
#include "storage/import/trace/exchange_bytes.hpp"

namespace shardscope::storage {
namespace {

void add_work(const GpuWork& work, const WorkPlace& place, TraceRank& total) {
  const double ms = static_cast<double>(work.end_ns - work.start_ns) / 1e6;
  total.gpu_ms += ms;
  if (!place.mapped) {
    total.unmapped_ms += ms;
  } else if (place.collective) {
    const double waiting = static_cast<double>(place.waiting_ns) / 1e6;
    total.waiting_ms += waiting;
    total.exchange_ms += ms - waiting;
    total.intra_bytes += static_cast<double>(place.intra_bytes);
    total.inter_bytes += static_cast<double>(place.inter_bytes);
    const bool vectors =
        place.stage == Stage::network_forward || place.stage == Stage::network_backward;
    if (vectors) total.sent_bytes += static_cast<double>(place.sent_bytes);
  } else if (place.work == Work::dense) {
    total.dense_ms += ms;
  } else if (place.stage == Stage::model_forward || place.stage == Stage::index_calculation ||
             place.stage == Stage::local_reduce || place.stage == Stage::update) {
    total.embedding_ms += ms;
  }
}

void add_lookups(const RankTrace& trace, TraceRank& total) {
  // An iteration repeats the same operators: the largest number of calls of one kind tells how
  // often, the last call of each size what they read.
  double ids = 0;
  double ids_per_sample = 0;
  std::map<std::pair<std::int64_t, bool>, LookupCall> kinds;
  for (const LookupCall& call : trace.lookups) kinds[{call.elements, call.replicated}] = call;
  for (const auto& [key, call] : kinds) {
    if (call.replicated) {
      total.replicated_tables = saturating_add(total.replicated_tables, call.tables);
      total.replicated_elements = saturating_add(total.replicated_elements, call.elements);
      continue;
    }
    total.tables = saturating_add(total.tables, call.tables);
    total.elements = saturating_add(total.elements, call.elements);
    total.batch = std::max(total.batch, call.batch);
    ids += static_cast<double>(call.ids);
    if (call.batch > 0)
      ids_per_sample += static_cast<double>(call.ids) / static_cast<double>(call.batch);
  }
  total.ids = ids;
  total.ids_per_sample = ids_per_sample;
}

/// Bytes by receiving rank, where the exchange's call states them.
void add_splits(const RankTrace& trace, const WorkPlace& place, TraceRank& total) {
  constexpr std::int32_t kMostReceivers = 65536;
  const bool vectors =
      place.stage == Stage::network_forward || place.stage == Stage::network_backward;
  if (!vectors || place.call < 0) return;
  const CollectiveCall& call = trace.collectives[static_cast<std::size_t>(place.call)];
  if (call.sent_splits.empty()) return;
  const std::vector<std::int32_t> peers = peers_of(call, trace.world_size);
  if (peers.size() != call.sent_splits.size()) return;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] < 0 || peers[i] >= kMostReceivers) continue;
    const auto peer = static_cast<std::size_t>(peers[i]);
    if (peer >= total.sent_to.size()) total.sent_to.resize(peer + 1, 0);
    total.sent_to[peer] += static_cast<double>(call.sent_splits[i]);
  }
}

void per_iteration(TraceRank& total) {
  const double n = static_cast<double>(std::max<std::int64_t>(total.iterations, 1));
  for (double* value :
       {&total.gpu_ms, &total.embedding_ms, &total.dense_ms, &total.exchange_ms, &total.waiting_ms,
        &total.unmapped_ms, &total.sent_bytes, &total.intra_bytes, &total.inter_bytes}) {
    *value /= n;
  }
  for (double& bytes : total.sent_to) bytes /= n;
}

}  // namespace

TraceRank trace_totals(const RankTrace& trace, const std::vector<WorkPlace>& places,
                       std::int64_t iterations) {
  TraceRank total;
  total.rank = trace.rank;
  total.file = trace.file;
  total.iterations = iterations;
  for (std::size_t w = 0; w < trace.work.size(); ++w) {
    if (places[w].iteration < 0) continue;
    add_work(trace.work[w], places[w], total);
    add_splits(trace, places[w], total);
  }
  add_lookups(trace, total);
  per_iteration(total);
  return total;
}

std::vector<UnmappedName> unmapped_names(const std::vector<RankTrace>& ranks,
                                         const std::vector<std::vector<WorkPlace>>& places) {
  std::map<std::string, UnmappedName> by_name;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankTrace& trace = ranks[r];
    for (std::size_t w = 0; w < trace.work.size(); ++w) {
      if (places[r][w].mapped) continue;
      UnmappedName& one = by_name[trace.names.text(trace.work[w].name)];
      one.ms += static_cast<double>(trace.work[w].end_ns - trace.work[w].start_ns) / 1e6;
      ++one.count;
    }
  }
  std::vector<UnmappedName> names;
  for (auto& [name, one] : by_name) {
    one.name = name;
    names.push_back(std::move(one));
  }
  std::sort(names.begin(), names.end(),
            [](const UnmappedName& a, const UnmappedName& b) { return a.ms > b.ms; });
  return names;
}

}  // namespace shardscope::storage
