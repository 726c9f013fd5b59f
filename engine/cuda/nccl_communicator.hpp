#pragma once
// One rank's communicator of an NCCL fabric.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/comm/communicator.hpp"
#include "engine/cuda/nccl_state.hpp"

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
  Status status() const override { return state_->abort.status(); }
  LinkBytes sent() const override;
  /// NCCL does not tell waiting from moving: all zero.
  CommTimes times() const override { return {}; }

 private:
  struct Reduction;

  [[nodiscard]] const std::vector<std::int32_t>& members(Group group) const;
  /// Notes the call; false when the run is over.
  [[nodiscard]] bool begin(Posted posted);
  /// Enqueues what counts the bytes and says that the stream has passed the call.
  void end(Stream& stream, const Call& call, const LinkBytes& sent);
  [[nodiscard]] Call call_of(Operation operation, Group group);
  void add_bytes(LinkBytes& sum, std::int32_t to_rank, std::int64_t bytes) const;
  /// The same number of bytes to and from every peer.
  void exchange_equal(Stream& stream, Group group, const void* send, void* receive,
                      std::int64_t bytes);
  [[nodiscard]] bool scatter_chunks(Stream& stream, Group group, const Reduction& work);
  void sum_chunks(Stream& stream, Group group, Reduction& work);
  [[nodiscard]] bool share_chunks(Stream& stream, Group group, const Reduction& work);
  /// Room for that many bytes; grows when the stream is idle.
  [[nodiscard]] std::byte* scratch(Stream& stream, std::int64_t bytes);

  std::shared_ptr<NcclState> state_;
  std::int32_t rank_;
  std::int32_t channel_;
  const char* label_ = "";
  std::array<std::uint64_t, kGroups> calls_{};
  Stream* counts_stream_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
  std::atomic<std::int64_t> sent_intra_{0};
  std::atomic<std::int64_t> sent_inter_{0};
};

}  // namespace shardscope::engine::cuda
