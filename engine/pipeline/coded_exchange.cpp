#include "engine/pipeline/coded_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "layout/invariant.hpp"
#include "profiler/clock.hpp"

namespace shardscope::engine {

static_assert(kCodedChunkBytes >= 4 + kChunkHeaderBytes + kWriterSlack,
              "the buffers hold the longest coded message");

namespace {

CodecSpec scaled(CodecSpec spec, double factor) {
  spec.bound *= factor;
  return spec;
}

}  // namespace

std::int64_t coded_room(const std::vector<MessageChunk>& chunks) {
  std::int64_t bytes = 0;
  for (const MessageChunk& chunk : chunks) bytes += 4 * chunk.shape.values() + kCodedChunkBytes;
  return bytes;
}

CodedExchange::CodedExchange(const RunPlan& plan, Arena& arena, const char* prefix,
                             ClusterType cluster, std::int32_t rank)
    : plan_(plan), rank_(rank) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    active_[static_cast<std::size_t>(direction)] =
        is_coded(plan.topology, plan.layout, cluster, direction);
  }
  if (!active_[0] && !active_[1]) return;
  const CodecMemory memory = codec_memory(plan.workload, plan.topology, plan.layout, plan.routes,
                                          cluster, rank, plan.capacity);
  send_ = arena.get(std::string(prefix) + "coded.send");
  receive_ = arena.get(std::string(prefix) + "coded.receive");
  std::byte* scratch = arena.get(std::string(prefix) + "coded.scratch");
  if (memory.max_values > 0) {
    scratch_.emplace(CodecScratch::in(scratch, memory.max_values, memory.max_rows));
  }
  for (Job& job : jobs_) {
    const auto peers = static_cast<std::size_t>(plan.ranks());
    for (auto* list : {&job.send_offsets, &job.send_bytes, &job.receive_offsets, &job.receive_bytes,
                       &job.totals_out, &job.totals_in}) {
      list->resize(peers);
    }
  }
}

CodecSpec CodedExchange::spec_of(std::int32_t table, std::int32_t peer, Direction direction,
                                 std::int32_t shards) const {
  const CodecSlots& slots = plan_.layout.codecs_of(static_cast<std::size_t>(table));
  const auto spec = codec_spec(codec_slot(slots, direction, plan_.topology.link(rank_, peer)));
  SHARDSCOPE_CHECK(spec.has_value(), "a codec that the layout's check lets through");
  CodecSpec shared = *spec;
  shared.bound /= shards;
  return shared;
}

void CodedExchange::drop_raw(ChunkLists& chunks) {
  for (std::vector<MessageChunk>& list : chunks) {
    const bool raw = std::all_of(list.begin(), list.end(), [](const MessageChunk& chunk) {
      return chunk.spec.kind == CodecKind::raw;
    });
    if (raw) list.clear();
  }
}

CodedExchange::Job& CodedExchange::job_of(const Request& request) {
  const std::size_t direction = request.direction == Direction::forward ? 0 : 1;
  return jobs_[2 * direction + (request.group == Group::flat ? 0 : 1)];
}

CodedBytes CodedExchange::last(Direction direction) const {
  const std::size_t first = direction == Direction::forward ? 0 : 2;
  CodedBytes sum = jobs_[first].bytes;
  sum.before += jobs_[first + 1].bytes.before;
  sum.after += jobs_[first + 1].bytes.after;
  sum.exchanges += jobs_[first + 1].bytes.exchanges;
  return sum;
}

void CodedExchange::append_work(Direction direction, const CodecWork& step,
                                std::vector<CodecWork>& out) const {
  const std::size_t first = direction == Direction::forward ? 0 : 2;
  for (const CodecKind kind : kAllCodecs) {
    CodecWork work = step;
    work.codec = name_of(kind);
    work.start_ns = 0;
    for (const std::size_t j : {first, first + 1}) {
      const Share& share = jobs_[j].shares[static_cast<std::size_t>(kind)];
      if (work.start_ns == 0) work.start_ns = share.start_ns;
      work.encode_ns += share.encode_ns;
      work.decode_ns += share.decode_ns;
      work.chunks += share.chunks;
      work.bytes_before += share.bytes.before;
      work.bytes_after += share.bytes.after;
    }
    if (work.start_ns != 0) out.push_back(std::move(work));
  }
}

