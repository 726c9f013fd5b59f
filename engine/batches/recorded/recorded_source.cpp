#include "engine/batches/recorded/recorded_source.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

/// One part in so many, the last, is kept for evaluation.
constexpr std::int64_t kEvaluationPart = 5;

/// `id` modulo `rows`, never negative.
std::int64_t wrapped(std::int64_t id, std::int64_t rows) {
  const std::int64_t rest = id % rows;
  return rest < 0 ? rest + rows : rest;
}

class RecordedFeature final : public FeatureSource {
 public:
  RecordedFeature(std::shared_ptr<const RecordedStream> stream, const StreamWindow& window,
                  ColumnRange columns, std::int64_t rows, bool count_outside)
      : stream_(std::move(stream)),
        window_(window),
        columns_(columns),
        rows_(rows),
        count_outside_(count_outside) {}

  void draw_weights_of(std::uint64_t seed, std::uint32_t feature) {
    weighted_ = true;
    seed_ = seed;
    feature_ = feature;
  }

  [[nodiscard]] Status fill(const SampleRange& samples, FeatureBatch& out) const override {
    out.lengths.assign(static_cast<std::size_t>(samples.count), 0);
    const std::int64_t start = window_.start(samples.iteration) + samples.first;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const std::int64_t sample = window_.sample(start + i);
      const std::int64_t length = length_of(sample);
      out.lengths[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(length);
      total += length;
    }
    if (out.ids.type == KeyType::i32) {
      copy_ids(start, samples.count, total, out.ids.i32);
    } else {
      copy_ids(start, samples.count, total, out.ids.i64);
    }
    out.weights.clear();
    if (weighted_) draw_weights(seed_, feature_, 1, samples, out);
    return {};
  }

  [[nodiscard]] std::int64_t out_of_range() const override { return outside_.load(); }

  [[nodiscard]] std::int64_t length_of(std::int64_t sample) const {
    std::int64_t length = 0;
    for (std::size_t i = columns_.first; i <= columns_.last; ++i) {
      const IdColumn& column = stream_->columns[i];
      length += column.begin(sample + 1) - column.begin(sample);
    }
    return length;
  }

 private:
  template <class Key>
  void copy_ids(std::int64_t start, std::int64_t count, std::int64_t total,
                std::vector<Key>& ids) const {
    ids.resize(static_cast<std::size_t>(total));
    std::size_t at = 0;
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t sample = window_.sample(start + i);
      for (std::size_t c = columns_.first; c <= columns_.last; ++c) {
        const IdColumn& column = stream_->columns[c];
        const std::int64_t end = column.begin(sample + 1);
        for (std::int64_t n = column.begin(sample); n < end; ++n) {
          const std::int64_t id = column.id(n);
          outside += id < 0 || id >= rows_ ? 1 : 0;
          ids[at++] = static_cast<Key>(wrapped(id, rows_));
        }
      }
    }
    if (count_outside_) outside_ += outside;
  }

  std::shared_ptr<const RecordedStream> stream_;
  StreamWindow window_;
  ColumnRange columns_;
  std::int64_t rows_;
  bool count_outside_;
  bool weighted_ = false;
  std::uint64_t seed_ = 0;
  std::uint32_t feature_ = 0;
  mutable std::atomic<std::int64_t> outside_{0};
};

Result<ColumnRange> column_of(const Workload& workload, std::int32_t feature,
                              const RecordedStream& stream) {
  const std::string& name = workload.features[static_cast<std::size_t>(feature)].ids.column;
  if (!name.empty()) return find_column(stream, name);
  const auto at = static_cast<std::size_t>(feature);
  if (at < stream.columns.size()) return ColumnRange{at, at};
  return fail({ErrorKind::usage,
               fmt::format("feature {} has no column", workload.features[at].name), stream.path,
               fmt::format("at most {} features, or the name of a column", stream.columns.size()),
               "Give the feature a column"});
}

Status check_range(const RecordedStream& stream, ColumnRange columns, const Table& table) {
  for (std::size_t c = columns.first; c <= columns.last; ++c) {
    const IdColumn& column = stream.columns[c];
    for (std::int64_t sample = 0; sample < stream.samples; ++sample) {
      for (std::int64_t n = column.begin(sample); n < column.begin(sample + 1); ++n) {
        const std::int64_t id = column.id(n);
        if (id >= 0 && id < table.rows) continue;
        return fail(
            {ErrorKind::usage,
             fmt::format("id {} of column {} is outside table {}", id, column.name(), table.name),
             stream.place(sample), fmt::format("0 to {}, its rows", table.rows - 1),
             "Give the table more rows, or wrap ids around"});
      }
    }
  }
  return {};
}

}  // namespace

