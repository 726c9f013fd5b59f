#include "engine/cuda/nccl_communicator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/comm/progress.hpp"
#include "engine/comm/reduce.hpp"
#include "engine/cuda/chunk_sum.hpp"

namespace shardscope::engine::cuda {
namespace {

constexpr std::int64_t kAlignment = 256;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

/// An all-reduce of that data. The lists of its sum last until the stream has run them.
struct NcclCommunicator::Reduction {
  std::byte* data = nullptr;
  std::byte* parts = nullptr;  ///< own chunk of every peer, `stride` bytes apart
  float* sums = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  DType dtype = DType::fp32;
  Group group = Group::flat;
  std::unique_ptr<ChunkSum> sum;
};

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclState> state, std::int32_t rank,
                                   std::int32_t channel)
    : state_(std::move(state)), rank_(rank), channel_(channel) {}

NcclCommunicator::~NcclCommunicator() {
  if (scratch_ != nullptr) state_->port.free(scratch_);
}

const std::vector<std::int32_t>& NcclCommunicator::members(Group group) const {
  return state_->groups.members(state_->groups.instance(group, rank_));
}
std::int32_t NcclCommunicator::group_size(Group group) const {
  return static_cast<std::int32_t>(members(group).size());
}
std::int32_t NcclCommunicator::group_rank(Group group) const {
  return state_->groups.peer_number(group, rank_);
}

LinkBytes NcclCommunicator::sent() const {
  return {sent_intra_.load(std::memory_order_relaxed), sent_inter_.load(std::memory_order_relaxed)};
}

Call NcclCommunicator::call_of(Operation operation, Group group) {
  return {operation, group, channel_, calls_[static_cast<std::size_t>(group)], label_};
}

bool NcclCommunicator::begin(const Stream& stream, Posted posted) {
  if (state_->abort.raised()) return false;
  if (in_graph(stream)) return true;
  posted.posted_ns = now_ns();
  const auto group = static_cast<std::size_t>(posted.call.group);
  if (Status status = state_->board.post(rank_, std::move(posted)); !status) {
    state_->abort_run(status.error());
    return false;
  }
  ++calls_[group];
  return true;
}

void NcclCommunicator::end(Stream& stream, const Call& call, const LinkBytes& sent) {
  const bool noted = !in_graph(stream);
  stream.enqueue([this, call, sent, noted] {
    if (state_->abort.raised()) return;
    sent_intra_.fetch_add(sent.intra, std::memory_order_relaxed);
    sent_inter_.fetch_add(sent.inter, std::memory_order_relaxed);
    if (noted) state_->board.done(rank_, call);
  });
}

PeerWindow* NcclCommunicator::peer_window() {
  if (!state_->port.peer_access) return nullptr;
  if (window_ == nullptr) window_ = std::make_unique<NcclWindow>(*state_, *this, channel_);
  return window_.get();
}

void NcclCommunicator::count_written(Stream& stream, std::int32_t peer, std::int64_t bytes) {
  LinkBytes sent;
  add_bytes(sent, members(Group::domain)[static_cast<std::size_t>(peer)], bytes);
  stream.enqueue([this, sent] {
    if (state_->abort.raised()) return;
    sent_intra_.fetch_add(sent.intra, std::memory_order_relaxed);
    sent_inter_.fetch_add(sent.inter, std::memory_order_relaxed);
  });
}

void NcclCommunicator::launched_graph(Stream& stream) {
  Posted posted;
  posted.call = call_of(Operation::graph, Group::flat);
  const Call call = posted.call;
  if (begin(stream, std::move(posted))) end(stream, call, {});
}

void NcclCommunicator::add_bytes(LinkBytes& sum, std::int32_t to_rank, std::int64_t bytes) const {
  switch (state_->topology.link(rank_, to_rank)) {
    case LinkClass::self:
      return;
    case LinkClass::intra:
      sum.intra += bytes;
      return;
    case LinkClass::inter:
      sum.inter += bytes;
      return;
  }
}

std::byte* NcclCommunicator::scratch(Stream& stream, std::int64_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  stream.synchronize(stream.record());
  if (in_graph(stream)) return nullptr;  // the wait has ended that
  if (scratch_ != nullptr) state_->port.free(scratch_);
  scratch_ = static_cast<std::byte*>(state_->port.allocate(rank_, bytes));
  scratch_bytes_ = scratch_ == nullptr ? 0 : bytes;
  if (scratch_ == nullptr) {
    state_->abort_run({ErrorKind::runtime,
                       fmt::format("no {} bytes of device memory for an exchange", bytes),
                       fmt::format("rank {}", rank_), "", "Lower the batch"});
  }
  return scratch_;
}

void NcclCommunicator::add_send(const std::byte* from, std::int64_t bytes, std::int32_t to_rank) {
  if (bytes > 0) transfers_.push_back({1, reinterpret_cast<std::int64_t>(from), bytes, to_rank});
}

void NcclCommunicator::add_receive(std::byte* to, std::int64_t bytes, std::int32_t from_rank) {
  if (bytes > 0) transfers_.push_back({0, reinterpret_cast<std::int64_t>(to), bytes, from_rank});
}

bool NcclCommunicator::transfer(Stream& stream) {
  const std::vector<Transfer>& all = transfers_;
  bool done = true;
  static_assert(sizeof(Transfer) == 4 * sizeof(std::int64_t));
  const bool graphs = in_graph(stream);
  if (!graphs || state_->port.call(stream, {&all.data()->sends, 4 * all.size()})) {
    const NcclApi& nccl = *state_->port.nccl;
    void* native = state_->port.native(stream);
    done = state_->group(rank_, channel_, [&](NcclComm comm, const auto& add) {
      for (const Transfer& one : all) {
        void* memory = reinterpret_cast<void*>(one.address);
        const auto bytes = static_cast<std::size_t>(one.bytes);
        const auto peer = static_cast<int>(one.peer);
        add(one.sends != 0 ? nccl.send(memory, bytes, kNcclInt8, peer, comm, native)
                           : nccl.receive(memory, bytes, kNcclInt8, peer, comm, native));
      }
    });
  }
  transfers_.clear();
  return done;
}

void NcclCommunicator::exchange_equal(Stream& stream, Group group, const void* send, void* receive,
                                      std::int64_t bytes) {
  const std::vector<std::int32_t>& peers = members(group);
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    const auto at = static_cast<std::int64_t>(peer) * bytes;
    add_send(static_cast<const std::byte*>(send) + at, bytes, peers[peer]);
    add_receive(static_cast<std::byte*>(receive) + at, bytes, peers[peer]);
  }
  static_cast<void>(transfer(stream));
}

