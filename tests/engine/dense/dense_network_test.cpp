#include "engine/dense/dense_network.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/dense/loss.hpp"
#include "engine/dense/metrics.hpp"
#include "tests/engine/dense/dense_cases.hpp"

namespace shardscope::engine::testing {
namespace {

using Doubles = std::vector<double>;

Doubles in_double(const float* values, std::int64_t count) {
  return {values, values + count};
}

/// Mean loss of a batch over its own samples, in double.
double reference_loss(const Workload& workload, const Doubles& parameters, const Doubles& dense,
                      const Doubles& embeddings, const std::vector<float>& labels) {
  const DenseReference reference(workload);
  const std::int64_t dense_width = workload.dense.dense_features;
  const std::int64_t width = interaction_width(workload);
  double sum = 0;
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto at = static_cast<std::int64_t>(s);
    const Doubles x(dense.begin() + at * dense_width, dense.begin() + (at + 1) * dense_width);
    const Doubles e(embeddings.begin() + at * width, embeddings.begin() + (at + 1) * width);
    const double z = reference.logit(parameters, x, e);
    sum +=
        std::log1p(std::exp(-std::abs(z))) + std::max(z, 0.0) - z * static_cast<double>(labels[s]);
  }
  return sum / static_cast<double>(labels.size());
}

/// Shapes that differ in every branch of the dense part.
std::vector<Workload> shapes() {
  std::vector<Workload> all;
  for (const Interaction interaction :
       {Interaction::concat, Interaction::dot, Interaction::dcnv2}) {
    all.push_back(dense_workload(interaction));
    Workload shallow = dense_workload(interaction);
    shallow.dense.bottom_mlp = {6};
    shallow.dense.top_mlp = {1};
    all.push_back(shallow);
    Workload even = dense_workload(interaction);
    even.dense.top_mlp = {5, 1};
    all.push_back(even);
    Workload bare = dense_workload(interaction);
    bare.dense.bottom_mlp = {};
    bare.dense.dense_features = interaction == Interaction::dot ? 6 : 4;
    all.push_back(bare);
    Workload sparse_only = dense_workload(interaction);
    sparse_only.dense.bottom_mlp = {};
    sparse_only.dense.dense_features = 0;
    all.push_back(sparse_only);
  }
  return all;
}

std::string describe(const Workload& workload) {
  return std::string(to_string(workload.dense.interaction)) + ", " +
         std::to_string(workload.dense.bottom_mlp.size()) + " bottom layers, " +
         std::to_string(workload.dense.dense_features) + " dense features, " +
         std::to_string(workload.dense.top_mlp.size()) + " top layers";
}

TEST(DenseNetwork, LogitsAndLossEqualTheReference) {
  for (const Workload& workload : shapes()) {
    SCOPED_TRACE(describe(workload));
    const DenseBatch batch(workload, 9, 3);
    OwnedNetwork network(workload, 12);
    run_step(*network, batch, 9);
    const Doubles parameters = in_double(network->parameters(), network->parameter_count());
    const DenseReference reference(workload);
    const std::int64_t width = interaction_width(workload);
    const std::int64_t dense_width = workload.dense.dense_features;
    for (std::int64_t s = 0; s < batch.samples; ++s) {
      const double expected =
          reference.logit(parameters, in_double(batch.dense.data() + s * dense_width, dense_width),
                          in_double(batch.embeddings.data() + s * width, width));
      EXPECT_NEAR(network->logits()[s], expected, 1e-5 * (1 + std::abs(expected)));
    }
    const double loss =
        reference_loss(workload, parameters, in_double(batch.dense.data(), 9 * dense_width),
                       in_double(batch.embeddings.data(), 9 * width), batch.labels);
    EXPECT_NEAR(logit_loss_sum(network->logits(), batch.labels.data(), 9) / 9, loss, 1e-5);
  }
}

TEST(DenseNetwork, EveryGradientEqualsTheFiniteDifferenceInDouble) {
  constexpr double kStep = 1e-5;
  for (const Workload& workload : shapes()) {
    SCOPED_TRACE(describe(workload));
    const std::int64_t samples = 4;
    const DenseBatch batch(workload, samples, 5);
    OwnedNetwork network(workload, samples);
    run_step(*network, batch, samples);
    Doubles parameters = in_double(network->parameters(), network->parameter_count());
    const Doubles dense(batch.dense.begin(), batch.dense.end());
    Doubles embeddings(batch.embeddings.begin(), batch.embeddings.end());
    const auto slope = [&](double& value) {
      const double before = value;
      value = before + kStep;
      const double up = reference_loss(workload, parameters, dense, embeddings, batch.labels);
      value = before - kStep;
      const double down = reference_loss(workload, parameters, dense, embeddings, batch.labels);
      value = before;
      return (up - down) / (2 * kStep);
    };
    for (std::size_t p = 0; p < parameters.size(); p += 3) {
      const double expected = slope(parameters[p]);
      ASSERT_NEAR(network->gradients()[p], expected, 2e-5 + 1e-4 * std::abs(expected)) << p;
    }
    const std::int64_t width = interaction_width(workload);
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t c = 0; c < width; ++c) {
        const double expected = slope(embeddings[static_cast<std::size_t>(s * width + c)]);
        const float actual = network->embedding_gradients()[s * network->input_stride() + c];
        ASSERT_NEAR(actual, expected, 2e-5 + 1e-4 * std::abs(expected)) << s << " " << c;
      }
    }
  }
}

