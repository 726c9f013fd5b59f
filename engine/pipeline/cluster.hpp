#pragma once
// The stages of one embedding cluster on one rank. Each function enqueues the stage on the stream
// and returns; only input_dist waits, for the counts.
//
// What a stage may count on, whatever the schedule: model_forward runs behind input_dist,
// network_forward behind model_forward, index_calculation behind model_forward, network_backward
// behind the gradients, local_reduce behind network_backward and index_calculation, update behind
// local_reduce (DP: allreduce). input_dist of the next batch may run beside all stages of this one.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/batches/batch_view.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/stream.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/result.hpp"
#include "profiler/codec_work.hpp"

namespace shardscope::engine {

/// One step on its way.
struct StageCall {
  Stream& stream;
  Communicator& communicator;  ///< the channel of the stream
  std::size_t slot = 0;        ///< of the batch the step works on
  const BatchView& batch;
  std::int64_t step = 1;     ///< iterations from 1, for the optimizer
  bool coded = true;         ///< vectors go through the layout's codecs; evaluation does without
  Stream* helper = nullptr;  ///< runs codecs beside the stream; null: the stream does
};

class Cluster {
 public:
  virtual ~Cluster() = default;

  /// update exchanges sums with other ranks.
  [[nodiscard]] virtual bool update_exchanges() const { return false; }

  /// Fills the host's lists of a batch where that needs no exchange. Called once for every batch,
  /// before any of its steps.
  virtual void begin(std::size_t /*slot*/, const BatchView& /*batch*/) {}

  [[nodiscard]] virtual Status input_dist(const StageCall& call) = 0;
  virtual void model_forward(const StageCall& call) = 0;
  virtual void network_forward(const StageCall& call) = 0;
  virtual void index_calculation(const StageCall& call) = 0;
  virtual void network_backward(const StageCall& call) = 0;
  virtual void local_reduce(const StageCall& call) = 0;
  virtual void allreduce(const StageCall& call) = 0;
  virtual void update(const StageCall& call) = 0;

  /// Ids of the batch that this rank looks up, sorts and reduces; for records. Known behind
  /// input_dist.
  [[nodiscard]] virtual std::int64_t rows(std::size_t slot) const = 0;

  /// Appends what codecs did in that exchange, as `step` but for it; on the stream that ran it.
  virtual void append_codec_work(Direction /*direction*/, const CodecWork& /*step*/,
                                 std::vector<CodecWork>& /*out*/) const {}
  /// Coded messages of the last exchange in that direction. Between iterations.
  [[nodiscard]] virtual CodedBytes coded(Direction /*direction*/) const { return {}; }
};

}  // namespace shardscope::engine
