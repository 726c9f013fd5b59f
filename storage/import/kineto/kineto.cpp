#include "storage/import/kineto/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "storage/import/kineto/event_splitter.hpp"
#include "storage/import/kineto/kineto_json.hpp"
#include "storage/import/kineto/kineto_records.hpp"

namespace shardscope::storage {

struct KinetoReader::State {
  KinetoJson json;
  KinetoHead head;
  RankTrace trace;
  std::int64_t left_out = 0;

  [[nodiscard]] std::size_t records() const {
    return trace.work.size() + trace.calls.size() + trace.ranges.size() + trace.collectives.size() +
           trace.lookups.size();
  }
  void keep(KinetoCategory category, const KinetoEvent& event, std::int64_t start,
            std::int64_t end);
  void keep_collective(const KinetoEvent& event, std::int64_t start, std::int64_t end);
  /// True where the operator is one that is used.
  bool keep_operator(KinetoEvent& event, std::int64_t start, std::int64_t end);
};

void KinetoReader::State::keep_collective(const KinetoEvent& event, std::int64_t start,
                                          std::int64_t end) {
  auto call = kineto_collective(event);
  if (!call) return;
  call->start_ns = start;
  call->end_ns = end;
  call->thread = narrowed(event.thread);
  trace.collectives.push_back(std::move(*call));
}

bool KinetoReader::State::keep_operator(KinetoEvent& event, std::int64_t start, std::int64_t end) {
  event.args.correlation = 0;
  if (event.name == "record_param_comms" || event.name.starts_with("c10d::")) {
    keep_collective(event, start, end);
    return true;
  }
  const bool lookup =
      event.name.starts_with("fbgemm::") && event.name.find("lookup") != std::string::npos;
  if (!lookup) return false;
  if (auto call = kineto_lookup(event)) {
    call->start_ns = start;
    trace.lookups.push_back(*call);
  }
  return true;
}

void KinetoReader::State::keep(KinetoCategory category, const KinetoEvent& event,
                               std::int64_t start, std::int64_t end) {
  const std::uint32_t name = trace.names.id(event.name);
  const std::int32_t thread = narrowed(event.thread);
  if (category == KinetoCategory::call) {
    trace.calls.push_back(
        {start, end, name, static_cast<std::uint32_t>(event.args.correlation), thread});
  } else if (category == KinetoCategory::range) {
    trace.ranges.push_back({start, end, name, 0, thread});
    if (event.name.starts_with("nccl:")) keep_collective(event, start, end);
  } else {
    GpuWork work = kineto_work(category, event);
    work.start_ns = start;
    work.end_ns = end;
    work.name = name;
    trace.work.push_back(work);
    if (event.args.in_elements >= 0) keep_collective(event, start, end);
  }
}

KinetoReader::KinetoReader(std::string file) : state_(std::make_unique<State>()) {
  state_->trace.file = std::move(file);
}

KinetoReader::~KinetoReader() = default;

void KinetoReader::event(std::string_view text, std::int64_t line, ImportNotes& notes) {
  State& state = *state_;
  ++state.trace.events;
  KinetoEvent event;
  if (!state.json.event(text, event)) {
    return notes.warn_at(fmt::format("{}:{}", state.trace.file, line),
                         "an event is damaged and left out", "a JSON object");
  }
  const KinetoCategory category = kineto_category(event.category);
  const bool used = event.phase == "X" && event.start_ns && category != KinetoCategory::other &&
                    event.duration_ns >= 0 &&
                    (category != KinetoCategory::call || event.args.correlation != 0);
  if (!used) {
    ++state.trace.skipped;
    return;
  }
  if (state.records() >= kMostTraceRecords) {
    ++state.left_out;
    return;
  }
  const std::int64_t start = *event.start_ns;
  const std::int64_t end = start + std::min(event.duration_ns, kLongestWorkNs);
  if (category != KinetoCategory::op) return state.keep(category, event, start, end);
  if (!state.keep_operator(event, start, end)) ++state.trace.skipped;
}

std::int64_t KinetoReader::left_out() const {
  return state_->left_out;
}

void KinetoReader::field(std::string_view name, std::string_view value) {
  state_->json.field(name, value, state_->head);
}

/// Times count from the trace's base, which may stand behind the events. An absolute time under a
/// base of its own would run out of the years that nanoseconds can count: it is kept as absolute.
RankTrace KinetoReader::take() {
  RankTrace& trace = state_->trace;
  const std::int64_t base = state_->head.base_ns;
  trace.rank = state_->head.rank;
  trace.world_size = state_->head.world_size;
  trace.host_gpus = state_->head.devices;
  trace.device_name = state_->head.device_name;
  const auto shift = [&](auto& list) {
    for (auto& one : list) {
      if (one.start_ns > kLatestTraceNs - base) continue;
      one.start_ns += base;
      if constexpr (requires { one.end_ns; }) one.end_ns += base;
    }
  };
  shift(trace.work);
  shift(trace.calls);
  shift(trace.ranges);
  shift(trace.collectives);
  shift(trace.lookups);
  return std::move(trace);
}

namespace {

/// GPUs with at least a tenth of the busiest one's work.
std::size_t busy_devices(const RankTrace& trace) {
  std::map<std::int32_t, std::size_t> work;
  std::size_t most = 0;
  for (const GpuWork& one : trace.work) most = std::max(most, ++work[one.device]);
  return static_cast<std::size_t>(std::count_if(
      work.begin(), work.end(), [&](const auto& one) { return one.second * 10 >= most; }));
}

}  // namespace

Result<RankTrace> read_kineto(ByteStream& bytes, const std::string& name, ImportNotes& notes) {
  KinetoReader reader(name);
  SplitVisitor visitor;
  visitor.event = [&](std::string_view event, std::int64_t line) {
    reader.event(event, line, notes);
  };
  visitor.field = [&](std::string_view field, std::string_view value) {
    reader.field(field, value);
  };
  const auto counts = split_events(bytes, name, visitor);
  if (!counts) return fail(counts.error());
  if (counts->truncated) {
    notes.warn_at(fmt::format("{}:{}", name, counts->lines + 1),
                  fmt::format("the file ends early; {} events are kept", counts->events),
                  "the end of traceEvents");
  }
  if (counts->oversized > 0) {
    notes.warn_at(
        name, fmt::format("{} events are too large or too deep and left out", counts->oversized),
        "events below 4 MiB and 64 levels");
  }
  if (reader.left_out() > 0) {
    notes.warn_at(name, fmt::format("{} events are too many and left out", reader.left_out()),
                  fmt::format("{} records a file; profile fewer steps", kMostTraceRecords));
  }
  RankTrace trace = reader.take();
  if (const std::size_t devices = busy_devices(trace); devices > 1) {
    notes.warn_at(name, fmt::format("it has the work of {} GPUs, taken as one rank's", devices),
                  "one file a rank ('export --to perfetto --out DIR/' writes them so)");
  }
  return trace;
}

}  // namespace shardscope::storage
