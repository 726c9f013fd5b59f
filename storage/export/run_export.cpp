#include "storage/export/run_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>

#include "layout/json_value.hpp"
#include "storage/export/span_rows.hpp"
#include "storage/queries/runs.hpp"

namespace shardscope::storage {
namespace {

constexpr int kMainThread = 1;             ///< of the CPU side: steps
constexpr int kFirstStream = 7;            ///< HTA takes stream 0 for none
constexpr std::int64_t kCpuPid = 1000000;  ///< + rank: the CPU side of a rank

std::string quoted_json(const std::string& text) {
  return write_json_line(JsonValue(text));
}

std::string micros(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

/// One file with its head; events are separated by commas. A run may have more ranks than a process
/// may have files open: suspend() closes it until the next event.
class TraceFile {
 public:
  TraceFile(std::string path, std::int32_t rank, const RunRecord& run) : path_(std::move(path)) {
    out_.open(path_, std::ios::binary | std::ios::trunc);
    // Holistic Trace Analysis looks for `"rank": N` with the blank.
    out_ << fmt::format(
        "{{\"schemaVersion\": 1,\n"
        "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n"
        "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n"
        "\"shardscope\": {{\"run\": {}, \"mode\": {}, \"layout\": {}, \"workload\": {}}},\n"
        "\"traceEvents\": [\n",
        rank, run.ranks, run.start_utc_ns, run.id, quoted_json(run.mode),
        quoted_json(run.layout_name), quoted_json(run.workload_name));
  }

  void event(const std::string& text) {
    if (!out_.is_open() && sound_) out_.open(path_, std::ios::binary | std::ios::app);
    out_ << (first_ ? "" : ",\n") << text;
    first_ = false;
  }

  void suspend() {
    if (!out_.is_open()) return;
    out_.close();
    sound_ = sound_ && out_.good();
  }

  Status close() {
    end_events();
    suspend();
    if (sound_) return {};
    return fail({ErrorKind::runtime, "the file cannot be written", path_, "",
                 "Choose a folder that exists and that you may write"});
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void end_events() {
    if (!out_.is_open() && sound_) out_.open(path_, std::ios::binary | std::ios::app);
    out_ << "\n]}\n";
    sound_ = sound_ && out_.is_open() && out_.good();
  }

  std::string path_;
  std::ofstream out_;
  bool first_ = true;
  bool sound_ = true;
};

std::string complete_event(const char* category, const std::string& name, std::int64_t pid,
                           std::int64_t tid, std::int64_t start_ns, std::int64_t end_ns,
                           const std::string& args) {
  return fmt::format(
      "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {}, "
      "\"dur\": {}, \"args\": {{{}}}}}",
      category, quoted_json(name), pid, tid, micros(start_ns), micros(end_ns - start_ns), args);
}

std::string meta_event(const char* kind, std::int64_t pid, std::int64_t tid,
                       const std::string& args) {
  return fmt::format(
      "{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": 0, \"args\": {{{}}}}}",
      kind, pid, tid, args);
}

const char* copy_name(std::int32_t kind) {
  switch (kind) {
    case 1:
      return "Memcpy HtoD (Pinned -> Device)";
    case 2:
      return "Memcpy DtoH (Device -> Pinned)";
    case 8:
      return "Memcpy DtoD (Device -> Device)";
    case 10:
      return "Memcpy PtoP (Device -> Device)";
    default:
      return "Memcpy";
  }
}

/// Time on the wires: waiting for peers, and spans that sent bytes.
bool is_exchange(const Span& span) {
  return span.waiting || span.intra_bytes > 0 || span.inter_bytes > 0;
}

class PerfettoWriter {
 public:
  PerfettoWriter(const RunRecord& run, const std::string& path) : run_(run) {
    std::error_code error;
    by_rank_ = path.ends_with('/') || std::filesystem::is_directory(path, error);
    if (by_rank_) std::filesystem::create_directories(path, error);
    for (std::int32_t rank = 0; rank < (by_rank_ ? run.ranks : 1); ++rank) {
      const std::string name =
          by_rank_ ? (std::filesystem::path(path) / fmt::format("rank-{}.json", rank)).string()
                   : path;
      files_.push_back(std::make_unique<TraceFile>(name, rank, run));
      if (by_rank_) files_.back()->suspend();
    }
    for (std::int32_t rank = 0; rank < run.ranks; ++rank) describe(rank);
  }

  void steps(const std::vector<Iteration>& iterations) {
    for (std::int32_t rank = 0; rank < run_.ranks; ++rank) {
      for (const Iteration& one : iterations) {
        file(rank).event(
            complete_event("user_annotation", fmt::format("ProfilerStep#{}", one.index),
                           kCpuPid + rank, kMainThread, one.start_ns, one.end_ns,
                           fmt::format("\"External id\": {}, \"stream\": -1, \"correlation\": -1",
                                       one.index + 1)));
      }
    }
  }

  /// Where nothing ran on a GPU the spans stand for the kernels: on the stream of their track, and
  /// exchanges under the name by which tools know collectives. Beside kernels they are annotations
  /// of no stream, or tools would count the time twice.
  void span(const Span& one, bool as_kernel) {
    const std::int64_t stream = kFirstStream + one.stream;
    const std::string name =
        fmt::format("{}{} {}{}", as_kernel && is_exchange(one) ? "nccl:" : "", to_string(one.stage),
                    to_string(one.work), one.waiting ? " (waiting)" : "");
    const std::string args = fmt::format(
        "\"stream\": {}, \"device\": {}, \"context\": 1, \"correlation\": {}, \"bytes\": {}, "
        "\"rows\": {}, \"iteration\": {}, \"stage\": \"{}\", \"work\": \"{}\", \"mode\": \"{}\"",
        as_kernel ? stream : -1, one.rank, as_kernel ? ++correlation_ : -1,
        one.intra_bytes + one.inter_bytes, one.rows, one.iteration, to_string(one.stage),
        to_string(one.work), run_.mode);
    file(one.rank).event(complete_event(as_kernel ? "kernel" : "gpu_user_annotation", name,
                                        one.rank, as_kernel ? stream : stream + 1000, one.start_ns,
                                        one.end_ns, args));
    if (!as_kernel) return;
    file(one.rank).event(complete_event(
        "cuda_runtime", "cudaLaunchKernel", kCpuPid + one.rank, kMainThread, one.start_ns,
        one.start_ns, fmt::format("\"correlation\": {}, \"stream\": -1", correlation_)));
  }

  void activity(const ActivityRow& one) {
    if (one.rank < 0 || one.rank >= run_.ranks) return;
    const std::string common =
        fmt::format("\"correlation\": {}, \"External id\": {}", one.correlation, one.correlation);
    if (one.kind == ActivityRow::Kind::runtime) {
      file(one.rank).event(complete_event("cuda_runtime", one.name, kCpuPid + one.rank, one.stream,
                                          one.start_ns, one.end_ns, common + ", \"stream\": -1"));
      return;
    }
    const std::int64_t stream = one.stream == 0 ? kFirstStream : one.stream;
    std::string args = fmt::format("\"stream\": {}, \"device\": {}, \"context\": {}, {}", stream,
                                   one.device, one.context, common);
    const char* category = "kernel";
    std::string name = one.name;
    if (one.kind == ActivityRow::Kind::kernel) {
      args += fmt::format(
          ", \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"registers per thread\": {}, "
          "\"shared memory\": {}",
          one.grid[0], one.grid[1], one.grid[2], one.block[0], one.block[1], one.block[2],
          one.registers, one.shared_bytes);
    } else {
      const bool copy = one.kind == ActivityRow::Kind::memcpy;
      category = copy ? "gpu_memcpy" : "gpu_memset";
      name = copy ? copy_name(one.detail) : "Memset (Device)";
      const auto ns = static_cast<double>(std::max<std::int64_t>(one.end_ns - one.start_ns, 1));
      args += fmt::format(", \"bytes\": {}, \"memory bandwidth (GB/s)\": {:.6g}", one.bytes,
                          static_cast<double>(one.bytes) / ns);
    }
    file(one.rank).event(
        complete_event(category, name, one.rank, stream, one.start_ns, one.end_ns, args));
  }

  Result<std::vector<std::string>> close() {
    std::vector<std::string> paths;
    for (const auto& one : files_) {
      if (Status done = one->close(); !done) return fail(done.error());
      paths.push_back(one->path());
    }
    return paths;
  }

 private:
  /// Records come rank after rank: one file is open at a time.
  TraceFile& file(std::int32_t rank) {
    const std::size_t index = by_rank_ ? static_cast<std::size_t>(rank) : 0;
    if (index != open_) files_[open_]->suspend();
    open_ = index;
    return *files_[index];
  }

  void describe(std::int32_t rank) {
    const auto name = [&](std::int64_t pid, const std::string& text) {
      file(rank).event(meta_event("process_name", pid, 0, "\"name\": " + quoted_json(text)));
      file(rank).event(
          meta_event("process_sort_index", pid, 0, fmt::format("\"sort_index\": {}", rank)));
    };
    name(rank, fmt::format("rank {} ({})", rank, run_.mode));
    name(kCpuPid + rank, fmt::format("rank {} steps and calls", rank));
  }

  const RunRecord& run_;
  bool by_rank_ = false;
  std::vector<std::unique_ptr<TraceFile>> files_;
  std::size_t open_ = 0;
  std::int64_t correlation_ = 0;
};

}  // namespace

Result<std::vector<std::string>> export_perfetto(const Session& session, std::int64_t run,
                                                 const std::string& path) {
  const auto record = find_run(session, run);
  if (!record) return fail(record.error());
  constexpr std::int64_t kMostExportedRanks = 65536;
  if (record->ranks < 1 || record->ranks > kMostExportedRanks) {
    return fail({ErrorKind::usage, fmt::format("run {} has {} ranks", run, record->ranks),
                 session.path(), "1 to 65536 ranks", ""});
  }
  const auto iterations = iterations_of(session, run);
  if (!iterations) return fail(iterations.error());
  PerfettoWriter writer(*record, path);
  writer.steps(*iterations);
  const auto activities =
      for_each_activity(session, run, [&](const ActivityRow& one) { writer.activity(one); });
  if (!activities) return fail(activities.error());
  const Status spans = for_each_span(session, run, [&](const Span& one) {
    if (one.rank >= 0 && one.rank < record->ranks) writer.span(one, *activities == 0);
  });
  if (!spans) return fail(spans.error());
  return writer.close();
}

Status export_csv(const Session& session, std::int64_t run, const std::string& path) {
  const auto record = find_run(session, run);
  if (!record) return fail(record.error());
  std::ofstream out(path, std::ios::binary);
  out << "rank,stream,iteration,stage,work,start_us,duration_us,waiting,busy_us,intra_bytes,"
         "inter_bytes,rows,mode\n";
  const Status done = for_each_span(session, run, [&](const Span& one) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", one.rank, one.stream,
                       one.iteration, to_string(one.stage), to_string(one.work),
                       micros(one.start_ns), micros(one.end_ns - one.start_ns), one.waiting ? 1 : 0,
                       micros(one.busy_ns), one.intra_bytes, one.inter_bytes, one.rows,
                       record->mode);
  });
  if (!done) return done;
  out.close();
  if (out) return {};
  return fail({ErrorKind::runtime, "the file cannot be written", path, "",
               "Choose a folder that exists and that you may write"});
}

}  // namespace shardscope::storage
