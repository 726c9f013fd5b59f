#pragma once
// What each pane shows, as tab-separated text with a header: what Ctrl+C copies and CSV files hold.

#include <string>

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

[[nodiscard]] std::string shards_table(const Desktop& desktop);
[[nodiscard]] std::string predicted_table(const Desktop& desktop);
[[nodiscard]] std::string edits_table(const Desktop& desktop);
[[nodiscard]] std::string events_table(const Desktop& desktop);
[[nodiscard]] std::string range_table(const Desktop& desktop);
[[nodiscard]] std::string blocks_table(const Desktop& desktop);
[[nodiscard]] std::string run_stages_table(const Desktop& desktop);
[[nodiscard]] std::string run_ranks_table(const Desktop& desktop);
[[nodiscard]] std::string learning_table(const Desktop& desktop);
[[nodiscard]] std::string loads_table(const Desktop& desktop);
[[nodiscard]] std::string changes_table(const Desktop& desktop);
[[nodiscard]] std::string history_table(const Desktop& desktop);

/// Tab-separated text as comma-separated (RFC 4180).
[[nodiscard]] std::string csv_of(const std::string& tab_separated);

}  // namespace shardscope::ui