void CodedExchange::enqueue(Stream& stream, Communicator& communicator, const Request& request) {
  Job& job = job_of(request);
  // The host may be an iteration ahead of the stream: the job changes when the stream gets there.
  stream.enqueue([this, &job, request, from = &communicator] {
    job.request = request;
    job.communicator = from;
    encode(job);
  });
  static_cast<void>(communicator.exchange_counts(stream, request.group, job.totals_out.data(),
                                                 job.totals_in.data(), 1));
  stream.enqueue([this, &job] { take_sizes(job); });
  communicator.alltoall_v(
      stream, request.group,
      {request.call.send, job.send_offsets.data(), job.send_bytes.data(), request.call.receive,
       job.receive_offsets.data(), job.receive_bytes.data(), /*sizes_from_stream=*/true});
  stream.enqueue([this, &job] { decode(job); });
}

// Offsets count from the uncoded buffers, which lie in the same arena.
void CodedExchange::encode(Job& job) {
  const Request& request = job.request;
  std::byte* out = send_;
  job.bytes = {0, 0, 1};
  job.shares = {};
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    const std::vector<MessageChunk>& chunks = (*request.sent)[p];
    job.send_offsets[p] = request.call.send_offsets[p];
    job.send_bytes[p] = request.call.send_bytes[p];
    if (!chunks.empty()) {
      job.send_offsets[p] = out - request.call.send;
      job.send_bytes[p] = encode_message(job, chunks, out);
      job.bytes.before += request.call.send_bytes[p];
      job.bytes.after += job.send_bytes[p];
      out += aligned_bytes(coded_room(chunks));
    }
    job.totals_out[p] = job.send_bytes[p];
  }
}

std::int64_t CodedExchange::encode_message(Job& job, const std::vector<MessageChunk>& chunks,
                                           std::byte* out) {
  std::byte* size = out;
  std::byte* at = out + 4 * chunks.size();
  for (const MessageChunk& chunk : chunks) {
    const auto room = static_cast<std::size_t>(encode_room_bytes(chunk.shape.values()));
    std::int64_t bytes = 0;
    Share& share = job.shares[static_cast<std::size_t>(chunk.spec.kind)];
    const std::int64_t began_ns = steady_ns();
    if (share.start_ns == 0) share.start_ns = began_ns;
    if (chunk.shape.values() > 0) {
      const CodecSpec spec = scaled(chunk.spec, job.request.scale);
      const auto* values = reinterpret_cast<const float*>(job.request.call.send + chunk.offset);
      // The send buffer is the cluster's own, and packed anew every iteration.
      bytes = chunk.feedback.lost == nullptr
                  ? encode_chunk(spec, values, chunk.shape, *scratch_, {at, room})
                  : encode_with_feedback(spec, chunk, const_cast<float*>(values), {at, room});
    }
    share.encode_ns += steady_ns() - began_ns;
    share.chunks += 1;
    share.bytes.before += 4 * chunk.shape.values();
    share.bytes.after += bytes + kExchangedSizeBytes;
    store_le(size, static_cast<std::uint32_t>(bytes));
    size += 4;
    at += bytes;
  }
  return at - out;
}

