#include "profiler/levels.hpp"

#include <algorithm>
#include <numeric>

#include "layout/invariant.hpp"
#include "layout/memory.hpp"

namespace shardscope {
namespace {

std::int64_t longest_ns(const LevelNode& node) {
  return node.longest_end_ns - node.longest_start_ns;
}

bool touches(const LevelNode& node, std::int64_t begin_ns, std::int64_t end_ns) {
  return node.first_start_ns < end_ns && node.end_ns >= begin_ns;
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

/// Folds narrow neighbours that start in the same cell of a grid anchored at 0, so that panning
/// does not regroup them.
std::vector<LevelNode> fold_narrow(std::vector<LevelNode> items, std::int64_t resolution_ns) {
  std::vector<LevelNode> folded;
  std::int64_t open_cell = 0;
  bool open = false;  // the last of `folded` still takes narrow items
  for (const LevelNode& item : items) {
    const bool narrow = item.end_ns - item.first_start_ns < resolution_ns;
    const std::int64_t cell = floor_divide(item.first_start_ns, resolution_ns);
    if (narrow && open && cell == open_cell) {
      append(folded.back(), item);
    } else {
      folded.push_back(item);
    }
    open = narrow;
    open_cell = cell;
  }
  return folded;
}

class MemorySource : public LevelSource {
 public:
  explicit MemorySource(const Levels& levels) : levels_(levels) {}
  Result<std::int32_t> top(std::vector<LevelNode>& nodes) override {
    if (levels_.empty()) return 0;
    nodes = levels_.back();
    return static_cast<std::int32_t>(levels_.size()) - 1;
  }
  Status children(std::int32_t level, std::int64_t first, std::span<const LevelNode> parents,
                  std::vector<LevelNode>& nodes) override {
    const std::vector<LevelNode>& below = levels_[static_cast<std::size_t>(level) - 1];
    const auto count = static_cast<std::int64_t>(below.size());
    const std::int64_t begin = first * kLevelFanOut;
    const std::int64_t end =
        std::min(count, begin + static_cast<std::int64_t>(parents.size()) * kLevelFanOut);
    nodes.insert(nodes.end(), below.begin() + begin, below.begin() + end);
    return {};
  }

 private:
  const Levels& levels_;
};

/// One level of the way down: nodes with their indices.
struct Row {
  std::vector<LevelNode> nodes;
  std::vector<std::int64_t> indices;
};

/// Replaces `wide` (of `level`) by its children; neighbours are asked for together.
Status descend(LevelSource& source, std::int32_t level, const Row& wide, Row& below) {
  below.nodes.clear();
  below.indices.clear();
  for (std::size_t begin = 0; begin < wide.nodes.size();) {
    std::size_t end = begin + 1;
    while (end < wide.nodes.size() && wide.indices[end] == wide.indices[end - 1] + 1) ++end;
    const std::span<const LevelNode> parents(wide.nodes.data() + begin, end - begin);
    const std::size_t before = below.nodes.size();
    if (Status done = source.children(level, wide.indices[begin], parents, below.nodes); !done) {
      return done;
    }
    const std::int64_t first = wide.indices[begin] * kLevelFanOut;
    for (std::size_t i = before; i < below.nodes.size(); ++i) {
      below.indices.push_back(first + static_cast<std::int64_t>(i - before));
    }
    begin = end;
  }
  return {};
}

}  // namespace

LevelNode node_of(const Span& span, std::int64_t id) {
  LevelNode node;
  node.first_start_ns = node.last_start_ns = node.longest_start_ns = span.start_ns;
  node.end_ns = node.longest_end_ns = span.end_ns;
  node.count = 1;
  node.covered_ns = span.waiting ? 0 : span.end_ns - span.start_ns;
  node.busy_ns = span.busy_ns;
  node.first_span = id;
  node.longest_stage = span.stage;
  node.longest_work = span.work;
  node.longest_waiting = span.waiting;
  return node;
}

void append(LevelNode& node, const LevelNode& next) {
  if (longest_ns(next) > longest_ns(node)) {
    node.longest_start_ns = next.longest_start_ns;
    node.longest_end_ns = next.longest_end_ns;
    node.longest_stage = next.longest_stage;
    node.longest_work = next.longest_work;
    node.longest_waiting = next.longest_waiting;
  }
  node.last_start_ns = next.last_start_ns;
  node.end_ns = std::max(node.end_ns, next.end_ns);
  // Files may claim anything: sums stop at the largest value instead of overflowing.
  node.count = saturating_add(node.count, next.count);
  node.covered_ns = saturating_add(node.covered_ns, next.covered_ns);
  node.busy_ns = saturating_add(node.busy_ns, next.busy_ns);
}

void LevelBuilder::add_at(std::size_t level, const LevelNode& node) {
  if (open_.size() == level) open_.emplace_back();
  if (open_[level].children == 0) {
    open_[level].node = node;
  } else {
    append(open_[level].node, node);
  }
  if (++open_[level].children == kLevelFanOut) emit_open(level);
}

void LevelBuilder::emit_open(std::size_t level) {
  const LevelNode node = open_[level].node;
  open_[level].children = 0;
  emit_(static_cast<std::int32_t>(level) + 1, open_[level].emitted++, node);
  add_at(level + 1, node);
}

void LevelBuilder::finish() {
  // A level with a single node is the top: the collector above it then holds just that node.
  for (std::size_t level = 0; level < open_.size(); ++level) {
    const bool is_top = open_[level].emitted == 0 && open_[level].children <= 1 && level > 0;
    if (is_top) break;
    if (open_[level].children > 0) emit_open(level);
  }
}

Levels make_levels(std::span<const Span> spans) {
  std::vector<std::int64_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return spans[static_cast<std::size_t>(a)].start_ns <
           spans[static_cast<std::size_t>(b)].start_ns;
  });
  Levels levels;
  if (spans.empty()) return levels;
  levels.emplace_back();
  LevelBuilder builder([&](std::int32_t level, std::int64_t, const LevelNode& node) {
    const auto index = static_cast<std::size_t>(level);
    if (levels.size() <= index) levels.resize(index + 1);
    levels[index].push_back(node);
  });
  for (const std::int64_t index : order) {
    const LevelNode leaf = node_of(spans[static_cast<std::size_t>(index)], index);
    levels[0].push_back(leaf);
    builder.add(leaf);
  }
  builder.finish();
  return levels;
}

