#include "engine/comm/groups.hpp"

namespace shardscope::engine {

const char* to_string(Group group) {
  switch (group) {
    case Group::flat:
      return "flat";
    case Group::domain:
      return "domain";
    case Group::rail:
      return "rail";
  }
  return "";
}

GroupMap::GroupMap(const Topology& topology)
    : ranks_(topology.ranks()), fast_domain_(topology.fast_domain) {
  const std::int32_t domains = topology.domains();
  members_.resize(static_cast<std::size_t>(1 + domains + fast_domain_));
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    for (const Group group : {Group::flat, Group::domain, Group::rail}) {
      members_[static_cast<std::size_t>(instance(group, rank))].push_back(rank);
    }
  }
}

std::int32_t GroupMap::instance(Group group, std::int32_t rank) const {
  switch (group) {
    case Group::flat:
      return 0;
    case Group::domain:
      return 1 + rank / fast_domain_;
    case Group::rail:
      return 1 + ranks_ / fast_domain_ + rank % fast_domain_;
  }
  return 0;
}

std::int32_t GroupMap::peer_number(Group group, std::int32_t rank) const {
  switch (group) {
    case Group::flat:
      return rank;
    case Group::domain:
      return rank % fast_domain_;
    case Group::rail:
      return rank / fast_domain_;
  }
  return 0;
}

}  // namespace shardscope::engine
