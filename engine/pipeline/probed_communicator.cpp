#include "engine/pipeline/probed_communicator.hpp"

#include <utility>

#include "layout/invariant.hpp"

namespace shardscope::engine {

class ProbedCommunicator::Window final : public PeerWindow {
 public:
  Window(ProbedCommunicator& probe, PeerWindow& inner) : probe_(probe), inner_(inner) {}

  void publish(Stream& stream, std::byte* buffer, std::int64_t bytes) override {
    inner_.publish(stream, buffer, bytes);
  }
  [[nodiscard]] std::byte* peer(std::int32_t peer) const override { return inner_.peer(peer); }
  [[nodiscard]] std::int64_t peer_bytes(std::int32_t peer) const override {
    return inner_.peer_bytes(peer);
  }
  void wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) override {
    begin(stream);
    inner_.wrote(stream, peer, bytes);
  }
  [[nodiscard]] bool publishes_at_once() const override { return inner_.publishes_at_once(); }
  void fence(Stream& stream, std::int64_t received_bytes) override {
    begin(stream);
    inner_.fence(stream, received_bytes);
    probe_.end(stream, exchange_);
    if (exchange_ != nullptr) exchange_->received.intra = received_bytes;
    begun_ = false;
  }

 private:
  void begin(Stream& stream) {
    if (begun_) return;
    begun_ = true;
    exchange_ = probe_.begin(stream, Group::domain);
  }

  ProbedCommunicator& probe_;
  PeerWindow& inner_;
  bool begun_ = false;
  ExchangeTimes* exchange_ = nullptr;
};

ProbedCommunicator::~ProbedCommunicator() = default;

PeerWindow* ProbedCommunicator::peer_window() {
  PeerWindow* const given = inner().peer_window();
  if (given != nullptr && window_ == nullptr) window_ = std::make_unique<Window>(*this, *given);
  return window_.get();
}

ProbedCommunicator::ProbedCommunicator(std::unique_ptr<Communicator> inner,
                                       const Topology& topology)
    : ForwardingCommunicator(std::move(inner)) {
  const GroupMap groups(topology);
  for (const Group group : {Group::flat, Group::domain, Group::rail}) {
    const std::int32_t instance = groups.instance(group, rank());
    for (const std::int32_t peer : groups.members(instance)) {
      links_[static_cast<std::size_t>(group)].push_back(topology.link(rank(), peer));
    }
  }
}

void ProbedCommunicator::set_step(StepTimes* times) {
  step_ = times;
  if (step_ != nullptr) step_->exchange_count = 0;
}

ExchangeTimes* ProbedCommunicator::begin(Stream& stream, Group group) {
  if (step_ == nullptr) return nullptr;
  SHARDSCOPE_CHECK(step_->exchange_count < kMostExchanges, "a step with too many exchanges");
  ExchangeTimes* exchange = &step_->exchanges[step_->exchange_count++];
  *exchange = {};
  exchange->group = group;
  stream.enqueue([exchange, from = &inner()] {
    const LinkBytes sent = from->sent();
    const CommTimes spent = from->times();
    exchange->sent = {-sent.intra, -sent.inter};
    exchange->waited_ns = -spent.waited_ns;
    exchange->copied_ns = -spent.copied_ns;
  });
  stream.mark(&exchange->begin);
  return exchange;
}

void ProbedCommunicator::end(Stream& stream, ExchangeTimes* exchange) {
  if (exchange == nullptr) return;
  stream.mark(&exchange->end);
  stream.enqueue([exchange, from = &inner()] {
    const LinkBytes sent = from->sent();
    const CommTimes spent = from->times();
    exchange->sent.intra += sent.intra;
    exchange->sent.inter += sent.inter;
    exchange->waited_ns += spent.waited_ns;
    exchange->copied_ns += spent.copied_ns;
  });
}

void ProbedCommunicator::receive(Stream& stream, ExchangeTimes* exchange,
                                 const std::int64_t* bytes) {
  if (exchange == nullptr) return;
  stream.enqueue([this, exchange, bytes] {
    const std::vector<LinkClass>& links = links_[static_cast<std::size_t>(exchange->group)];
    for (std::size_t peer = 0; peer < links.size(); ++peer) {
      if (links[peer] == LinkClass::intra) exchange->received.intra += bytes[peer];
      if (links[peer] == LinkClass::inter) exchange->received.inter += bytes[peer];
    }
  });
}

// Counts and reduced chunks come in as they go out: as many bytes from every peer as to it.
CountsHandle ProbedCommunicator::exchange_counts(Stream& stream, Group group,
                                                 const std::int64_t* send, std::int64_t* receive,
                                                 std::int32_t slots) {
  ExchangeTimes* exchange = begin(stream, group);
  const CountsHandle handle =
      ForwardingCommunicator::exchange_counts(stream, group, send, receive, slots);
  end(stream, exchange);
  if (exchange != nullptr) stream.enqueue([exchange] { exchange->received = exchange->sent; });
  return handle;
}

void ProbedCommunicator::alltoall_v(Stream& stream, Group group, const AllToAllV& call) {
  ExchangeTimes* exchange = begin(stream, group);
  ForwardingCommunicator::alltoall_v(stream, group, call);
  end(stream, exchange);
  receive(stream, exchange, call.receive_bytes);
}

void ProbedCommunicator::all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                                    DType dtype) {
  ExchangeTimes* exchange = begin(stream, group);
  ForwardingCommunicator::all_reduce(stream, group, data, count, dtype);
  end(stream, exchange);
  if (exchange != nullptr) stream.enqueue([exchange] { exchange->received = exchange->sent; });
}

void ProbedCommunicator::barrier(Stream& stream, Group group) {
  ExchangeTimes* exchange = begin(stream, group);
  ForwardingCommunicator::barrier(stream, group);
  end(stream, exchange);
}

}  // namespace shardscope::engine
