#include "engine/cuda/nccl_board.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "layout/names.hpp"

namespace shardscope::engine::cuda {
namespace {

std::string name_of(const Posted& posted) {
  std::string text = to_string(posted.call);
  if (posted.call.operation == Operation::exchange_counts) {
    text += fmt::format(" with {} counts a peer", posted.count);
  } else if (posted.call.operation == Operation::all_reduce) {
    text += fmt::format(" of {} {} elements", posted.count, to_string(posted.dtype));
  }
  return text;
}

Error mismatch(const std::string& what, std::int32_t rank) {
  return {ErrorKind::runtime, what, fmt::format("rank {}", rank),
          "both ranks to name the same operation and sizes",
          "The layout, schedule or counts of the two ranks differ"};
}

}  // namespace

CallBoard::CallBoard(const GroupMap& groups, std::int32_t channels)
    : groups_(groups), places_(static_cast<std::size_t>(channels * groups.instances())) {}

Status CallBoard::post(std::int32_t rank, Posted posted) {
  const std::int32_t instance = groups_.instance(posted.call.group, rank);
  const std::vector<std::int32_t>& members = groups_.members(instance);
  const auto mine = static_cast<std::size_t>(groups_.peer_number(posted.call.group, rank));
  const std::lock_guard lock(mutex_);
  Place& here = place(posted.call.channel, instance);
  const std::uint64_t number = posted.call.number;
  while (here.first + here.meetings.size() <= number) {
    Meeting& next = here.meetings.emplace_back();
    next.number = here.first + here.meetings.size() - 1;
    next.peers.resize(members.size());
  }
  Meeting& meeting = here.meetings[number - here.first];
  meeting.peers[mine] = std::move(posted);
  return compare(members, meeting, mine);
}

Status CallBoard::compare(const std::vector<std::int32_t>& members, const Meeting& meeting,
                          std::size_t mine) const {
  const Posted& own = *meeting.peers[mine];
  for (std::size_t peer = 0; peer < members.size(); ++peer) {
    if (!meeting.peers[peer]) continue;
    const Posted& other = *meeting.peers[peer];
    if (own.call.operation != other.call.operation || own.count != other.count ||
        own.dtype != other.dtype) {
      return fail(mismatch(fmt::format("rank {} calls {} where rank {} calls {}", members[peer],
                                       name_of(other), members[mine], name_of(own)),
                           members[mine]));
    }
    if (own.call.operation != Operation::alltoall_v) continue;
    const auto check = [&](const Posted& from, std::size_t sender, const Posted& to,
                           std::size_t receiver) -> Status {
      const std::int64_t sent = from.send_bytes[receiver];
      const std::int64_t expected = to.receive_bytes[sender];
      if (sent == expected) return {};
      return fail(mismatch(
          fmt::format("rank {} sends {} bytes to rank {}, which expects {}, in {}", members[sender],
                      sent, members[receiver], expected, to_string(own.call)),
          members[mine]));
    };
    if (Status status = check(own, mine, other, peer); !status) return status;
    if (Status status = check(other, peer, own, mine); !status) return status;
  }
  return {};
}

void CallBoard::done(std::int32_t rank, const Call& call) {
  const std::int32_t instance = groups_.instance(call.group, rank);
  const auto mine = static_cast<std::size_t>(groups_.peer_number(call.group, rank));
  const std::lock_guard lock(mutex_);
  Place& here = place(call.channel, instance);
  here.meetings[call.number - here.first].peers[mine]->done = true;
  const auto all_done = [](const Meeting& meeting) {
    return std::all_of(meeting.peers.begin(), meeting.peers.end(),
                       [](const auto& posted) { return posted && posted->done; });
  };
  while (!here.meetings.empty() && all_done(here.meetings.front())) {
    here.meetings.pop_front();
    ++here.first;
  }
}

Status CallBoard::check_meeting(const std::vector<std::int32_t>& members, const Meeting& meeting,
                                std::int64_t now_ns, std::int64_t deadline_ns) const {
  std::int64_t first_ns = now_ns;
  std::int64_t last_ns = 0;
  const Posted* waiting = nullptr;
  std::string missing;
  std::string running;
  for (std::size_t peer = 0; peer < members.size(); ++peer) {
    const auto& posted = meeting.peers[peer];
    const std::string name = fmt::format("rank {}", members[peer]);
    if (!posted) {
      missing += (missing.empty() ? "" : ", ") + name;
      continue;
    }
    first_ns = std::min(first_ns, posted->posted_ns);
    last_ns = std::max(last_ns, posted->posted_ns);
    if (!posted->done) {
      waiting = &*posted;
      running += (running.empty() ? "" : ", ") + name;
    }
  }
  // What stands before it on its stream does not count: only calls that nothing precedes are asked.
  const bool all_here = missing.empty();
  if (waiting == nullptr || now_ns - (all_here ? last_ns : first_ns) < deadline_ns) return {};
  return fail({ErrorKind::runtime,
               fmt::format("{} did not {} {} within {} s", all_here ? running : missing,
                           all_here ? "finish" : "reach", to_string(waiting->call),
                           static_cast<double>(deadline_ns) / 1e9),
               all_here ? running : missing,
               "every rank of the group to make the same calls in the same order",
               "Look for what held that rank up"});
}

Status CallBoard::check_deadline(std::int64_t now_ns, std::int64_t deadline_ns) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const auto instance = static_cast<std::int32_t>(n) % groups_.instances();
    if (places_[n].meetings.empty()) continue;
    Status status =
        check_meeting(groups_.members(instance), places_[n].meetings.front(), now_ns, deadline_ns);
    if (!status) return status;
  }
  return {};
}

std::string CallBoard::work_of(std::int32_t rank) const {
  const std::lock_guard lock(mutex_);
  const Posted* oldest = nullptr;
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const auto instance = static_cast<std::int32_t>(n) % groups_.instances();
    const std::vector<std::int32_t>& members = groups_.members(instance);
    const auto found = std::find(members.begin(), members.end(), rank);
    if (found == members.end()) continue;
    const auto mine = static_cast<std::size_t>(found - members.begin());
    for (const Meeting& meeting : places_[n].meetings) {
      const auto& posted = meeting.peers[mine];
      if (!posted || posted->done) continue;
      if (oldest == nullptr || posted->posted_ns < oldest->posted_ns) oldest = &*posted;
      break;
    }
  }
  return oldest == nullptr ? "" : to_string(oldest->call);
}

}  // namespace shardscope::engine::cuda
