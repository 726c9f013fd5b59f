#pragma once
// The communicator of ranks that share a process: bytes go straight from the sender's buffer to the
// receiver's, once both are there.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "engine/comm/reduce.hpp"
#include "engine/comm/rendezvous_state.hpp"
#include "engine/comm/round.hpp"

namespace shardscope::engine {

class RendezvousWindow;

class RendezvousCommunicator final : public Communicator {
 public:
  RendezvousCommunicator(std::shared_ptr<RendezvousState> state, std::int32_t rank,
                         std::int32_t channel);
  ~RendezvousCommunicator() override;

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return state_->groups.ranks(); }
  std::int32_t group_size(Group group) const override { return place(group).mailbox->size(); }
  std::int32_t group_rank(Group group) const override { return place(group).me; }

  CountsHandle exchange_counts(Stream& stream, Group group, const std::int64_t* send,
                               std::int64_t* receive, std::int32_t slots) override;
  Status wait(const CountsHandle& handle) override;
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override;
  void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                  DType dtype) override;
  void barrier(Stream& stream, Group group) override;
  void set_label(const char* label) override { label_ = label; }
  PeerWindow* peer_window() override;
  void abort(const Error& reason) override { state_->abort_run(reason); }
  Status status() const override { return state_->abort.status(); }
  LinkBytes sent() const override;
  CommTimes times() const override;

 private:
  friend class RendezvousWindow;

  // Run on the stream.
  void run_counts(const Call& call, const std::int64_t* send, std::int64_t* receive,
                  std::int32_t slots);
  void run_alltoall(const Call& call, const AllToAllV& buffers);
  void run_all_reduce(const Call& call, std::byte* data, std::int64_t count, DType dtype);
  void run_barrier(const Call& call);

  bool pull(Round& round, const AllToAllV& buffers, std::int32_t peer);
  bool reduce_own_chunk(Round& round, std::byte* data, const Chunk& chunk, DType dtype);
  bool gather_chunks(Round& round, std::byte* data, std::int64_t count, DType dtype);

  [[nodiscard]] Call call_of(Operation operation, Group group) const;
  [[nodiscard]] Place& place(Group group) { return places_[static_cast<std::size_t>(group)]; }
  [[nodiscard]] const Place& place(Group group) const {
    return places_[static_cast<std::size_t>(group)];
  }
  void count_sent(std::int32_t to_rank, std::int64_t bytes);
  void add_times(const Round& round);

  std::shared_ptr<RendezvousState> state_;
  std::int32_t rank_;
  std::int32_t channel_;
  std::array<Place, kGroups> places_;
  const char* label_ = "";
  Stream* counts_stream_ = nullptr;
  std::vector<std::uint8_t> pulled_;     ///< alltoall_v: peers done with
  std::vector<const std::byte*> parts_;  ///< all_reduce: one chunk of every peer
  std::unique_ptr<RendezvousWindow> window_;
  std::atomic<std::int64_t> sent_intra_{0};
  std::atomic<std::int64_t> sent_inter_{0};
  std::atomic<std::int64_t> waited_ns_{0};
  std::atomic<std::int64_t> copied_ns_{0};
  std::atomic<std::int64_t> wire_ns_{0};
};

}  // namespace shardscope::engine
