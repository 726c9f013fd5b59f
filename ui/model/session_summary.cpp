#include "ui/model/session_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "layout/models.hpp"
#include "storage/documents.hpp"
#include "storage/queries/runs.hpp"
#include "ui/model/recorded_runs.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostBars = 56;

std::int64_t changed_utc_ns(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system.time_since_epoch()).count();
}

}  // namespace

SessionSummary summarize_session(const std::string& path) {
  SessionSummary summary;
  summary.path = path;
  summary.name = std::filesystem::path(path).stem().string();
  summary.opened_utc_ns = changed_utc_ns(path);
  const auto session = storage::Session::open(path, storage::Session::Access::read_only);
  if (!session) {
    summary.error = to_string(session.error());
    return summary;
  }
  const auto runs = storage::list_runs(*session);
  const auto layouts = storage::list_layouts(*session);
  if (!runs || !layouts) {
    summary.error = to_string(!runs ? runs.error() : layouts.error());
    return summary;
  }
  summary.runs = static_cast<std::int64_t>(runs->size());
  summary.layouts = static_cast<std::int64_t>(layouts->size());
  if (!layouts->empty()) summary.layout = layouts->back().name;
  for (const storage::RunRecord& run : *runs) {
    summary.model = run.workload_name;
    summary.topology = run.topology_name;
    summary.how = fmt::format("{}/{}, {} ranks", run.backend, run.comm, run.ranks);
    summary.mode = mode_of(run.mode);
    const bool better = summary.best_ms == 0 || run.iteration_ms < summary.best_ms;
    if (std::isfinite(run.iteration_ms) && run.iteration_ms > 0 && better) {
      summary.best_ms = run.iteration_ms;
      summary.layout = run.layout_name;
    }
  }
  return summary;
}

std::vector<ModelCard> model_cards() {
  std::vector<ModelCard> cards;
  for (const std::string& name : model_names()) {
    const auto model = model_by_name(name);
    if (!model) continue;
    ModelCard card;
    card.name = name;
    card.source = model->source;
    card.tables = model->tables.size();
    std::vector<double> rows;
    for (const Table& table : model->tables) {
      rows.push_back(static_cast<double>(table.rows));
      card.weight_bytes += static_cast<double>(table.rows) * table.dim * 4;
    }
    std::sort(rows.begin(), rows.end(), std::greater<>());
    card.largest_rows = rows.empty() ? 0 : rows.front();
    const std::size_t bars = std::min(rows.size(), kMostBars);
    for (std::size_t i = 0; i < bars; ++i) {
      const double value = rows[i * rows.size() / bars];
      card.bars.push_back(static_cast<float>(std::log1p(value) / std::log1p(card.largest_rows)));
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace shardscope::ui
