#pragma once
// One rank's part of a global batch, generated ahead of use.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/table_stats.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Ids in the workload's key type: exactly one of the two is used.
struct Ids {
  KeyType type = KeyType::i32;
  std::vector<std::int32_t> i32;
  std::vector<std::int64_t> i64;

  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(type == KeyType::i32 ? i32.size() : i64.size());
  }
  [[nodiscard]] std::int64_t operator[](std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    return type == KeyType::i32 ? i32[at] : i64[at];
  }
};

/// One feature of one rank: bags of sample 0 first, num_poolings bags a sample.
struct FeatureBatch {
  std::vector<std::int32_t> lengths;  ///< ids of each bag
  Ids ids;                            ///< table rows, all in range
  std::vector<float> weights;         ///< as ids where the feature is weighted, else empty
};

/// One rank's samples of one global batch.
struct RankBatch {
  std::int64_t iteration = 0;
  std::int64_t samples = 0;
  std::vector<FeatureBatch> features;  ///< in workload order
  std::vector<float> dense;            ///< samples x dense_features, row-major
  std::vector<float> labels;           ///< samples; 0 or 1
};

/// What becomes of an id outside its table.
enum class RangePolicy : std::uint8_t { error, wrap };

/// Which samples a source makes. Recorded streams keep their last fifth for evaluation; synthetic
/// sources have as many fresh samples as wanted for either.
enum class Split : std::uint8_t { whole, training, evaluation };

/// Makes batches. A batch depends on (seed, iteration) and the workload alone: the samples of all
/// ranks together are the same for any number of ranks and threads. make() is const and may be
/// called from several threads.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  [[nodiscard]] virtual Result<RankBatch> make(std::int64_t iteration, std::int32_t rank,
                                               std::int32_t ranks) const = 0;
  /// Ids outside their tables met by make() so far (then wrapped), of all tables or of one.
  [[nodiscard]] virtual std::int64_t out_of_range() const { return 0; }
  [[nodiscard]] virtual std::int64_t out_of_range_of_table(std::int32_t /*table*/) const {
    return 0;
  }
};

/// Synthetic ids by each feature's IdDistribution and Hotness; labels by the synthetic task of
/// engine/batches/task.hpp. Features with a recorded distribution read their stream, and where
/// there is one, labels and dense inputs are the stream's. Without a dense part
/// (Interaction::none) batches carry no dense inputs and all labels are 0.
///
/// Synthetic ids are drawn for the workload's own (possibly capped) rows; recorded ids outside the
/// table follow `policy` (wrap takes them modulo the rows).
[[nodiscard]] Result<std::unique_ptr<BatchSource>> make_batch_source(const Workload& workload,
                                                                     std::uint64_t seed,
                                                                     RangePolicy policy,
                                                                     Split split = Split::whole);

/// Counts of one global batch (all ranks' parts) under a layout that is valid for the workload.
/// One pass over the ids; about 0.1 us an id.
[[nodiscard]] BatchCounts count_batch(const Workload& workload, const Layout& layout,
                                      const std::vector<RankBatch>& parts);

/// Statistics per table over global batches 0..iterations-1, for `ranks` ranks. The unique curve
/// has points at a rank's share (mean over ranks), at 2, 4, ... ranks' shares and at the whole
/// batch, each the mean over batches. Uses all cores; holds one global batch and the counts of all
/// rows read. modulo_max_share covers 2 to 1024 shards.
[[nodiscard]] Result<std::vector<TableStats>> collect_stats(const Workload& workload,
                                                            const BatchSource& source,
                                                            std::int64_t iterations,
                                                            std::int32_t ranks);

}  // namespace shardscope::engine
