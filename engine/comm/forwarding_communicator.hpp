#pragma once
// A communicator that passes everything on to the one it owns, for others to change or watch a
// part.

#include <memory>
#include <utility>

#include "engine/comm/communicator.hpp"

namespace shardscope::engine {

class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] std::int32_t rank() const override { return inner_->rank(); }
  [[nodiscard]] std::int32_t size() const override { return inner_->size(); }
  [[nodiscard]] std::int32_t group_size(Group group) const override {
    return inner_->group_size(group);
  }
  [[nodiscard]] std::int32_t group_rank(Group group) const override {
    return inner_->group_rank(group);
  }
  [[nodiscard]] CountsHandle exchange_counts(Stream& stream, Group group, const std::int64_t* send,
                                             std::int64_t* receive, std::int32_t slots) override {
    return inner_->exchange_counts(stream, group, send, receive, slots);
  }
  [[nodiscard]] Status wait(const CountsHandle& handle) override { return inner_->wait(handle); }
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override {
    inner_->alltoall_v(stream, group, call);
  }
  void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                  DType dtype) override {
    inner_->all_reduce(stream, group, data, count, dtype);
  }
  void barrier(Stream& stream, Group group) override { inner_->barrier(stream, group); }
  void set_label(const char* label) override { inner_->set_label(label); }
  [[nodiscard]] PeerWindow* peer_window() override { return inner_->peer_window(); }
  [[nodiscard]] bool goes_into_graphs() const override { return inner_->goes_into_graphs(); }
  [[nodiscard]] bool agree_on_graph(bool ready) override { return inner_->agree_on_graph(ready); }
  void launched_graph(Stream& stream) override { inner_->launched_graph(stream); }
  void abort(const Error& reason) override { inner_->abort(reason); }
  [[nodiscard]] Status status() const override { return inner_->status(); }
  [[nodiscard]] LinkBytes sent() const override { return inner_->sent(); }
  [[nodiscard]] CommTimes times() const override { return inner_->times(); }

 protected:
  [[nodiscard]] Communicator& inner() const { return *inner_; }

 private:
  std::unique_ptr<Communicator> inner_;
};

}  // namespace shardscope::engine
