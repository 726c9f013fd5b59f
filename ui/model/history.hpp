#pragma once
// Every layout of a document in a tree: undo and redo without limit, branches kept, notes, the
// reference star.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.hpp"

namespace shardscope::ui {

/// One state of the layout. Children are edits made from it.
struct HistoryNode {
  int parent = -1;
  std::shared_ptr<const Layout> layout;
  std::string edit;  ///< what led here: "Move (10, 0, 0) to GPU 5"
  std::string note;
  double predicted_s = 0;            ///< 0: not known
  std::optional<double> measured_s;  ///< of the last run
  std::int64_t session_layout = 0;   ///< its id in the session; 0: not stored
  std::vector<int> children;
  int redo = -1;  ///< child that redo leads to
};

class History {
 public:
  explicit History(Layout root, std::string edit);

  [[nodiscard]] const Layout& layout() const { return *nodes_[index(current_)].layout; }
  [[nodiscard]] std::shared_ptr<const Layout> shared() const {
    return nodes_[index(current_)].layout;
  }
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] const std::vector<HistoryNode>& nodes() const { return nodes_; }
  [[nodiscard]] HistoryNode& node(int i) { return nodes_[index(i)]; }
  [[nodiscard]] const HistoryNode& node(int i) const { return nodes_[index(i)]; }

  /// A new state after the current one, which it becomes. Returns its index. An edit that changes
  /// nothing adds nothing.
  int apply(Layout layout, std::string edit);
  /// A state beside the current one: kept, not entered.
  int keep_branch(Layout layout, std::string edit);
  [[nodiscard]] bool can_undo() const { return nodes_[index(current_)].parent >= 0; }
  [[nodiscard]] bool can_redo() const { return nodes_[index(current_)].redo >= 0; }
  bool undo();
  bool redo();
  /// Goes to any state; redo then leads back along its path.
  void go_to(int node);

  /// The layout that others are compared with; the root at first.
  [[nodiscard]] int reference() const { return reference_; }
  void set_reference(int node) { reference_ = node; }
  /// Depth-first order with the depth of each, for a list.
  struct Line {
    int node = 0;
    int depth = 0;
  };
  [[nodiscard]] std::vector<Line> lines() const;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int add(Layout layout, std::string edit);

  std::vector<HistoryNode> nodes_;
  int current_ = 0;
  int reference_ = 0;
};

}  // namespace shardscope::ui