CountsHandle NcclCommunicator::exchange_counts(Stream& stream, Group group,
                                               const std::int64_t* send, std::int64_t* receive,
                                               std::int32_t slots) {
  Posted posted;
  posted.call = call_of(Operation::exchange_counts, group);
  posted.count = slots;
  const Call call = posted.call;
  if (begin(stream, std::move(posted))) {
    const std::int64_t bytes = slots * static_cast<std::int64_t>(sizeof(std::int64_t));
    exchange_equal(stream, group, send, receive, bytes);
    LinkBytes sent;
    for (const std::int32_t peer : members(group)) add_bytes(sent, peer, bytes);
    end(stream, call, sent);
  }
  counts_stream_ = &stream;
  return {stream.record()};
}

Status NcclCommunicator::wait(const CountsHandle& handle) {
  if (counts_stream_ != nullptr) counts_stream_->synchronize(handle.done);
  return status();
}

void NcclCommunicator::alltoall_v(Stream& stream, Group group, const AllToAllV& buffers) {
  if (buffers.sizes_from_stream) stream.synchronize(stream.record());
  const std::vector<std::int32_t>& peers = members(group);
  Posted posted;
  posted.call = call_of(Operation::alltoall_v, group);
  posted.send_bytes.assign(buffers.send_bytes, buffers.send_bytes + peers.size());
  posted.receive_bytes.assign(buffers.receive_bytes, buffers.receive_bytes + peers.size());
  const Call call = posted.call;
  if (!begin(stream, std::move(posted))) return;
  LinkBytes sent;
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    add_send(buffers.send + buffers.send_offsets[peer], buffers.send_bytes[peer], peers[peer]);
    add_receive(buffers.receive + buffers.receive_offsets[peer], buffers.receive_bytes[peer],
                peers[peer]);
    add_bytes(sent, peers[peer], buffers.send_bytes[peer]);
  }
  if (transfer(stream)) end(stream, call, sent);
}

