#pragma once
// Levels of detail of one track (a rank's stream): what a timeline draws costs pixels, not spans.
// Level 0 is the spans in order of their start; a node of level l + 1 sums up 8 of level l.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "layout/result.hpp"
#include "layout/schedule.hpp"
#include "profiler/span.hpp"

namespace shardscope {

inline constexpr std::int64_t kLevelFanOut = 8;

/// Consecutive spans of a track as one item; of a single span (count 1) where nothing is summed up.
struct LevelNode {
  std::int64_t first_start_ns = 0;
  std::int64_t last_start_ns = 0;  ///< start of the last span
  std::int64_t end_ns = 0;         ///< latest end
  std::int64_t count = 0;          ///< spans
  std::int64_t covered_ns = 0;     ///< sum of durations, waiting spans excluded
  std::int64_t busy_ns = 0;        ///< sum of Span::busy_ns
  std::int64_t longest_start_ns = 0;
  std::int64_t longest_end_ns = 0;
  std::int64_t first_span = 0;  ///< the first span: its index in an array, its rowid in a session
  Stage longest_stage = Stage::input_dist;
  Work longest_work = Work::RB;
  bool longest_waiting = false;

  friend bool operator==(const LevelNode&, const LevelNode&) = default;
};

/// A node of one span.
[[nodiscard]] LevelNode node_of(const Span& span, std::int64_t id);
/// Appends a node whose spans start later. The longest span wins; of equals, the earlier.
void append(LevelNode& node, const LevelNode& next);

/// Makes the nodes of every level from spans in order of their start, in one pass and a few nodes
/// of memory.
class LevelBuilder {
 public:
  /// Gets every finished node of level >= 1; nodes of a level come in order of their index.
  using Emit = std::function<void(std::int32_t level, std::int64_t index, const LevelNode&)>;

  explicit LevelBuilder(Emit emit) : emit_(std::move(emit)) {}
  void add(const LevelNode& leaf) { add_at(0, leaf); }
  /// Emits the unfinished nodes. Levels end with the first that has a single node.
  void finish();

 private:
  struct Open {
    LevelNode node;
    std::int64_t children = 0;
    std::int64_t emitted = 0;
  };
  void add_at(std::size_t level, const LevelNode& node);
  void emit_open(std::size_t level);

  Emit emit_;
  std::vector<Open> open_;  ///< [l] collects nodes of level l into one of level l + 1
};

/// All levels of one track in memory; [0] are the spans.
using Levels = std::vector<std::vector<LevelNode>>;

/// Spans of one track in any order; they are sorted by start.
[[nodiscard]] Levels make_levels(std::span<const Span> spans);

/// Where levels are read from: memory or a session.
class LevelSource {
 public:
  virtual ~LevelSource() = default;
  /// Highest level and its nodes.
  [[nodiscard]] virtual Result<std::int32_t> top(std::vector<LevelNode>& nodes) = 0;
  /// Appends the children of `parents`, nodes of `level` >= 1 with indices first, first + 1, ...
  [[nodiscard]] virtual Status children(std::int32_t level, std::int64_t first,
                                        std::span<const LevelNode> parents,
                                        std::vector<LevelNode>& nodes) = 0;
};

/// What is visible of [begin_ns, end_ns), in order of start: spans of at least `resolution_ns` one
/// by one, shorter neighbours folded into items narrower than 2 x resolution_ns. Every span that
/// touches the range is in exactly one item; about (end - begin) / resolution items of each sort.
[[nodiscard]] Result<std::vector<LevelNode>> visible(LevelSource& source, std::int64_t begin_ns,
                                                     std::int64_t end_ns,
                                                     std::int64_t resolution_ns);

/// The same from memory, which cannot fail.
[[nodiscard]] std::vector<LevelNode> visible(const Levels& levels, std::int64_t begin_ns,
                                             std::int64_t end_ns, std::int64_t resolution_ns);

/// Resolution at which at most about `max_items` items cover the range.
[[nodiscard]] std::int64_t resolution_for(std::int64_t begin_ns, std::int64_t end_ns,
                                          std::int64_t max_items);

}  // namespace shardscope
