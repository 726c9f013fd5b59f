#pragma once
// Columns of the printed report's table section, and one line of it as cells by column.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::storage {

enum class StatsColumn : std::uint8_t {
  fqn,
  sharding,
  kernel,
  perf,
  storage,
  cache_load_factor,
  sum_pooling,
  sum_num_poolings,
  num_indices,
  output,
  weighted,
  sharder,
  features,
  dim,
  rows,
  ranks,
  batch_sizes,
};

/// Columns in the order of a header line; empty where it is none. Older and newer names are known.
[[nodiscard]] std::vector<StatsColumn> stats_columns(std::string_view header);

/// The columns of TorchRec 1.x, for reports whose header was cut off.
[[nodiscard]] const std::vector<StatsColumn>& usual_stats_columns();

/// A line's words: blanks separate, but not inside (...) or [...]; such groups are words of their
/// own.
[[nodiscard]] std::vector<std::string_view> stats_words(std::string_view line);

/// One column's text: its word and, after a number, the group that belongs to it.
struct StatsCell {
  std::string_view word;
  std::string_view group;  ///< "(...)" or empty
};

/// Cells in the order of the columns; fewer where the line ends early. Nothing where the words
/// cannot be dealt out (a line of something else).
[[nodiscard]] std::optional<std::vector<StatsCell>> stats_cells(
    const std::vector<std::string_view>& words, const std::vector<StatsColumn>& columns);

/// The first number of a text ("(72%)" is 72); nothing where there is none.
[[nodiscard]] std::optional<double> stats_number(std::string_view text);

/// Every number of a text in order.
[[nodiscard]] std::vector<double> stats_numbers(std::string_view text);

/// "0-95", "11,27,27", "8 10 13", "[0, 1]". At most 65536 ranks, each below 65536.
[[nodiscard]] std::vector<std::int32_t> stats_ranks(std::string_view text);

}  // namespace shardscope::storage
