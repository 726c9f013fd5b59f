// Building one frame of the desktop (lists only, no OpenGL): what a person waits for while
// dragging, and opening a session of ten million spans. Counters: draw vertices of the frame; boxes
// of the timeline; bytes of resident memory a span that the view shows.
// SHARDSCOPE_BENCH_SPANS: spans of the sessions (default 10,000,000).

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <imgui.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "profiler/clock.hpp"
#include "storage/session_writer.hpp"
#include "tests/temp_directory.hpp"
#include "ui/desktop/driver.hpp"

namespace {

using namespace shardscope;

/// `tables` tables of mixed size, whole on GPUs in turn.
std::unique_ptr<ui::Document> large_document(int tables, int hosts) {
  Workload workload = *model_by_name("t510");
  const std::vector<Table> kinds = workload.tables;
  const std::vector<Feature> features = workload.features;
  while (static_cast<int>(workload.tables.size()) < tables) {
    const std::size_t i = workload.tables.size() % kinds.size();
    Table table = kinds[i];
    table.name = "t" + std::to_string(workload.tables.size());
    Feature feature = features[i];
    feature.name = table.name;
    feature.table = static_cast<std::int32_t>(workload.tables.size());
    workload.tables.push_back(table);
    workload.features.push_back(feature);
  }
  Topology topology = *topology_by_name("dgx-h100:" + std::to_string(hosts));
  Layout layout = *baseline("table_wise", workload, topology);
  return std::make_unique<ui::Document>(std::move(workload), std::move(topology), std::move(layout),
                                        PredictOptions{});
}

void frames(benchmark::State& state, ui::Workspace workspace) {
  ui::GuiContext context(1);
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  ui::Desktop desktop;
  desktop.document =
      large_document(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)) / 8);
  desktop.choose(workspace);
  ui::Driver driver(context, desktop, 1920, 1080);
  for (int i = 0; i < 2000 && (i < 4 || desktop.busy); ++i) driver.frame();
  driver.move({900, 400});
  for (auto _ : state) driver.frame();
  state.counters["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
}

void frame_tune(benchmark::State& state) {
  frames(state, ui::Workspace::tune);
}
void frame_scale(benchmark::State& state) {
  frames(state, ui::Workspace::scale);
}
BENCHMARK(frame_tune)->Args({510, 128})->Args({2000, 1024})->Unit(benchmark::kMillisecond);
BENCHMARK(frame_scale)->Args({510, 128})->Args({2000, 1024})->Unit(benchmark::kMillisecond);

/// One edit followed by the mouse: price, check and memory of the layout after the drop.
void preview(benchmark::State& state) {
  const auto document =
      large_document(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)) / 8);
  std::int32_t to = 0;
  for (auto _ : state) {
    to = (to + 1) % document->topology().ranks();
    document->preview(*ui::edit_move(*document, {0, 0, 0}, to));
  }
}
BENCHMARK(preview)
    ->Args({26, 8})
    ->Args({510, 128})
    ->Args({2000, 1024})
    ->Unit(benchmark::kMillisecond);

/// Zooming through ten million spans of eight ranks, every frame another view.
void frame_timeline(benchmark::State& state) {
  std::vector<Span> spans;
  std::mt19937 random(1);
  const std::int64_t each = state.range(0) / 32;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    for (std::uint8_t stream = 0; stream < 4; ++stream) {
      std::int64_t at = 0;
      for (std::int64_t i = 0; i < each; ++i) {
        Span span;
        span.start_ns = at;
        span.end_ns = at + 500 + static_cast<std::int64_t>(random() % 3000);
        at = span.end_ns + static_cast<std::int64_t>(random() % 400);
        span.rank = rank;
        span.stream = stream;
        span.stage = static_cast<Stage>(random() % kStages);
        spans.push_back(span);
      }
    }
  }
  ui::GuiContext context(1);
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  ui::Desktop desktop;
  desktop.document = large_document(26, 1);
  desktop.choose(ui::Workspace::timeline);
  ui::open_timeline(desktop.timeline, ui::memory_source(std::move(spans), Mode::measured, "bench"),
                    "bench");
  ui::Driver driver(context, desktop, 1920, 1080);
  for (int i = 0; i < 8; ++i) driver.frame();
  const ui::Rect tracks = driver.rect("timeline/tracks");
  driver.move({tracks.center_x(), tracks.center_y()});
  int step = 0;
  for (auto _ : state) {
    ImGui::GetIO().MouseWheel = step++ % 40 < 20 ? 1 : -1;
    driver.frame();
  }
  // The frame after the last step reads events and statistics of the view.
  const std::int64_t begin_ns = thread_cpu_ns();
  driver.frame();
  state.counters["still_cpu_ms"] = static_cast<double>(thread_cpu_ns() - begin_ns) / 1e6;
  state.counters["boxes"] = desktop.timeline.boxes;
  state.counters["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
}
BENCHMARK(frame_timeline)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

std::int64_t bench_spans() {
  const char* text = std::getenv("SHARDSCOPE_BENCH_SPANS");
  const std::int64_t asked = text == nullptr ? 0 : std::atoll(text);
  return asked > 0 ? asked : 10'000'000;
}

