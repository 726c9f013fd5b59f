#pragma once
// Features, labels and dense inputs that come from a recorded stream.

#include <cstdint>
#include <memory>
#include <string>

#include "engine/batches/batch.hpp"
#include "engine/batches/feature_source.hpp"
#include "engine/batches/recorded/stream.hpp"

namespace shardscope::engine {

/// The samples of a stream that a source cycles through: iteration i of a global batch B takes
/// samples i B, i B + 1, ... modulo their number, so every sample is used equally often.
class StreamWindow {
 public:
  /// training: the first four fifths; evaluation: the rest. Errors when that leaves no sample.
  [[nodiscard]] static Result<StreamWindow> make(const RecordedStream& stream, Split split,
                                                 std::int64_t global_batch);

  /// Position of the first sample of an iteration's global batch.
  [[nodiscard]] std::int64_t start(std::int64_t iteration) const;
  /// Stream sample at a position; positions beyond the window go round.
  [[nodiscard]] std::int64_t sample(std::int64_t position) const {
    return begin_ + position % size_;
  }
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  std::int64_t begin_ = 0;
  std::int64_t size_ = 1;
  std::int64_t global_batch_ = 1;
};

/// The feature's ids: its column's, or where it names none the column at the feature's own position
/// among the workload's features. Text ids are hashes taken modulo the rows. So are whole numbers
/// of a table that was capped (rows == rows_cap); of other tables those outside the table are an
/// error naming file, line, id and rows (checked here, over the whole stream) or are counted and
/// wrapped. Weights, where the feature has them, are synthetic. Errors too when the feature asks
/// for several bags a sample, or for concat with bags of another length than its hotness.
[[nodiscard]] Result<std::unique_ptr<FeatureSource>> make_recorded_feature(
    const Workload& workload, std::int32_t feature, std::uint64_t seed, RangePolicy policy,
    std::shared_ptr<const RecordedStream> stream, const StreamWindow& window);

/// Fills dense inputs and labels of a batch from the stream. `dense_features` of the stream's dense
/// columns are used, the first ones.
void fill_from_stream(const RecordedStream& stream, const StreamWindow& window,
                      std::int32_t dense_features, const SampleRange& samples, RankBatch& batch);

/// Whether the stream has the labels and dense columns that the workload's dense part needs.
[[nodiscard]] Status check_dense(const RecordedStream& stream, const Workload& workload);

}  // namespace shardscope::engine
