#pragma once
// Where the ranks of one process write down the collectives they enqueue, so that ranks that
// disagree, do not come or do not finish are named instead of hanging in NCCL. Nobody waits here.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/comm/call.hpp"
#include "engine/comm/groups.hpp"
#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// A rank's part of a collective.
struct Posted {
  Call call;
  std::int64_t count = 0;  ///< all_reduce: elements; exchange_counts: slots
  DType dtype = DType::fp32;
  std::vector<std::int64_t> send_bytes;     ///< alltoall_v: to each peer
  std::vector<std::int64_t> receive_bytes;  ///< alltoall_v: from each peer
  std::int64_t posted_ns = 0;
  bool done = false;  ///< its stream has passed the call
};

/// Thread-safe.
class CallBoard {
 public:
  CallBoard(const GroupMap& groups, std::int32_t channels);

  /// Notes the call that the rank is about to enqueue; the calls of equal number meet. An error
  /// names both ranks when it does not fit what a peer has noted.
  [[nodiscard]] Status post(std::int32_t rank, Posted posted);
  /// The rank's stream has passed its call of that number.
  void done(std::int32_t rank, const Call& call);
  /// An error naming the ranks that keep a call waiting for longer than the deadline.
  [[nodiscard]] Status check_deadline(std::int64_t now_ns, std::int64_t deadline_ns) const;
  /// The oldest call that the rank has not passed, for errors; empty text if there is none.
  [[nodiscard]] std::string work_of(std::int32_t rank) const;

 private:
  struct Meeting {
    std::uint64_t number = 0;
    std::vector<std::optional<Posted>> peers;
  };
  struct Place {
    std::deque<Meeting> meetings;  ///< by number, without gaps
    std::uint64_t first = 0;       ///< number of the front
  };

  [[nodiscard]] Place& place(std::int32_t channel, std::int32_t instance) {
    return places_[static_cast<std::size_t>(channel * groups_.instances() + instance)];
  }
  [[nodiscard]] Status compare(const std::vector<std::int32_t>& members, const Meeting& meeting,
                               std::size_t mine) const;
  [[nodiscard]] Status check_meeting(const std::vector<std::int32_t>& members,
                                     const Meeting& meeting, std::int64_t now_ns,
                                     std::int64_t deadline_ns) const;

  const GroupMap& groups_;
  mutable std::mutex mutex_;
  std::vector<Place> places_;  ///< [channel][instance]
};

}  // namespace shardscope::engine::cuda
