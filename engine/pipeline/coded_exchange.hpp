#pragma once
// An all-to-all of vectors whose messages run through codecs: the senders encode, sizes are
// exchanged, the coded bytes travel, the receivers decode into the very place where uncoded
// messages would have come in. Messages without chunks travel as they are.
//
// Large exchanges go in two parts, each with half of every message's values: with a second stream
// for the codecs the second part is encoded while the first is on the wire, and the first decoded
// while the second is. What is decoded does not depend on it.
//
// A coded message: a u32 a chunk with the size of its payload, then the payloads. A payload that
// cannot be decoded, or a size that cannot be, ends the run with an error that names both ranks,
// the table and the reason.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/codec/chunk_codec.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/pipeline/arena.hpp"
#include "engine/pipeline/message_arrays.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "layout/codec_bytes.hpp"
#include "profiler/codec_work.hpp"

namespace shardscope::engine {

/// Error feedback of a chunk's rows: what coding has lost of every row of the table so far, and
/// which rows the chunk has.
struct ChunkFeedback {
  float* lost = nullptr;           ///< rows x dim of the table; null: none is kept
  const std::byte* ids = nullptr;  ///< local rows of the row shard, in the workload's key type
  std::int32_t row_shard = 0;
  std::int32_t column_begin = 0;
};

/// A part of a message: rows x dim fp32 values of one table.
struct MessageChunk {
  std::int32_t table = 0;
  CodecSpec spec;
  std::int64_t offset = 0;  ///< bytes in the uncoded buffer
  ChunkShape shape;
  ChunkFeedback feedback;
};

/// Chunks by peer; empty for peers whose messages travel uncoded. Sender and receiver list the
/// same chunks.
using ChunkLists = std::vector<std::vector<MessageChunk>>;

/// The codecs of one cluster on one rank.
class CodedExchange {
 public:
  /// `prefix` names the cluster's buffers ("rb."). Inactive where the layout has no codec for it.
  CodedExchange(const RunPlan& plan, Arena& arena, const char* prefix, ClusterType cluster,
                std::int32_t rank);

  CodedExchange(const CodedExchange&) = delete;
  CodedExchange& operator=(const CodedExchange&) = delete;

  /// Whether messages of that direction may be coded: equal on all ranks.
  [[nodiscard]] bool active(Direction direction) const {
    return active_[static_cast<std::size_t>(direction)];
  }

  /// The spec of a table's messages to or from a peer; `shards` of them add up at the receiver and
  /// share the bound. Nothing where they travel uncoded.
  [[nodiscard]] CodecSpec spec_of(std::int32_t table, std::int32_t peer, Direction direction,
                                  std::int32_t shards) const;

  /// Drops the lists of peers all of whose chunks are raw.
  static void drop_raw(ChunkLists& chunks);

  /// The exchange of `call` with the chunks coded. The call's arrays and the lists stay valid until
  /// the stream has run it; `peers` are the ranks of the group in order.
  struct Request {
    Direction direction = Direction::forward;
    Group group = Group::flat;
    const std::vector<std::int32_t>* peers = nullptr;
    AllToAllV call;
    const ChunkLists* sent = nullptr;
    const ChunkLists* received = nullptr;
    double scale = 1;  ///< of the bounds: their decay
  };
  /// `helper` runs the codecs, null: the stream does. All ranks give one, or none does. The stream
  /// goes on when both are through.
  void enqueue(Stream& stream, Stream* helper, Communicator& communicator, const Request& request);

  /// What this rank sent in the last exchanges of that direction.
  [[nodiscard]] CodedBytes last(Direction direction) const;

  /// Appends what each codec did in them, as `step` but for what the codec did; times of the clock.
  /// On the stream that ran them.
  void append_work(Direction direction, const CodecWork& step, std::vector<CodecWork>& out) const;

 private:
  /// One codec's part of an exchange.
  struct Share {
    std::int64_t start_ns = 0;  ///< of its first chunk; 0: it had none
    std::int64_t encode_ns = 0;
    std::int64_t decode_ns = 0;
    std::int64_t chunks = 0;
    CodedBytes bytes;
  };
  using Shares = std::array<Share, kAllCodecs.size()>;

  static constexpr std::size_t kMostParts = 2;

  /// What travels at once: by peer.
  struct Part {
    std::vector<std::int64_t> send_offsets, send_bytes, receive_offsets, receive_bytes;
    std::vector<std::int64_t> totals_out, totals_in;
  };
  /// One all-to-all in hand: a cluster has at most a flat and a rail exchange in each direction.
  struct Job {
    Request request;
    Communicator* communicator = nullptr;
    std::size_t parts = 1;
    std::array<Part, kMostParts> part;
    CodedBytes bytes;
    Shares shares;
  };

  [[nodiscard]] Job& job_of(const Request& request);
  /// A part's chunks of a message.
  [[nodiscard]] static std::span<const MessageChunk> chunks_of(
      const std::vector<MessageChunk>& message, std::size_t part, std::size_t parts);
  void begin(Job& job, std::size_t parts);
  void encode(Job& job, std::size_t part);
  void take_sizes(Job& job, std::size_t part);
  void decode(Job& job, std::size_t part);
  [[nodiscard]] std::int64_t encode_message(Job& job, std::span<const MessageChunk> chunks,
                                            std::byte* out);
  /// Adds what was lost of the chunk's rows to them, and keeps what coding them loses now.
  [[nodiscard]] std::int64_t encode_with_feedback(const CodecSpec& spec, const MessageChunk& chunk,
                                                  float* values, std::span<std::byte> out);
  [[nodiscard]] bool decode_message(Job& job, std::size_t part, std::size_t peer);
  void fail_run(const Job& job, std::size_t peer, std::int32_t table, const char* reason) const;

  const RunPlan& plan_;
  std::int32_t rank_;
  std::array<bool, 2> active_{};
  std::size_t parts_ = 1;  ///< of exchanges with a helper
  std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  std::optional<CodecScratch> scratch_;
  std::array<Job, 4> jobs_;
};

/// Most bytes of a message of these chunks.
[[nodiscard]] std::int64_t coded_room(std::span<const MessageChunk> chunks);

}  // namespace shardscope::engine