TEST(DenseNetwork, GradientsOfPartsOfTheBatchAddUpToThoseOfTheWhole) {
  for (const Workload& workload : shapes()) {
    SCOPED_TRACE(describe(workload));
    const DenseBatch batch(workload, 10, 7);
    OwnedNetwork whole(workload, 10);
    run_step(*whole, batch, 10);
    std::vector<double> sum(static_cast<std::size_t>(whole->parameter_count()), 0);
    double loss = 0;
    // The middle rank has no samples.
    for (const auto& [first, count] : {std::pair{0, 7}, std::pair{7, 0}, std::pair{7, 3}}) {
      OwnedNetwork rank(workload, 7);
      const DenseBatch part = part_of(workload, batch, first, count);
      run_step(*rank, part, 10);
      loss += logit_loss_sum(rank->logits(), part.labels.data(), count);
      for (std::size_t p = 0; p < sum.size(); ++p) {
        sum[p] += static_cast<double>(rank->gradients()[p]);
      }
    }
    EXPECT_NEAR(loss, logit_loss_sum(whole->logits(), batch.labels.data(), 10), 1e-5);
    for (std::size_t p = 0; p < sum.size(); ++p) {
      ASSERT_NEAR(sum[p], whole->gradients()[p], 1e-5) << p;
    }
  }
}

TEST(DenseNetwork, InitialParametersDependOnTheSeedAlone) {
  const Workload workload = dense_workload(Interaction::dcnv2);
  OwnedNetwork a(workload, 3);
  OwnedNetwork b(workload, 50);
  const auto values = [](OwnedNetwork& n) {
    return std::vector<float>(n->parameters(), n->parameters() + n->parameter_count());
  };
  EXPECT_EQ(values(a), values(b));
  b->initialise(2);
  EXPECT_NE(values(a), values(b));
  const DenseShape shape = *dense_shape(workload);
  const DenseLayer& layer = shape.bottom[0];
  const float limit = std::sqrt(6.0F / static_cast<float>(layer.in + layer.out));
  double sum = 0;
  for (std::int64_t i = layer.weight; i < layer.bias; ++i) {
    EXPECT_LE(std::abs(a->parameters()[i]), limit);
    sum += static_cast<double>(a->parameters()[i]);
  }
  EXPECT_LT(std::abs(sum), 0.5 * static_cast<double>(limit) * static_cast<double>(layer.bias));
  for (std::int64_t i = 0; i < layer.out; ++i) EXPECT_EQ(a->parameters()[layer.bias + i], 0);
}

TEST(DenseNetwork, BottomPartsLeaveTheEmbeddingsAndTheirGradientsAlone) {
  const Workload workload = dense_workload(Interaction::dot);
  const DenseBatch batch(workload, 5, 11);
  OwnedNetwork network(workload, 5);
  run_step(*network, batch, 5);
  const std::int64_t width = interaction_width(workload);
  const auto columns = [&](const float* from) {
    std::vector<float> values;
    for (std::int64_t s = 0; s < 5; ++s) {
      values.insert(values.end(), from + s * network->input_stride(),
                    from + s * network->input_stride() + width);
    }
    return values;
  };
  EXPECT_EQ(columns(network->embeddings()), batch.embeddings);
  network->backward_top(cpu_dense_math(), batch.labels.data(), 5, 5);
  const std::vector<float> before = columns(network->embedding_gradients());
  network->backward_bottom(cpu_dense_math(), batch.dense.data(), 5);
  EXPECT_EQ(columns(network->embedding_gradients()), before);
}