Result<std::vector<LevelNode>> visible(LevelSource& source, std::int64_t begin_ns,
                                       std::int64_t end_ns, std::int64_t resolution_ns) {
  SHARDSCOPE_CHECK(resolution_ns > 0, "a resolution is positive");
  std::vector<LevelNode> items;
  Row row;
  const Result<std::int32_t> top = source.top(row.nodes);
  if (!top) return fail(top.error());
  row.indices.resize(row.nodes.size());
  std::iota(row.indices.begin(), row.indices.end(), std::int64_t{0});
  for (std::int32_t level = *top; level >= 0; --level) {
    Row wide;
    for (std::size_t i = 0; i < row.nodes.size(); ++i) {
      const LevelNode& node = row.nodes[i];
      if (!touches(node, begin_ns, end_ns)) continue;
      if (level == 0 || node.end_ns - node.first_start_ns < resolution_ns) {
        items.push_back(node);
      } else {
        wide.nodes.push_back(node);
        wide.indices.push_back(row.indices[i]);
      }
    }
    if (level == 0) break;
    if (Status done = descend(source, level, wide, row); !done) return fail(done.error());
  }
  std::stable_sort(items.begin(), items.end(), [](const LevelNode& a, const LevelNode& b) {
    return a.first_start_ns < b.first_start_ns;
  });
  return fold_narrow(std::move(items), resolution_ns);
}

std::vector<LevelNode> visible(const Levels& levels, std::int64_t begin_ns, std::int64_t end_ns,
                               std::int64_t resolution_ns) {
  MemorySource source(levels);
  Result<std::vector<LevelNode>> items = visible(source, begin_ns, end_ns, resolution_ns);
  SHARDSCOPE_CHECK(items.has_value(), "memory cannot fail");
  return std::move(*items);
}

std::int64_t resolution_for(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t max_items) {
  // Half of the items may be long spans, half folded ones.
  const std::int64_t half = std::max<std::int64_t>(max_items / 2, 1);
  return std::max<std::int64_t>((end_ns - begin_ns) / half + 1, 1);
}

}  // namespace shardscope
