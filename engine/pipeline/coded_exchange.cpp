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

/// Messages of a rank together: below this, what a second exchange of sizes takes is not won back.
constexpr std::int64_t kWorthTwoParts = 256 << 10;

CodecSpec scaled(CodecSpec spec, double factor) {
  spec.bound *= factor;
  return spec;
}

}  // namespace

std::int64_t coded_room(std::span<const MessageChunk> chunks) {
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
  // One answer for all ranks.
  const std::int64_t first_rank = codec_memory(plan.workload, plan.topology, plan.layout,
                                               plan.routes, cluster, 0, plan.capacity)
                                      .message_bytes;
  parts_ = first_rank >= kWorthTwoParts ? kMostParts : 1;
  for (Job& job : jobs_) {
    const auto peers = static_cast<std::size_t>(plan.ranks());
    for (Part& part : job.part) {
      for (auto* list : {&part.send_offsets, &part.send_bytes, &part.receive_offsets,
                         &part.receive_bytes, &part.totals_out, &part.totals_in}) {
        list->resize(peers);
      }
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

std::span<const MessageChunk> CodedExchange::chunks_of(const std::vector<MessageChunk>& message,
                                                       std::size_t part, std::size_t parts) {
  const std::span<const MessageChunk> all(message);
  if (parts == 1) return all;
  std::int64_t values = 0;
  for (const MessageChunk& chunk : message) values += chunk.shape.values();
  // The first part ends with the chunk that fills half.
  std::size_t half = 0;
  for (std::int64_t before = 0; half < message.size() && 2 * before < values; ++half) {
    before += message[half].shape.values();
  }
  return part == 0 ? all.first(half) : all.subspan(half);
}

void CodedExchange::enqueue(Stream& stream, Stream* helper, Communicator& communicator,
                            const Request& request) {
  Job& job = job_of(request);
  Stream& codecs = helper == nullptr ? stream : *helper;
  const std::size_t parts = helper == nullptr ? 1 : parts_;
  // The host may be an iteration ahead of the stream: the job changes when the stream gets there.
  stream.enqueue([this, &job, request, from = &communicator] {
    job.request = request;
    job.communicator = from;
  });
  stream.enqueue([this, &job, parts] { begin(job, parts); });
  if (helper != nullptr) helper->wait(stream.record());
  std::array<Event, kMostParts> encoded;
  for (std::size_t p = 0; p < parts; ++p) {
    codecs.enqueue([this, &job, p] { encode(job, p); });
    if (helper != nullptr) encoded[p] = helper->record();
  }
  for (std::size_t p = 0; p < parts; ++p) {
    Part& part = job.part[p];
    if (helper != nullptr) stream.wait(encoded[p]);
    static_cast<void>(communicator.exchange_counts(stream, request.group, part.totals_out.data(),
                                                   part.totals_in.data(), 1));
    stream.enqueue([this, &job, p] { take_sizes(job, p); });
    communicator.alltoall_v(
        stream, request.group,
        {request.call.send, part.send_offsets.data(), part.send_bytes.data(), request.call.receive,
         part.receive_offsets.data(), part.receive_bytes.data(), /*sizes_from_stream=*/true});
    if (helper != nullptr) helper->wait(stream.record());
    codecs.enqueue([this, &job, p] { decode(job, p); });
  }
  if (helper != nullptr) stream.wait(helper->record());
}

void CodedExchange::begin(Job& job, std::size_t parts) {
  job.parts = parts;
  job.bytes = {0, 0, static_cast<std::int32_t>(parts)};
  job.shares = {};
}

// Offsets count from the uncoded buffers, which lie in the same arena. Parts of a message follow
// each other where the whole would stand.
void CodedExchange::encode(Job& job, std::size_t part) {
  const Request& request = job.request;
  Part& now = job.part[part];
  std::byte* out = send_;
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    const std::vector<MessageChunk>& message = (*request.sent)[p];
    now.send_offsets[p] = request.call.send_offsets[p];
    now.send_bytes[p] = part == 0 ? request.call.send_bytes[p] : 0;
    if (!message.empty()) {
      std::byte* at = part == 0 ? out : out + job.part[0].send_bytes[p];
      now.send_offsets[p] = at - request.call.send;
      now.send_bytes[p] = encode_message(job, chunks_of(message, part, job.parts), at);
      if (part == 0) job.bytes.before += request.call.send_bytes[p];
      job.bytes.after += now.send_bytes[p];
      out += aligned_bytes(coded_room(message));
    }
    now.totals_out[p] = now.send_bytes[p];
  }
}

std::int64_t CodedExchange::encode_message(Job& job, std::span<const MessageChunk> chunks,
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

void CodedExchange::take_sizes(Job& job, std::size_t part) {
  const Request& request = job.request;
  Part& now = job.part[part];
  std::byte* in = receive_;
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    const std::vector<MessageChunk>& message = (*request.received)[p];
    now.receive_offsets[p] = request.call.receive_offsets[p];
    now.receive_bytes[p] = part == 0 ? request.call.receive_bytes[p] : 0;
    if (message.empty()) continue;
    const std::byte* at = part == 0 ? in : in + job.part[0].receive_bytes[p];
    now.receive_offsets[p] = at - request.call.receive;
    now.receive_bytes[p] = now.totals_in[p];
    in += aligned_bytes(coded_room(message));
    if (now.totals_in[p] < 0 ||
        now.totals_in[p] > coded_room(chunks_of(message, part, job.parts))) {
      now.receive_bytes[p] = 0;
      fail_run(job, p, message.front().table, "is longer than the values it stands for");
    }
  }
}

void CodedExchange::decode(Job& job, std::size_t part) {
  if (!job.communicator->status()) return;  // what has come in is nothing
  const Request& request = job.request;
  for (std::size_t p = 0; p < request.peers->size(); ++p) {
    if (chunks_of((*request.received)[p], part, job.parts).empty()) continue;
    if (!decode_message(job, part, p)) return;
  }
}

bool CodedExchange::decode_message(Job& job, std::size_t part, std::size_t peer) {
  const AllToAllV& call = job.request.call;
  const Part& now = job.part[part];
  const std::span<const MessageChunk> chunks =
      chunks_of((*job.request.received)[peer], part, job.parts);
  ByteReader reader({call.receive + now.receive_offsets[peer],
                     static_cast<std::size_t>(now.receive_bytes[peer])});
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