// Rows of a chunk are distinct. A row that is not finite leaves nothing behind.
std::int64_t CodedExchange::encode_with_feedback(const CodecSpec& spec, const MessageChunk& chunk,
                                                 float* values, std::span<std::byte> out) {
  const TablePlacement& placement = plan_.placement(chunk.table);
  const std::int64_t dim = plan_.table(chunk.table).dim;
  const auto lost_of = [&](std::int64_t r) {
    const std::int64_t local = plan_.workload.key == KeyType::i64
                                   ? reinterpret_cast<const std::int64_t*>(chunk.feedback.ids)[r]
                                   : reinterpret_cast<const std::int32_t*>(chunk.feedback.ids)[r];
    return chunk.feedback.lost + placement.global_row(chunk.feedback.row_shard, local) * dim +
           chunk.feedback.column_begin;
  };
  const std::int64_t width = chunk.shape.dim;
  for (std::int64_t r = 0; r < chunk.shape.rows; ++r) {
    float* lost = lost_of(r);
    for (std::int64_t c = 0; c < width; ++c) lost[c] = values[r * width + c] += lost[c];
  }
  const std::int64_t bytes = encode_chunk(spec, values, chunk.shape, *scratch_, out);
  const PayloadFault fault = decode_chunk(spec, out.first(static_cast<std::size_t>(bytes)),
                                          chunk.shape, *scratch_, values);
  SHARDSCOPE_CHECK(fault == nullptr, "a payload that its own decoder refuses");
  for (std::int64_t r = 0; r < chunk.shape.rows; ++r) {
    float* lost = lost_of(r);
    for (std::int64_t c = 0; c < width; ++c) {
      const float rest = lost[c] - values[r * width + c];
      lost[c] = std::isfinite(rest) ? rest : 0;
    }
  }
  return bytes;
}

void CodedExchange::take_sizes(Job& job) {
  const Request& request = job.request;
  std::byte* in = receive_;
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    const std::vector<MessageChunk>& chunks = (*request.received)[p];
    job.receive_offsets[p] = request.call.receive_offsets[p];
    job.receive_bytes[p] = request.call.receive_bytes[p];
    if (chunks.empty()) continue;
    const std::int64_t room = coded_room(chunks);
    job.receive_offsets[p] = in - request.call.receive;
    job.receive_bytes[p] = job.totals_in[p];
    in += aligned_bytes(room);
    if (job.totals_in[p] < 0 || job.totals_in[p] > room) {
      job.receive_bytes[p] = 0;
      fail_run(job, p, chunks.front().table, "is longer than the values it stands for");
    }
  }
}

void CodedExchange::decode(Job& job) {
  if (!job.communicator->status()) return;  // what has come in is nothing
  const Request& request = job.request;
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    if ((*request.received)[p].empty()) continue;
    if (!decode_message(job, p)) return;
  }
}

bool CodedExchange::decode_message(Job& job, std::size_t peer) {
  const AllToAllV& call = job.request.call;
  const std::vector<MessageChunk>& chunks = (*job.request.received)[peer];
  ByteReader reader({call.receive + job.receive_offsets[peer],
                     static_cast<std::size_t>(job.receive_bytes[peer])});
  const auto sizes = reader.take_bytes(4 * chunks.size());
  if (reader.failed()) {
    fail_run(job, peer, chunks.front().table, "ends inside its sizes");
    return false;
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto payload = reader.take_bytes(load_le<std::uint32_t>(sizes.data() + 4 * i));
    PayloadFault fault = reader.failed() ? "ends too early" : nullptr;
    Share& share = job.shares[static_cast<std::size_t>(chunks[i].spec.kind)];
    const std::int64_t began_ns = steady_ns();
    if (share.start_ns == 0) share.start_ns = began_ns;
    if (chunks[i].shape.values() == 0) {
      if (!payload.empty()) fault = "holds values of an empty chunk";
    } else if (fault == nullptr) {
      fault = decode_chunk(scaled(chunks[i].spec, job.request.scale), payload, chunks[i].shape,
                           *scratch_, reinterpret_cast<float*>(call.receive + chunks[i].offset));
    }
    share.decode_ns += steady_ns() - began_ns;
    if (fault == nullptr) continue;
    fail_run(job, peer, chunks[i].table, fault);
    return false;
  }
  if (reader.rest().empty()) return true;
  fail_run(job, peer, chunks.back().table, "has bytes behind its end");
  return false;
}

void CodedExchange::fail_run(const Job& job, std::size_t peer, std::int32_t table,
                             const char* reason) const {
  job.communicator->abort(
      {ErrorKind::runtime,
       fmt::format("the coded message with table {} from rank {} {}", plan_.table(table).name,
                   (*job.request.peers)[peer], reason),
       fmt::format("rank {}", rank_), "a payload of the layout's codec",
       "Run without codecs to see whether the link or its memory corrupts data"});
}

}  // namespace shardscope::engine