/// A recorded run of eight ranks with four streams each; with levels of detail where it ended, as a
/// killed program leaves it where it did not.
class BenchSession {
 public:
  explicit BenchSession(bool ended) {
    storage::Session session = storage::Session::create(path()).value();
    storage::SessionWriter writer(session);
    const Workload workload = *model_by_name("criteo-kaggle");
    const Topology topology = *topology_by_name("host-cpu:1x8");
    RunInfo info;
    info.mode = Mode::measured;
    info.workload_json = to_json(workload);
    info.topology_json = to_json(topology);
    info.layout_json = to_json(*baseline("table_wise", workload, topology));
    info.ranks = kRanks;
    const std::int64_t run = writer.begin_run(info).value();
    const std::int64_t iterations = bench_spans() / (kRanks * kStreams * kStages);
    for (std::int64_t i = 0; i < iterations; ++i) record(writer, run, static_cast<std::int32_t>(i));
    if (ended && !writer.end_run(run, {})) std::abort();
    if (!writer.flush()) std::abort();
  }
  BenchSession(const BenchSession&) = delete;
  BenchSession& operator=(const BenchSession&) = delete;

  [[nodiscard]] std::string path() const { return folder_.file("bench.shardscope"); }

  /// Drops the file from the page cache.
  void make_cold() const {
    const int file = ::open(path().c_str(), O_RDONLY);
    if (file < 0) return;
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }

 private:
  static constexpr std::int32_t kRanks = 8;
  static constexpr std::int32_t kStreams = 4;
  static constexpr std::int64_t kSpanNs = 40'000;

  static void record(storage::SessionWriter& writer, std::int64_t run, std::int32_t index) {
    const std::int64_t start = index * kSpanNs * kStages;
    std::vector<Span> spans;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint8_t stream = 0; stream < kStreams; ++stream) {
        for (std::int64_t s = 0; s < kStages; ++s) {
          Span span;
          span.start_ns = start + s * kSpanNs + rank * 700 + stream * 900;
          span.end_ns = span.start_ns + 20'000 + (s * 7919 + index * 104'729) % 15'000;
          span.busy_ns = span.end_ns - span.start_ns;
          span.intra_bytes = 4096;
          span.iteration = index;
          span.rank = rank;
          span.stream = stream;
          span.stage = static_cast<Stage>(s);
          span.waiting = s % 5 == 2;
          spans.push_back(span);
        }
      }
    }
    writer.spans(run, spans);
    const Iteration iteration{.index = index,
                              .block = index / 10,
                              .start_ns = start,
                              .end_ns = start + kSpanNs * kStages,
                              .traced = true};
    writer.iterations(run, {&iteration, 1});
  }

  test::TempDirectory folder_;
};

const BenchSession& session_with_levels() {
  static const BenchSession session(true);
  return session;
}

const BenchSession& session_without_levels() {
  static const BenchSession session(false);
  return session;
}

double resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// From the file's name to the first frame with boxes, cold; then to the whole run in full detail.
void open_session(benchmark::State& state, const BenchSession& session) {
  double first_s = 0, whole_s = 0, slowest_frame_ms = 0;
  for (auto _ : state) {
    session.make_cold();
    const auto begin = std::chrono::steady_clock::now();
    const auto since = [&begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    ui::GuiContext context(1);
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui::Desktop desktop;
    if (!desktop.open_session(session.path())) state.SkipWithError("cannot be opened");
    desktop.choose(ui::Workspace::timeline);
    ui::Driver driver(context, desktop, 1920, 1080);
    driver.frame();
    for (int i = 0; i < 1000 && desktop.timeline.boxes == 0; ++i) driver.frame();
    first_s = since();
    state.SetIterationTime(first_s);
    desktop.timeline.view.fit_all();
    const double asked_s = since();
    driver.frame();
    slowest_frame_ms = desktop.frame_ms;
    for (int i = 0; i < 10'000 && desktop.busy; ++i) {
      driver.frame();
      slowest_frame_ms = std::max(slowest_frame_ms, desktop.frame_ms);
    }
    whole_s = since() - asked_s;
  }
  state.counters["whole_run_s"] = whole_s;
  state.counters["slowest_frame_ms"] = slowest_frame_ms;
}

void open_cold_with_levels(benchmark::State& state) {
  open_session(state, session_with_levels());
}
void open_cold_without_levels(benchmark::State& state) {
  open_session(state, session_without_levels());
}
BENCHMARK(open_cold_with_levels)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(open_cold_without_levels)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

/// Zooming in and out of such a session, every frame another view, from its file.
void frame_session(benchmark::State& state) {
  const double before = resident_bytes();
  ui::GuiContext context(1);
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  ui::Desktop desktop;
  if (!desktop.open_session(session_with_levels().path())) state.SkipWithError("cannot be opened");
  desktop.choose(ui::Workspace::timeline);
  ui::Driver driver(context, desktop, 1920, 1080);
  desktop.timeline.view.fit_all();
  driver.settle();
  desktop.timeline.folded.clear();
  driver.settle();
  const auto shown = static_cast<double>(desktop.timeline.shown_spans);
  if (shown <= 0) state.SkipWithError(("nothing is shown: " + desktop.timeline.error).c_str());
  const double bytes = resident_bytes() - before;
  const ui::Rect tracks = driver.rect("timeline/tracks");
  driver.move({tracks.center_x(), tracks.y0 + 60});
  int step = 0;
  double slowest_ms = 0;
  for (auto _ : state) {
    ImGui::GetIO().MouseWheel = step++ % 60 < 30 ? 1 : -1;
    driver.frame();
    slowest_ms = std::max(slowest_ms, desktop.frame_ms);
  }
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["boxes"] = desktop.timeline.boxes;
  state.counters["bytes_a_span_shown"] = shown > 0 ? bytes / shown : 0;
}
BENCHMARK(frame_session)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