void NcclCommunicator::barrier(Stream& stream, Group group) {
  Posted posted;
  posted.call = call_of(Operation::barrier, group);
  const Call call = posted.call;
  if (!begin(stream, std::move(posted))) return;
  const std::int64_t peers = group_size(group);
  std::byte* bytes = scratch(stream, 2 * peers);
  if (bytes == nullptr) return;
  exchange_equal(stream, group, bytes, bytes + peers, 1);
  end(stream, call, {});
}

// NCCL's own all-reduce may add in any order. Here every rank sums its chunk in ascending rank
// order, so that results are those of the other communicators bit for bit.
void NcclCommunicator::all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                                  DType dtype) {
  Posted posted;
  posted.call = call_of(Operation::all_reduce, group);
  posted.count = count;
  posted.dtype = dtype;
  const Call call = posted.call;
  if (!begin(stream, std::move(posted))) return;
  const std::int32_t peers = group_size(group);
  const Chunk own = chunk_of(count, group_rank(group), peers);
  Reduction& work = reduction_of(data, count, dtype, group);
  std::byte* room = scratch(stream, kSumScratchBytes + peers * work.stride);
  if (room == nullptr) return;
  if (work.sum == nullptr || work.sums != reinterpret_cast<float*>(room)) {
    work.sums = reinterpret_cast<float*>(room);
    work.parts = room + kSumScratchBytes;
    fill_sum(work);
  }
  if (!scatter_chunks(stream, work)) return;
  state_->port.ops->sum_columns(stream, work.sum->calls);
  if (!share_chunks(stream, work)) return;
  LinkBytes sent;
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    const std::int64_t elements = chunk_of(count, peer, peers).size() + own.size();
    add_bytes(sent, members(group)[static_cast<std::size_t>(peer)], elements * bytes_of(dtype));
  }
  end(stream, call, sent);
}

NcclCommunicator::Reduction& NcclCommunicator::reduction_of(void* data, std::int64_t count,
                                                            DType dtype, Group group) {
  for (const auto& one : reductions_) {
    if (one->data == data && one->count == count && one->dtype == dtype && one->group == group) {
      return *one;
    }
  }
  Reduction& made = *reductions_.emplace_back(std::make_unique<Reduction>());
  made.data = static_cast<std::byte*>(data);
  made.count = count;
  made.dtype = dtype;
  made.group = group;
  const Chunk own = chunk_of(count, group_rank(group), group_size(group));
  made.stride = aligned(own.size() * bytes_of(dtype));
  return made;
}

bool NcclCommunicator::scatter_chunks(Stream& stream, const Reduction& work) {
  const std::int32_t peers = group_size(work.group);
  const std::int32_t me = group_rank(work.group);
  const std::int64_t bytes = bytes_of(work.dtype);
  const std::int64_t own = chunk_of(work.count, me, peers).size() * bytes;
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    if (peer == me) continue;
    const std::int32_t other = members(work.group)[static_cast<std::size_t>(peer)];
    const Chunk theirs = chunk_of(work.count, peer, peers);
    add_send(work.data + theirs.begin * bytes, theirs.size() * bytes, other);
    add_receive(work.parts + peer * work.stride, own, other);
  }
  return transfer(stream);
}

void NcclCommunicator::fill_sum(Reduction& work) const {
  const std::int32_t peers = group_size(work.group);
  const std::int32_t me = group_rank(work.group);
  const Chunk own = chunk_of(work.count, me, peers);
  std::byte* const target = work.data + own.begin * bytes_of(work.dtype);
  std::vector<const std::byte*> parts;
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    parts.push_back(peer == me ? target : work.parts + peer * work.stride);
  }
  work.sum = std::make_unique<ChunkSum>();
  work.sum->fill(target, parts, own.size(), work.dtype, work.sums);
}

bool NcclCommunicator::share_chunks(Stream& stream, const Reduction& work) {
  const std::int32_t peers = group_size(work.group);
  const std::int32_t me = group_rank(work.group);
  const std::int64_t bytes = bytes_of(work.dtype);
  const Chunk own = chunk_of(work.count, me, peers);
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    if (peer == me) continue;
    const std::int32_t other = members(work.group)[static_cast<std::size_t>(peer)];
    const Chunk theirs = chunk_of(work.count, peer, peers);
    add_send(work.data + own.begin * bytes, own.size() * bytes, other);
    add_receive(work.data + theirs.begin * bytes, theirs.size() * bytes, other);
  }
  return transfer(stream);
}

}  // namespace shardscope::engine::cuda