std::int64_t StreamWindow::start(std::int64_t iteration) const {
  __extension__ using Wide = __int128;
  const Wide before = static_cast<Wide>(iteration % kEvaluationIterations) * global_batch_;
  return static_cast<std::int64_t>(before % size_);
}

Result<StreamWindow> StreamWindow::make(const RecordedStream& stream, Split split,
                                        std::int64_t global_batch) {
  StreamWindow window;
  window.global_batch_ = global_batch;
  const std::int64_t training = stream.samples - stream.samples / kEvaluationPart;
  window.begin_ = split == Split::evaluation ? training : 0;
  window.size_ = split == Split::whole      ? stream.samples
                 : split == Split::training ? training
                                            : stream.samples - training;
  if (window.size_ > 0) return window;
  return fail({ErrorKind::usage,
               fmt::format("{} samples leave none for evaluation", stream.samples), stream.path,
               fmt::format("at least {} samples", kEvaluationPart), "Use a longer stream"});
}

Result<std::unique_ptr<FeatureSource>> make_recorded_feature(
    const Workload& workload, std::int32_t feature, std::uint64_t seed, RangePolicy policy,
    std::shared_ptr<const RecordedStream> stream, const StreamWindow& window) {
  const Feature& description = workload.features[static_cast<std::size_t>(feature)];
  const Table& table = workload.tables[static_cast<std::size_t>(description.table)];
  const std::string place = fmt::format("feature {}", description.name);
  if (description.num_poolings != 1) {
    return fail({ErrorKind::usage, fmt::format("num_poolings is {}", description.num_poolings),
                 place, "1, because a recorded sample holds one bag", "Correct num_poolings"});
  }
  const auto columns = column_of(workload, feature, *stream);
  if (!columns) return fail(columns.error());
  const bool hashed = stream->columns[columns->first].hashed();
  const bool capped = workload.rows_cap > 0 && table.rows == workload.rows_cap;
  if (policy == RangePolicy::error && !hashed && !capped) {
    if (auto status = check_range(*stream, *columns, table); !status) {
      return fail(std::move(status.error()));
    }
  }
  auto source =
      std::make_unique<RecordedFeature>(stream, window, *columns, table.rows, !hashed && !capped);
  if (description.weighted) source->draw_weights_of(seed, static_cast<std::uint32_t>(feature));
  if (description.pooling == Pooling::concat) {
    for (std::int64_t sample = 0; sample < stream->samples; ++sample) {
      const std::int64_t length = source->length_of(sample);
      if (length == description.hotness.maximum) continue;
      return fail(
          {ErrorKind::usage, fmt::format("feature {} has {} ids", description.name, length),
           stream->place(sample),
           fmt::format("{}, the fixed hotness of a concat feature", description.hotness.maximum),
           "Pool the feature by sum or mean, or take another column"});
    }
  }
  return source;
}

Status check_dense(const RecordedStream& stream, const Workload& workload) {
  if (workload.dense.interaction == Interaction::none) return {};
  if (stream.labels.empty()) {
    return fail({ErrorKind::usage, "the stream has no labels", stream.path,
                 "a column label or click", "Add one, or train without a dense part"});
  }
  const auto columns = static_cast<std::int32_t>(stream.dense_names.size());
  if (workload.dense.dense_features > columns) {
    return fail({ErrorKind::usage, fmt::format("the stream has {} dense columns", columns),
                 stream.path,
                 fmt::format("{}, the workload's dense_features", workload.dense.dense_features),
                 fmt::format("Set dense_features to {}", columns)});
  }
  return {};
}

void fill_from_stream(const RecordedStream& stream, const StreamWindow& window,
                      std::int32_t dense_features, const SampleRange& samples, RankBatch& batch) {
  const auto columns = stream.dense_names.size();
  const auto used = static_cast<std::size_t>(dense_features);
  batch.dense.resize(static_cast<std::size_t>(samples.count) * used);
  batch.labels.resize(static_cast<std::size_t>(samples.count));
  const std::int64_t start = window.start(samples.iteration) + samples.first;
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    const auto sample =
        static_cast<std::size_t>(window.sample(start + static_cast<std::int64_t>(i)));
    batch.labels[i] = stream.labels[sample];
    std::copy_n(stream.dense.data() + sample * columns, used, batch.dense.data() + i * used);
  }
}

}  // namespace shardscope::engine
