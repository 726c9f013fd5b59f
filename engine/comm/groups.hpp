#pragma once
// Which ranks a collective of each Group joins.

#include <cstdint>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

inline constexpr int kGroups = 3;

[[nodiscard]] const char* to_string(Group group);

/// The instances of every group of a topology. Instances are numbered flat 0, then domains, then
/// rails.
class GroupMap {
 public:
  explicit GroupMap(const Topology& topology);

  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  [[nodiscard]] std::int32_t instances() const {
    return static_cast<std::int32_t>(members_.size());
  }
  /// The instance of the group that the rank belongs to.
  [[nodiscard]] std::int32_t instance(Group group, std::int32_t rank) const;
  /// Ranks of an instance, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& members(std::int32_t instance) const {
    return members_[static_cast<std::size_t>(instance)];
  }
  /// Position of the rank among the members.
  [[nodiscard]] std::int32_t peer_number(Group group, std::int32_t rank) const;

 private:
  std::int32_t ranks_ = 0;
  std::int32_t fast_domain_ = 1;
  std::vector<std::vector<std::int32_t>> members_;
};

}  // namespace shardscope::engine
