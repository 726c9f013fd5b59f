#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "engine/batches/feature_source.hpp"
#include "engine/batches/lengths.hpp"
#include "engine/batches/random.hpp"
#include "engine/batches/reuse_feature.hpp"
#include "engine/batches/row_sampler.hpp"

namespace shardscope::engine {
namespace {

/// Ids drawn independently of each other.
class SampledFeature final : public FeatureSource {
 public:
  SampledFeature(const Feature& feature, std::uint32_t index, std::uint64_t seed, Lengths lengths,
                 RowSampler rows)
      : index_(index),
        seed_(seed),
        bags_per_sample_(feature.num_poolings),
        weighted_(feature.weighted),
        lengths_(std::move(lengths)),
        rows_(std::move(rows)) {}

  [[nodiscard]] Status fill(const SampleRange& samples, FeatureBatch& out) const override {
    const std::int64_t ids =
        draw_lengths(lengths_, seed_, index_, bags_per_sample_, samples, out.lengths);
    if (out.ids.type == KeyType::i32) {
      draw_ids(samples, ids, out.lengths, out.ids.i32);
    } else {
      draw_ids(samples, ids, out.lengths, out.ids.i64);
    }
    out.weights.clear();
    if (weighted_) draw_weights(seed_, index_, bags_per_sample_, samples, out);
    return {};
  }

 private:
  template <class Key>
  void draw_ids(const SampleRange& samples, std::int64_t count,
                const std::vector<std::int32_t>& lengths, std::vector<Key>& ids) const {
    ids.resize(static_cast<std::size_t>(count));
    std::size_t at = 0;
    const std::int32_t* bag = lengths.data();
    for (std::int64_t sample = 0; sample < samples.count; ++sample) {
      Draws draws({seed_, samples.iteration, samples.first + sample, index_, Purpose::ids});
      for (std::int32_t pooling = 0; pooling < bags_per_sample_; ++pooling, ++bag) {
        for (std::int32_t i = 0; i < *bag; ++i) ids[at++] = static_cast<Key>(rows_(draws));
      }
    }
  }

  std::uint32_t index_;
  std::uint64_t seed_;
  std::int32_t bags_per_sample_;
  bool weighted_;
  Lengths lengths_;
  RowSampler rows_;
};

}  // namespace

std::int64_t draw_lengths(const Lengths& lengths, std::uint64_t seed, std::uint32_t feature,
                          std::int32_t bags_per_sample, const SampleRange& samples,
                          std::vector<std::int32_t>& out) {
  const auto bags = static_cast<std::size_t>(samples.count * bags_per_sample);
  if (lengths.fixed()) {
    out.assign(bags, lengths.maximum());
    return static_cast<std::int64_t>(bags) * lengths.maximum();
  }
  out.resize(bags);
  std::size_t bag = 0;
  std::int64_t ids = 0;
  for (std::int64_t sample = 0; sample < samples.count; ++sample) {
    Draws draws({seed, samples.iteration, samples.first + sample, feature, Purpose::lengths});
    for (std::int32_t pooling = 0; pooling < bags_per_sample; ++pooling) {
      out[bag] = lengths(draws);
      ids += out[bag++];
    }
  }
  return ids;
}

void draw_weights(std::uint64_t seed, std::uint32_t feature, std::int32_t bags_per_sample,
                  const SampleRange& samples, FeatureBatch& out) {
  out.weights.resize(static_cast<std::size_t>(out.ids.size()));
  std::size_t at = 0;
  const std::int32_t* bag = out.lengths.data();
  for (std::int64_t sample = 0; sample < samples.count; ++sample) {
    Draws draws({seed, samples.iteration, samples.first + sample, feature, Purpose::weights});
    for (std::int32_t pooling = 0; pooling < bags_per_sample; ++pooling, ++bag) {
      for (std::int32_t i = 0; i < *bag; ++i) {
        out.weights[at++] = static_cast<float>(draws.next() % 16 + 1) * 0.125F;
      }
    }
  }
}

Result<std::unique_ptr<FeatureSource>> make_synthetic_feature(const Workload& workload,
                                                              std::int32_t feature,
                                                              std::uint64_t seed) {
  const Feature& description = workload.features[static_cast<std::size_t>(feature)];
  const Table& table = workload.tables[static_cast<std::size_t>(description.table)];
  const std::string place = fmt::format("feature {} of table {}", description.name, table.name);
  auto lengths = Lengths::make(description.hotness, place);
  if (!lengths) return fail(std::move(lengths.error()));
  if (description.ids.kind == IdDistributionKind::reuse_histogram) {
    return make_reuse_feature(workload, feature, seed, std::move(*lengths), place);
  }
  auto rows = RowSampler::make(description.ids, table.rows, seed, description.table, place);
  if (!rows) return fail(std::move(rows.error()));
  return std::make_unique<SampledFeature>(description, static_cast<std::uint32_t>(feature), seed,
                                          std::move(*lengths), std::move(*rows));
}

}  // namespace shardscope::engine
