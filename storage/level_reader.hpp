#pragma once
// Levels of detail of a track, read from the session as a view needs them.

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/levels.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage {

/// The caller holds the session's mutex while it is used.
class LevelReader : public LevelSource {
 public:
  LevelReader(Database& database, std::int64_t track) : database_(database), track_(track) {}

  /// Level 0 without nodes where the track has no levels.
  [[nodiscard]] Result<std::int32_t> top(std::vector<LevelNode>& nodes) override;
  [[nodiscard]] Status children(std::int32_t level, std::int64_t first,
                                std::span<const LevelNode> parents,
                                std::vector<LevelNode>& nodes) override;

 private:
  [[nodiscard]] Status read_nodes(std::int64_t level, std::int64_t first, std::int64_t count,
                                  std::vector<LevelNode>& nodes);
  [[nodiscard]] Status read_spans(std::span<const LevelNode> parents,
                                  std::vector<LevelNode>& nodes);

  Database& database_;
  std::int64_t track_;
};

}  // namespace shardscope::storage
