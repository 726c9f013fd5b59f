#pragma once
// Tables x GPUs for large models: rows in groups of alike tables, one cell a table and GPU.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ui/model/document.hpp"

namespace shardscope::ui {

enum class MatrixValue : std::uint8_t { cost, memory, bytes };

/// A cell that is not empty.
struct MatrixCell {
  std::int32_t gpu = 0;
  float value = 0;
};

struct MatrixRow {
  std::int32_t table = 0;
  double cost_s = 0;
  std::vector<MatrixCell> cells;  ///< by GPU; one for all GPUs (gpu -1) where replicated
};

/// Tables of one cluster, size and hotness; of one decade of each where there are many sizes.
struct MatrixGroup {
  ClusterType cluster = ClusterType::RB;
  std::string label;  ///< "4.00M rows · hot 100"
  double cost_s = 0;
  std::vector<MatrixRow> rows;  ///< by first GPU, then cost
};

class MatrixModel {
 public:
  /// Nothing happens where that layout is shown already.
  void update(const Document& document, std::shared_ptr<const Layout> layout, MatrixValue value);
  [[nodiscard]] const std::vector<MatrixGroup>& groups() const { return groups_; }
  /// Largest cell, in the value's unit.
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] std::size_t shards() const { return shards_; }

 private:
  std::vector<MatrixGroup> groups_;
  double largest_ = 0;
  std::size_t shards_ = 0;
  std::shared_ptr<const Layout> layout_;
  MatrixValue value_ = MatrixValue::cost;
};

/// Rows of a group folded into `lines` lines: the largest value of each GPU's cells in a line.
/// Result: [line * gpus + gpu], 0 where empty.
[[nodiscard]] std::vector<float> fold_rows(const MatrixGroup& group, std::size_t lines,
                                           std::int32_t gpus);

}  // namespace shardscope::ui