TEST(DenseNetwork, UpdateFollowsEachOptimizersFormula) {
  for (const OptimizerKind kind :
       {OptimizerKind::sgd, OptimizerKind::adagrad, OptimizerKind::adam}) {
    SCOPED_TRACE(to_string(kind));
    Workload workload = dense_workload(Interaction::concat);
    workload.dense.optimizer = make_optimizer(kind, 0.05);
    OwnedNetwork network(workload, 4);
    const std::int64_t count = network->parameter_count();
    Doubles expected = in_double(network->parameters(), count);
    Doubles first(expected.size(), 0);
    Doubles second(expected.size(), 0);
    for (int step = 1; step <= 3; ++step) {
      run_step(*network, DenseBatch(workload, 4, static_cast<std::uint64_t>(step)), 4);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        const auto g = static_cast<double>(network->gradients()[p]);
        if (kind == OptimizerKind::sgd) {
          expected[p] -= 0.05 * g;
        } else if (kind == OptimizerKind::adagrad) {
          first[p] += g * g;
          expected[p] -= 0.05 * g / (std::sqrt(first[p]) + 1e-8);
        } else {
          first[p] = 0.9 * first[p] + 0.1 * g;
          second[p] = 0.999 * second[p] + 0.001 * g * g;
          const double mean = first[p] / (1 - std::pow(0.9, step));
          const double spread = std::sqrt(second[p] / (1 - std::pow(0.999, step)));
          expected[p] -= 0.05 * mean / (spread + 1e-8);
        }
      }
      network->update(cpu_dense_math(), step);
    }
    for (std::size_t p = 0; p < expected.size(); ++p) {
      ASSERT_NEAR(network->parameters()[p], expected[p], 1e-4) << p;
    }
  }
}

TEST(DenseNetwork, LearnsAProductOfTwoInputs) {
  // The label is the sign of the product of two columns: no linear model can tell.
  for (const Interaction interaction : {Interaction::concat, Interaction::dcnv2}) {
    Workload workload = dense_workload(interaction);
    workload.dense.bottom_mlp = {16, 6};
    workload.dense.top_mlp = {16, 1};
    workload.dense.optimizer = make_optimizer(OptimizerKind::adam, 0.01);
    const std::int64_t samples = 256;
    OwnedNetwork network(workload, samples);
    const auto labelled = [&](std::uint64_t seed) {
      DenseBatch batch(workload, samples, seed);
      const std::int64_t width = interaction_width(workload);
      for (std::int64_t s = 0; s < samples; ++s) {
        const float* e = batch.embeddings.data() + s * width;
        batch.labels[static_cast<std::size_t>(s)] = e[0] * e[7] > 0 ? 1 : 0;
      }
      return batch;
    };
    for (int step = 1; step <= 400; ++step) {
      run_step(*network, labelled(static_cast<std::uint64_t>(step)), samples);
      network->update(cpu_dense_math(), step);
    }
    const DenseBatch test = labelled(1'000'000);
    run_step(*network, test, samples);
    const auto count = static_cast<std::size_t>(samples);
    EXPECT_GT(exact_auc({network->logits(), count}, test.labels), 0.9);
  }
}

TEST(DenseNetwork, RanksOnThreadsOfTheirOwnGetWhatTheyGetAlone) {
  // More layers and samples than the BLAS handles without its packing buffers.
  Workload workload = dense_workload(Interaction::dcnv2);
  workload.dense.bottom_mlp = {128, 64};
  workload.dense.top_mlp = {128, 64, 1};
  constexpr int kRanks = 12;
  const auto train = [&](int rank) {
    OwnedNetwork network(workload, 96);
    for (int step = 1; step <= 6; ++step) {
      run_step(*network, DenseBatch(workload, 96, static_cast<std::uint64_t>(100 * rank + step)),
               96 * kRanks);
      network->update(cpu_dense_math(), step);
    }
    return std::vector<float>(network->parameters(),
                              network->parameters() + network->parameter_count());
  };
  std::vector<std::vector<float>> together(kRanks);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] { together[static_cast<std::size_t>(rank)] = train(rank); });
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(together[static_cast<std::size_t>(rank)], train(rank)) << "rank " << rank;
  }
}

TEST(DenseNetwork, WithoutADensePartDoesNothing) {
  Workload workload = dense_workload(Interaction::none);
  const auto network = DenseNetwork::create(workload, 4, {});
  ASSERT_TRUE(network.has_value());
  DenseNetwork copy = *network;
  EXPECT_FALSE(copy.present());
  EXPECT_EQ(copy.parameter_count(), 0);
  copy.initialise(1);
  copy.forward_bottom(cpu_dense_math(), nullptr, 4);
  copy.forward_top(cpu_dense_math(), 4);
  copy.backward_top(cpu_dense_math(), nullptr, 4, 4);
  copy.backward_bottom(cpu_dense_math(), nullptr, 4);
  copy.update(cpu_dense_math(), 1);
}

TEST(DenseNetwork, RefusesAnOptimizerThatNeedsRows) {
  Workload workload = dense_workload(Interaction::concat);
  workload.dense.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
  const auto network = DenseNetwork::create(workload, 4, {});
  ASSERT_FALSE(network.has_value());
  EXPECT_THAT(to_string(network.error()), ::testing::HasSubstr("sgd, adagrad or adam"));
}

}  // namespace
}  // namespace shardscope::engine::testing
