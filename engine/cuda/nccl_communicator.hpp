#pragma once
// One rank's communicator of an NCCL fabric.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/comm/communicator.hpp"
#include "engine/cuda/nccl_state.hpp"
#include "engine/cuda/nccl_window.hpp"

namespace shardscope::engine::cuda {

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<NcclState> state, std::int32_t rank, std::int32_t channel);
  ~NcclCommunicator() override;

  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return state_->groups.ranks(); }
  std::int32_t group_size(Group group) const override;
  std::int32_t group_rank(Group group) const override;

  CountsHandle exchange_counts(Stream& stream, Group group, const std::int64_t* send,
                               std::int64_t* receive, std::int32_t slots) override;
  Status wait(const CountsHandle& handle) override;
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override;
  void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                  DType dtype) override;
  void barrier(Stream& stream, Group group) override;
  void set_label(const char* label) override { label_ = label; }
  void abort(const Error& reason) override { state_->abort_run(reason); }
  PeerWindow* peer_window() override;
  /// Enqueues what counts bytes that the stream has written to a peer of the domain.
  void count_written(Stream& stream, std::int32_t peer, std::int64_t bytes);
  bool goes_into_graphs() const override { return state_->port.in_graph != nullptr; }
  bool agree_on_graph(bool ready) override { return state_->agree(rank_, ready); }
  void launched_graph(Stream& stream) override;
  Status status() const override { return state_->abort.status(); }
  LinkBytes sent() const override;
  /// NCCL does not tell waiting from moving: all zero.
  CommTimes times() const override { return {}; }

 private:
  struct Reduction;

  /// A message of a group of calls; whole numbers, which graphs compare.
  struct Transfer {
    std::int64_t sends = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t peer = 0;  ///< rank
  };

  [[nodiscard]] const std::vector<std::int32_t>& members(Group group) const;
  /// Inside of a graph calls are not noted: its launch is (launched_graph()).
  [[nodiscard]] bool in_graph(const Stream& stream) const {
    return goes_into_graphs() && state_->port.in_graph(stream);
  }
  /// Notes the call; false when the run is over.
  [[nodiscard]] bool begin(const Stream& stream, Posted posted);
  /// Enqueues what counts the bytes and says that the stream has passed the call.
  void end(Stream& stream, const Call& call, const LinkBytes& sent);
  [[nodiscard]] Call call_of(Operation operation, Group group);
  void add_bytes(LinkBytes& sum, std::int32_t to_rank, std::int64_t bytes) const;
  /// The next message of transfer(). Empty ones are left out.
  void add_send(const std::byte* from, std::int64_t bytes, std::int32_t to_rank);
  void add_receive(std::byte* to, std::int64_t bytes, std::int32_t from_rank);
  /// Enqueues the messages as one group of NCCL's; false after a failure.
  [[nodiscard]] bool transfer(Stream& stream);
  /// The same number of bytes to and from every peer.
  void exchange_equal(Stream& stream, Group group, const void* send, void* receive,
                      std::int64_t bytes);
  [[nodiscard]] bool scatter_chunks(Stream& stream, const Reduction& work);
  void fill_sum(Reduction& work) const;
  [[nodiscard]] Reduction& reduction_of(void* data, std::int64_t count, DType dtype, Group group);
  [[nodiscard]] bool share_chunks(Stream& stream, const Reduction& work);
  /// Room for that many bytes; grows when the stream is idle.
  [[nodiscard]] std::byte* scratch(Stream& stream, std::int64_t bytes);

  std::shared_ptr<NcclState> state_;
  std::int32_t rank_;
  std::int32_t channel_;
  const char* label_ = "";
  std::array<std::uint64_t, kGroups> calls_{};
  Stream* counts_stream_ = nullptr;
  std::unique_ptr<NcclWindow> window_;
  std::vector<Transfer> transfers_;
  /// One for every sum that is asked for again and again: its lists last.
  std::vector<std::unique_ptr<Reduction>> reductions_;
  std::byte* scratch_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
  std::atomic<std::int64_t> sent_intra_{0};
  std::atomic<std::int64_t> sent_inter_{0};
};

}  // namespace shardscope::engine::cuda
