#include "engine/batches/task.hpp"

#include <algorithm>
#include <cmath>

#include "engine/batches/random.hpp"

namespace shardscope::engine {
namespace {

/// First iteration of the samples that only the ceiling looks at.
constexpr std::int64_t kCeilingIterations = std::int64_t{1} << 39;

/// About standard normal: the sum of four 16-bit uniforms, centred and scaled; within +-3.47.
double normal_of(std::uint64_t bits) {
  double sum = 0;
  for (int piece = 0; piece < 4; ++piece)
    sum += static_cast<double>((bits >> (16 * piece)) & 0xffff);
  constexpr double kMean = 2.0 * 65535;
  constexpr double kInverseDeviation = 1.7320508075688772 / 65536;  // variance 4 (2^32 - 1) / 12
  return (sum - kMean) * kInverseDeviation;
}

double sigmoid(double logit) {
  return 1 / (1 + std::exp(-logit));
}

}  // namespace

HiddenTask::HiddenTask(const Workload& workload, std::uint64_t seed) : seed_(mix64(seed, 0x7a5c)) {
  const bool has_dense = workload.dense.interaction != Interaction::none;
  const auto dense =
      static_cast<std::size_t>(has_dense ? std::max(workload.dense.dense_features, 0) : 0);
  const double variance = kLogitDeviation * kLogitDeviation;
  const double of_features = dense > 0 ? variance / 2 : variance;
  for (const Feature& feature : workload.features) {
    Term term;
    term.table = feature.table;
    term.bags_per_sample = feature.num_poolings;
    term.by_mean = feature.pooling == Pooling::mean || feature.pooling == Pooling::sequence;
    const double length = std::max(feature.hotness.mean(), 1e-3);
    term.scale = std::sqrt(of_features / static_cast<double>(workload.features.size()) /
                           feature.num_poolings) *
                 (term.by_mean ? std::sqrt(length) : 1 / std::sqrt(length));
    terms_.push_back(term);
  }
  if (dense == 0) return;
  const double scale = std::sqrt((variance - of_features) / static_cast<double>(dense));
  for (std::size_t i = 0; i < dense; ++i) {
    coefficients_.push_back(scale * normal_of(mix64(mix64(seed_, ~std::uint64_t{0}), i)));
  }
}

double HiddenTask::effect(std::int32_t table, std::int64_t row) const {
  return normal_of(
      mix64(mix64(seed_, static_cast<std::uint64_t>(table)), static_cast<std::uint64_t>(row)));
}

void HiddenTask::add_feature(const Term& term, const FeatureBatch& batch,
                             std::vector<double>& logits) const {
  std::int64_t id = 0;
  std::size_t bag = 0;
  for (double& logit : logits) {
    for (std::int32_t pooling = 0; pooling < term.bags_per_sample; ++pooling) {
      const std::int32_t length = batch.lengths[bag++];
      double sum = 0;
      for (std::int32_t i = 0; i < length; ++i, ++id) {
        const double weight =
            batch.weights.empty() ? 1.0 : batch.weights[static_cast<std::size_t>(id)];
        sum += weight * effect(term.table, batch.ids[id]);
      }
      if (length > 0) logit += term.scale * (term.by_mean ? sum / length : sum);
    }
  }
}

std::vector<double> HiddenTask::probabilities(const RankBatch& batch) const {
  std::vector<double> logits(static_cast<std::size_t>(batch.samples));
  for (std::size_t i = 0; i < terms_.size(); ++i) add_feature(terms_[i], batch.features[i], logits);
  for (std::size_t sample = 0; sample < logits.size(); ++sample) {
    const float* dense = batch.dense.data() + sample * coefficients_.size();
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      logits[sample] += coefficients_[i] * static_cast<double>(dense[i]);
    }
  }
  for (double& logit : logits) logit = sigmoid(logit);
  return logits;
}

void HiddenTask::fill(std::int64_t iteration, std::int64_t first, RankBatch& batch) const {
  const auto samples = static_cast<std::size_t>(batch.samples);
  batch.dense.resize(samples * coefficients_.size());
  for (std::size_t sample = 0; sample < samples; ++sample) {
    Draws draws({seed_, iteration, first + static_cast<std::int64_t>(sample), 0, Purpose::dense});
    float* dense = batch.dense.data() + sample * coefficients_.size();
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      dense[i] = static_cast<float>(normal_of(draws.next()));
    }
  }
  const std::vector<double> probability = probabilities(batch);
  batch.labels.resize(samples);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    Draws draws({seed_, iteration, first + static_cast<std::int64_t>(sample), 0, Purpose::label});
    batch.labels[sample] = draws.unit() <= probability[sample] ? 1.0F : 0.0F;
  }
}

double auc_of_probabilities(std::vector<double> probabilities) {
  std::sort(probabilities.begin(), probabilities.end());
  // Walks up the ranking: each positive's mass meets the negative mass ranked below it, and half
  // of its own ties'.
  double negatives_below = 0;
  double positives = 0;
  double ordered = 0;
  for (std::size_t i = 0; i < probabilities.size();) {
    double tied_positive = 0;
    double tied_negative = 0;
    double tied_self = 0;  // a sample makes no pair with itself
    const double value = probabilities[i];
    for (; i < probabilities.size() && probabilities[i] == value; ++i) {
      tied_positive += value;
      tied_negative += 1 - value;
      tied_self += value * (1 - value);
    }
    ordered += tied_positive * negatives_below + (tied_positive * tied_negative - tied_self) / 2;
    negatives_below += tied_negative;
    positives += tied_positive;
  }
  double self = 0;
  for (const double value : probabilities) self += value * (1 - value);
  const double pairs = positives * negatives_below - self;
  return pairs > 0 ? ordered / pairs : 0.5;
}

Result<double> ceiling_auc(const Workload& workload, std::uint64_t seed, std::int64_t samples) {
  for (const Feature& feature : workload.features) {
    if (feature.ids.kind != IdDistributionKind::recorded) continue;
    return fail({ErrorKind::usage, "labels of a recorded stream have no known ceiling",
                 feature.name, "synthetic features", "Choose a synthetic distribution"});
  }
  auto source = make_batch_source(workload, seed, RangePolicy::wrap, Split::evaluation);
  if (!source) return fail(std::move(source.error()));
  if (workload.dense.interaction == Interaction::none) {
    return fail({ErrorKind::usage, "the workload has no dense part and so no labels", workload.name,
                 "an interaction", "Give the workload a dense part"});
  }
  const HiddenTask task(workload, seed);
  std::vector<double> probabilities;
  for (std::int64_t iteration = 0; static_cast<std::int64_t>(probabilities.size()) < samples;
       ++iteration) {
    auto batch = (*source)->make(kCeilingIterations + iteration, 0, 1);
    if (!batch) return fail(std::move(batch.error()));
    const std::vector<double> more = task.probabilities(*batch);
    probabilities.insert(probabilities.end(), more.begin(), more.end());
  }
  return auc_of_probabilities(std::move(probabilities));
}

}  // namespace shardscope::engine
