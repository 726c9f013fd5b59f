#include "ui/model/history.hpp"

#include <algorithm>
#include <utility>

namespace shardscope::ui {

History::History(Layout root, std::string edit) {
  HistoryNode node;
  node.layout = std::make_shared<const Layout>(std::move(root));
  node.edit = std::move(edit);
  nodes_.push_back(std::move(node));
}

int History::add(Layout layout, std::string edit) {
  HistoryNode node;
  node.parent = current_;
  node.layout = std::make_shared<const Layout>(std::move(layout));
  node.edit = std::move(edit);
  const int added = static_cast<int>(nodes_.size());
  nodes_[index(current_)].children.push_back(added);
  nodes_.push_back(std::move(node));
  return added;
}

int History::apply(Layout layout, std::string edit) {
  if (layout == this->layout()) return current_;
  const int added = add(std::move(layout), std::move(edit));
  nodes_[index(current_)].redo = added;
  current_ = added;
  return added;
}

int History::keep_branch(Layout layout, std::string edit) {
  return add(std::move(layout), std::move(edit));
}

bool History::undo() {
  const int parent = nodes_[index(current_)].parent;
  if (parent < 0) return false;
  nodes_[index(parent)].redo = current_;
  current_ = parent;
  return true;
}

bool History::redo() {
  const int child = nodes_[index(current_)].redo;
  if (child < 0) return false;
  current_ = child;
  return true;
}

void History::go_to(int node) {
  current_ = node;
  for (int child = node, parent = nodes_[index(node)].parent; parent >= 0;
       child = parent, parent = nodes_[index(parent)].parent) {
    nodes_[index(parent)].redo = child;
  }
}

std::vector<History::Line> History::lines() const {
  std::vector<Line> result;
  // A chain of single edits stays at one depth; only a branch indents.
  std::vector<Line> open = {{0, 0}};
  while (!open.empty()) {
    const Line line = open.back();
    open.pop_back();
    result.push_back(line);
    const std::vector<int>& children = nodes_[index(line.node)].children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool trunk = i + 1 == children.size();
      open.push_back({children[i], line.depth + (trunk ? 0 : 1)});
    }
    std::stable_sort(open.end() - static_cast<std::ptrdiff_t>(children.size()), open.end(),
                     [](const Line& a, const Line& b) { return a.depth < b.depth; });
  }
  return result;
}

}  // namespace shardscope::ui
