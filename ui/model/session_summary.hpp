#pragma once
// One line of the start screen for a session or a built-in model.

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/span.hpp"

namespace shardscope::ui {

struct SessionSummary {
  std::string path;
  std::string name;   ///< file name without its ending
  std::string error;  ///< why it cannot be opened; the rest is empty then
  std::string model, topology, layout;
  std::string how;  ///< "cpu/threads, 4 ranks"
  Mode mode = Mode::simulated;
  std::int64_t runs = 0;
  std::int64_t layouts = 0;
  double best_ms = 0;              ///< 0: nothing ran
  std::int64_t opened_utc_ns = 0;  ///< of the file's last change
};

/// Reads a session's head, without its records.
[[nodiscard]] SessionSummary summarize_session(const std::string& path);

struct ModelCard {
  std::string name;
  std::string source;
  std::size_t tables = 0;
  double weight_bytes = 0;
  double largest_rows = 0;
  std::vector<float> bars;  ///< log rows of each table, 0..1, largest first
};

/// The built-in models.
[[nodiscard]] std::vector<ModelCard> model_cards();

}  // namespace shardscope::ui
