// Building one frame of the desktop (lists only, no OpenGL): what a person waits for while
// dragging. Counters: draw vertices of the frame.

#include <benchmark/benchmark.h>
#include <imgui.h>

#include <random>

#include "layout/models.hpp"
#include "planner/baselines.hpp"
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
  ui::Desktop desktop;
  desktop.document = large_document(26, 1);
  desktop.choose(ui::Workspace::timeline);
  ui::open_timeline(desktop.timeline, ui::memory_source(std::move(spans), Mode::measured, "bench"),
                    "bench");
  ui::Driver driver(context, desktop, 1920, 1080);
  for (int i = 0; i < 8; ++i) driver.frame();
  const ui::Rect tracks = driver.rect("timeline/tracks");
  int step = 0;
  for (auto _ : state) {
    driver.wheel({tracks.center_x(), tracks.center_y()}, step++ % 40 < 20 ? 1 : -1);
  }
  state.counters["boxes"] = desktop.timeline.boxes;
}
BENCHMARK(frame_timeline)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
