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

/// An all-reduce on its way. The lists of its sum last until the stream has run them.
struct NcclCommunicator::Reduction {
  std::byte* data = nullptr;
  std::byte* parts = nullptr;  ///< own chunk of every peer, `stride` bytes apart
  float* sums = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  DType dtype = DType::fp32;
  ChunkSum sum;
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

bool NcclCommunicator::begin(Posted posted) {
  if (state_->abort.raised()) return false;
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
  stream.enqueue([this, call, sent] {
    if (state_->abort.raised()) return;
    sent_intra_.fetch_add(sent.intra, std::memory_order_relaxed);
    sent_inter_.fetch_add(sent.inter, std::memory_order_relaxed);
    state_->board.done(rank_, call);
  });
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

void NcclCommunicator::exchange_equal(Stream& stream, Group group, const void* send, void* receive,
                                      std::int64_t bytes) {
  const NcclApi& nccl = *state_->port.nccl;
  const std::vector<std::int32_t>& peers = members(group);
  void* native = state_->port.native(stream);
  const auto count = static_cast<std::size_t>(bytes);
  static_cast<void>(state_->group(rank_, channel_, [&](NcclComm comm, const auto& add) {
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
      const auto* from = static_cast<const std::byte*>(send) + peer * count;
      add(nccl.send(from, count, kNcclInt8, peers[peer], comm, native));
      auto* to = static_cast<std::byte*>(receive) + peer * count;
      add(nccl.receive(to, count, kNcclInt8, peers[peer], comm, native));
    }
  }));
}

CountsHandle NcclCommunicator::exchange_counts(Stream& stream, Group group,
                                               const std::int64_t* send, std::int64_t* receive,
                                               std::int32_t slots) {
  Posted posted;
  posted.call = call_of(Operation::exchange_counts, group);
  posted.count = slots;
  const Call call = posted.call;
  if (begin(std::move(posted))) {
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
  if (!begin(std::move(posted))) return;
  const NcclApi& nccl = *state_->port.nccl;
  void* native = state_->port.native(stream);
  const bool enqueued = state_->group(rank_, channel_, [&](NcclComm comm, const auto& add) {
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
      if (buffers.send_bytes[peer] > 0) {
        add(nccl.send(buffers.send + buffers.send_offsets[peer],
                      static_cast<std::size_t>(buffers.send_bytes[peer]), kNcclInt8, peers[peer],
                      comm, native));
      }
      if (buffers.receive_bytes[peer] > 0) {
        add(nccl.receive(buffers.receive + buffers.receive_offsets[peer],
                         static_cast<std::size_t>(buffers.receive_bytes[peer]), kNcclInt8,
                         peers[peer], comm, native));
      }
    }
  });
  if (!enqueued) return;
  LinkBytes sent;
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    add_bytes(sent, peers[peer], buffers.send_bytes[peer]);
  }
  end(stream, call, sent);
}

void NcclCommunicator::barrier(Stream& stream, Group group) {
  Posted posted;
  posted.call = call_of(Operation::barrier, group);
  const Call call = posted.call;
  if (!begin(std::move(posted))) return;
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
  if (!begin(std::move(posted))) return;
  const std::int32_t peers = group_size(group);
  const Chunk own = chunk_of(count, group_rank(group), peers);
  auto work = std::make_unique<Reduction>();
  work->data = static_cast<std::byte*>(data);
  work->count = count;
  work->dtype = dtype;
  work->stride = aligned(own.size() * bytes_of(dtype));
  std::byte* room = scratch(stream, kSumScratchBytes + peers * work->stride);
  if (room == nullptr) return;
  work->sums = reinterpret_cast<float*>(room);
  work->parts = room + kSumScratchBytes;
  if (!scatter_chunks(stream, group, *work)) return;
  sum_chunks(stream, group, *work);
  const bool shared = share_chunks(stream, group, *work);
  stream.enqueue([finished = work.release()] { delete finished; });
  if (!shared) return;
  LinkBytes sent;
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    const std::int64_t elements = chunk_of(count, peer, peers).size() + own.size();
    add_bytes(sent, members(group)[static_cast<std::size_t>(peer)], elements * bytes_of(dtype));
  }
  end(stream, call, sent);
}

bool NcclCommunicator::scatter_chunks(Stream& stream, Group group, const Reduction& work) {
  const NcclApi& nccl = *state_->port.nccl;
  void* native = state_->port.native(stream);
  const std::int32_t peers = group_size(group);
  const std::int32_t me = group_rank(group);
  const std::int64_t bytes = bytes_of(work.dtype);
  const std::int64_t own = chunk_of(work.count, me, peers).size() * bytes;
  return state_->group(rank_, channel_, [&](NcclComm comm, const auto& add) {
    for (std::int32_t peer = 0; peer < peers; ++peer) {
      if (peer == me) continue;
      const std::int32_t other = members(group)[static_cast<std::size_t>(peer)];
      const Chunk theirs = chunk_of(work.count, peer, peers);
      if (theirs.size() > 0) {
        add(nccl.send(work.data + theirs.begin * bytes,
                      static_cast<std::size_t>(theirs.size() * bytes), kNcclInt8, other, comm,
                      native));
      }
      if (own > 0) {
        add(nccl.receive(work.parts + peer * work.stride, static_cast<std::size_t>(own), kNcclInt8,
                         other, comm, native));
      }
    }
  });
}

void NcclCommunicator::sum_chunks(Stream& stream, Group group, Reduction& work) {
  const std::int32_t peers = group_size(group);
  const std::int32_t me = group_rank(group);
  const Chunk own = chunk_of(work.count, me, peers);
  const std::int64_t bytes = bytes_of(work.dtype);
  std::byte* const target = work.data + own.begin * bytes;
  std::vector<const std::byte*> parts;
  for (std::int32_t peer = 0; peer < peers; ++peer) {
    parts.push_back(peer == me ? target : work.parts + peer * work.stride);
  }
  work.sum.fill(target, parts, own.size(), work.dtype, work.sums);
  state_->port.ops->sum_columns(stream, work.sum.calls);
}

bool NcclCommunicator::share_chunks(Stream& stream, Group group, const Reduction& work) {
  const NcclApi& nccl = *state_->port.nccl;
  void* native = state_->port.native(stream);
  const std::int32_t peers = group_size(group);
  const std::int32_t me = group_rank(group);
  const std::int64_t bytes = bytes_of(work.dtype);
  const Chunk own = chunk_of(work.count, me, peers);
  return state_->group(rank_, channel_, [&](NcclComm comm, const auto& add) {
    for (std::int32_t peer = 0; peer < peers; ++peer) {
      if (peer == me) continue;
      const std::int32_t other = members(group)[static_cast<std::size_t>(peer)];
      const Chunk theirs = chunk_of(work.count, peer, peers);
      if (own.size() > 0) {
        add(nccl.send(work.data + own.begin * bytes, static_cast<std::size_t>(own.size() * bytes),
                      kNcclInt8, other, comm, native));
      }
      if (theirs.size() > 0) {
        add(nccl.receive(work.data + theirs.begin * bytes,
                         static_cast<std::size_t>(theirs.size() * bytes), kNcclInt8, other, comm,
                         native));
      }
    }
  });
}

}  // namespace shardscope::engine::cuda
