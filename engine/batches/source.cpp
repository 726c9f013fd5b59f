#include <map>
#include <utility>

#include "engine/batches/batch.hpp"
#include "engine/batches/check_source.hpp"
#include "engine/batches/feature_source.hpp"
#include "engine/batches/recorded/recorded_source.hpp"
#include "engine/batches/task.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

/// A stream and the samples of it that are used.
struct OpenStream {
  std::shared_ptr<const RecordedStream> stream;
  StreamWindow window;
};

class FeatureWiseSource final : public BatchSource {
 public:
  FeatureWiseSource(const Workload& workload, std::uint64_t seed, Split split)
      : key_(workload.key),
        global_batch_(workload.global_batch),
        first_iteration_(split == Split::evaluation ? kEvaluationIterations : 0),
        has_dense_(workload.dense.interaction != Interaction::none),
        dense_features_(workload.dense.dense_features),
        task_(workload, seed) {}

  void add(std::unique_ptr<FeatureSource> feature, std::int32_t table) {
    features_.push_back(std::move(feature));
    tables_.push_back(table);
  }
  void take_labels_from(OpenStream stream) { labels_ = std::move(stream); }

  [[nodiscard]] Result<RankBatch> make(std::int64_t iteration, std::int32_t rank,
                                       std::int32_t ranks) const override {
    SHARDSCOPE_CHECK(iteration >= 0 && rank >= 0 && rank < ranks, "a rank of this world");
    RankBatch batch;
    batch.iteration = iteration;
    batch.samples = samples_of_rank(global_batch_, rank, ranks);
    const SampleRange samples{first_iteration_ + iteration,
                              first_sample_of_rank(global_batch_, rank, ranks), batch.samples};
    for (const auto& feature : features_) {
      FeatureBatch& part = batch.features.emplace_back();
      part.ids.type = key_;
      if (auto status = feature->fill(samples, part); !status) {
        return fail(std::move(status.error()));
      }
    }
    if (!has_dense_) {
      batch.labels.assign(static_cast<std::size_t>(batch.samples), 0.0F);
    } else if (labels_.stream) {
      fill_from_stream(*labels_.stream, labels_.window, dense_features_, samples, batch);
    } else {
      task_.fill(samples.iteration, samples.first, batch);
    }
    return batch;
  }

  [[nodiscard]] std::int64_t out_of_range() const override {
    std::int64_t sum = 0;
    for (const auto& feature : features_) sum += feature->out_of_range();
    return sum;
  }

  [[nodiscard]] std::int64_t out_of_range_of_table(std::int32_t table) const override {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      if (tables_[i] == table) sum += features_[i]->out_of_range();
    }
    return sum;
  }

 private:
  KeyType key_;
  std::int64_t global_batch_;
  std::int64_t first_iteration_;
  bool has_dense_;
  std::int32_t dense_features_;
  std::vector<std::unique_ptr<FeatureSource>> features_;
  std::vector<std::int32_t> tables_;  ///< of each feature
  OpenStream labels_;                 ///< empty: labels come from the task
  HiddenTask task_;
};

/// Streams by file, each read once.
class Streams {
 public:
  [[nodiscard]] Result<OpenStream> open(const std::string& spec, Split split,
                                        std::int64_t global_batch) {
    if (const auto known = open_.find(spec); known != open_.end()) return known->second;
    auto read = read_stream(spec);
    if (!read) return fail(std::move(read.error()));
    const auto window = StreamWindow::make(*read, split, global_batch);
    if (!window) return fail(window.error());
    OpenStream stream{std::make_shared<const RecordedStream>(std::move(*read)), *window};
    return open_.emplace(spec, std::move(stream)).first->second;
  }

 private:
  std::map<std::string, OpenStream> open_;
};

}  // namespace

Result<std::unique_ptr<BatchSource>> make_batch_source(const Workload& workload, std::uint64_t seed,
                                                       RangePolicy policy, Split split) {
  if (auto status = check_batchable(workload, physical_memory_bytes()); !status) {
    return fail(std::move(status.error()));
  }
  auto source = std::make_unique<FeatureWiseSource>(workload, seed, split);
  Streams streams;
  bool has_labels = false;
  for (std::size_t i = 0; i < workload.features.size(); ++i) {
    const Feature& description = workload.features[i];
    const auto index = static_cast<std::int32_t>(i);
    if (description.ids.kind != IdDistributionKind::recorded) {
      auto feature = make_synthetic_feature(workload, index, seed);
      if (!feature) return fail(std::move(feature.error()));
      source->add(std::move(*feature), description.table);
      continue;
    }
    auto stream = streams.open(description.ids.stream, split, workload.global_batch);
    if (!stream) return fail(std::move(stream.error()));
    auto feature =
        make_recorded_feature(workload, index, seed, policy, stream->stream, stream->window);
    if (!feature) return fail(std::move(feature.error()));
    source->add(std::move(*feature), description.table);
    if (has_labels) continue;
    if (auto status = check_dense(*stream->stream, workload); !status) {
      return fail(std::move(status.error()));
    }
    source->take_labels_from(std::move(*stream));
    has_labels = true;
  }
  return source;
}

}  // namespace shardscope::engine
