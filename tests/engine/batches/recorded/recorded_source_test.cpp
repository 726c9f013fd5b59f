#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"
#include "engine/batches/recorded/stream.hpp"
#include "engine/batches/stream_workload.hpp"
#include "engine/batches/task.hpp"
#include "layout/dense_sizes.hpp"
#include "tests/shared_data.hpp"

namespace shardscope::engine {
namespace {

/// A file of the test's own, removed at the end.
class RecordedSource : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = fmt::format("{}shardscope_{}_{}.csv", testing::TempDir(), test->name(), getpid());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  /// 20 samples: user = 100 + line, item list of line % 3 ids, label = line % 2.
  void write_twenty() const {
    std::string text = "label,user,items,weight\n";
    for (int i = 0; i < 20; ++i) {
      const char* items[] = {"", "1|", "2|3"};
      std::string list = items[i % 3];
      if (list == "1|") list = "1";
      text += fmt::format("{},{},{},{}.5\n", i % 2, 100 + i, list, i);
    }
    write(text);
  }

  [[nodiscard]] Workload workload(std::int64_t batch) const {
    Workload workload;
    workload.name = "recorded";
    workload.global_batch = batch;
    for (const char* name : {"user", "items"}) {
      Table table;
      table.name = name;
      table.rows = 200;
      table.dim = 4;
      workload.tables.push_back(table);
      Feature feature;
      feature.name = name;
      feature.table = static_cast<std::int32_t>(workload.features.size());
      feature.ids.kind = IdDistributionKind::recorded;
      feature.ids.stream = path_;
      feature.ids.column = name;
      workload.features.push_back(feature);
    }
    workload.dense.interaction = Interaction::concat;
    workload.dense.dense_features = 1;
    workload.dense.top_mlp = {1};
    return workload;
  }

  std::string path_;
};

std::unique_ptr<BatchSource> recorded_source(const Workload& workload,
                                             RangePolicy policy = RangePolicy::error,
                                             Split split = Split::whole) {
  auto source = make_batch_source(workload, 1, policy, split);
  EXPECT_TRUE(source.has_value()) << (source ? "" : to_string(source.error()));
  return source ? std::move(*source) : nullptr;
}

/// Users of all ranks, iteration after iteration.
std::vector<std::int64_t> users(const BatchSource& source, int iterations, std::int32_t ranks) {
  std::vector<std::int64_t> found;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const auto batch = source.make(iteration, rank, ranks);
      const Ids& ids = batch->features[0].ids;
      for (std::int64_t i = 0; i < ids.size(); ++i) found.push_back(ids[i]);
    }
  }
  return found;
}

TEST_F(RecordedSource, CyclesThroughTheSamplesInOrderForAnyNumberOfRanks) {
  write_twenty();
  const auto source = recorded_source(workload(7));
  std::vector<std::int64_t> expected;
  for (int i = 0; i < 6 * 7; ++i) expected.push_back(100 + i % 20);
  EXPECT_EQ(users(*source, 6, 1), expected);
  EXPECT_EQ(users(*source, 6, 3), expected);
  EXPECT_EQ(users(*source, 6, 8), expected);
}

TEST_F(RecordedSource, KeepsTheLastFifthForEvaluation) {
  write_twenty();
  const auto training = users(*recorded_source(workload(4), {}, Split::training), 10, 2);
  EXPECT_EQ(*std::min_element(training.begin(), training.end()), 100);
  EXPECT_EQ(*std::max_element(training.begin(), training.end()), 115);
  const auto evaluation = users(*recorded_source(workload(4), {}, Split::evaluation), 2, 2);
  EXPECT_EQ(evaluation, (std::vector<std::int64_t>{116, 117, 118, 119, 116, 117, 118, 119}));
}

TEST_F(RecordedSource, GivesBagsLabelsAndDenseInputsOfTheSameSample) {
  write_twenty();
  const auto batch = recorded_source(workload(8))->make(1, 1, 2);  // samples 12 to 15
  EXPECT_EQ(batch->labels, (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(batch->dense, (std::vector<float>{12.5F, 13.5F, 14.5F, 15.5F}));
  EXPECT_EQ(batch->features[0].ids.i32, (std::vector<std::int32_t>{112, 113, 114, 115}));
  EXPECT_EQ(batch->features[1].lengths, (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(batch->features[1].ids.i32, (std::vector<std::int32_t>{1, 2, 3}));
}

TEST_F(RecordedSource, NamesTheFirstIdOutsideItsTable) {
  write_twenty();
  Workload small = workload(4);
  small.tables[0].rows = 110;
  const auto source = make_batch_source(small, 1, RangePolicy::error);
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().kind, ErrorKind::usage);
  EXPECT_EQ(source.error().place, path_ + ":12");  // the header, then users 100 to 110
  EXPECT_NE(source.error().what.find("id 110"), std::string::npos);
  EXPECT_NE(source.error().expected.find("0 to 109"), std::string::npos);
}

TEST_F(RecordedSource, CountsAndWrapsIdsOutsideTheTableWhenAsked) {
  write("label,user\n0,-1\n1,9\n0,10\n1,25\n");
  Workload small = workload(4);
  small.features.resize(1);
  small.tables[0].rows = 10;
  small.dense = {};
  const auto source = recorded_source(small, RangePolicy::wrap);
  EXPECT_EQ(users(*source, 1, 2), (std::vector<std::int64_t>{9, 9, 0, 5}));
  EXPECT_EQ(source->out_of_range(), 3);
  EXPECT_EQ(source->out_of_range_of_table(0), 3);
  EXPECT_EQ(source->out_of_range_of_table(1), 0);
  const auto stats = collect_stats(small, *source, 2, 2);
  EXPECT_EQ(stats->front().out_of_range, 6);
}

TEST_F(RecordedSource, TakesIdsOfACappedTableModuloItsRows) {
  write_twenty();
  const Workload capped = with_rows_cap(workload(20), 16);
  const auto source = recorded_source(capped, RangePolicy::error);
  const auto found = users(*source, 1, 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], (100 + i) % 16);
  EXPECT_EQ(source->out_of_range(), 0);
}

TEST_F(RecordedSource, TextIdsAreHashesModuloTheRows) {
  write("label,user\n0,anna\n1,bob\n");
  Workload text = workload(2);
  text.features.resize(1);
  text.tables[0].rows = 13;
  text.dense = {};
  EXPECT_EQ(users(*recorded_source(text), 1, 1),
            (std::vector<std::int64_t>{hash_text("anna") % 13, hash_text("bob") % 13}));
}

TEST_F(RecordedSource, AFeatureWithoutAColumnReadsTheOneAtItsPosition) {
  write_twenty();
  Workload unnamed = workload(4);
  unnamed.features[0].ids.column.clear();
  unnamed.features[1].ids.column.clear();
  const auto named = recorded_source(workload(4))->make(0, 0, 1);
  const auto made = recorded_source(unnamed)->make(0, 0, 1);
  EXPECT_EQ(made->features[0].ids.i32, named->features[0].ids.i32);
  EXPECT_EQ(made->features[1].ids.i32, named->features[1].ids.i32);
}

TEST_F(RecordedSource, RefusesWhatTheStreamCannotGive) {
  write_twenty();
  const auto refused = [&](const Workload& bad, Split split = Split::whole) {
    const auto source = make_batch_source(bad, 1, RangePolicy::error, split);
    return source ? std::string("accepted") : to_string(source.error());
  };
  Workload bad = workload(4);
  bad.features[0].ids.column = "shop";
  EXPECT_NE(refused(bad).find("no column \"shop\""), std::string::npos) << refused(bad);
  bad = workload(4);
  bad.features[0].num_poolings = 2;
  EXPECT_NE(refused(bad).find("num_poolings is 2"), std::string::npos) << refused(bad);
  bad = workload(4);
  bad.features[1].pooling = Pooling::concat;
  EXPECT_NE(refused(bad).find(path_ + ":2"), std::string::npos) << refused(bad);
  bad = workload(4);
  bad.dense.dense_features = 2;
  EXPECT_NE(refused(bad).find("1 dense columns"), std::string::npos) << refused(bad);
  write("user,items\n1,2\n");
  bad = workload(1);
  bad.dense.dense_features = 0;
  EXPECT_NE(refused(bad).find("no labels"), std::string::npos) << refused(bad);
  bad.dense = {};
  EXPECT_EQ(refused(bad), "accepted");
  EXPECT_NE(refused(bad, Split::evaluation).find("leave none"), std::string::npos);
  EXPECT_FALSE(ceiling_auc(workload(4), 1, 100).has_value());
}

// ---- the real files

struct RealStream {
  const char* file;
  StreamFormat format;
  std::int64_t samples;
  std::size_t features;
  std::int32_t dense;
};

class RealStreams : public testing::TestWithParam<RealStream> {
 protected:
  static std::string path() { return test_data::shared_path("streams/") + GetParam().file; }
};

TEST_P(RealStreams, GiveAWorkloadAndItsBatches) {
  if (!std::filesystem::exists(path())) GTEST_SKIP() << path() << " is absent";
  const auto stream = read_stream(path());
  ASSERT_TRUE(stream.has_value()) << to_string(stream.error());
  EXPECT_EQ(stream->format, GetParam().format);
  EXPECT_EQ(stream->samples, GetParam().samples);
  EXPECT_EQ(stream->labels.size(), static_cast<std::size_t>(stream->samples));

  const auto workload = workload_from_stream(path());
  ASSERT_TRUE(workload.has_value()) << to_string(workload.error());
  EXPECT_EQ(workload->features.size(), GetParam().features);
  EXPECT_EQ(workload->dense.dense_features, GetParam().dense);
  EXPECT_TRUE(dense_shape(*workload).has_value()) << to_string(dense_shape(*workload).error());

  const auto source = make_batch_source(*workload, 1, RangePolicy::error);
  ASSERT_TRUE(source.has_value()) << to_string(source.error());
  const auto batch = (*source)->make(0, 0, 1);
  ASSERT_TRUE(batch.has_value());
  for (std::size_t i = 0; i < workload->features.size(); ++i) {
    const auto& lengths = batch->features[i].lengths;
    const Hotness& hotness = workload->features[i].hotness;
    for (const std::int32_t length : lengths) {
      EXPECT_GE(length, hotness.minimum);
      EXPECT_LE(length, hotness.maximum);
    }
  }
  const auto stats = collect_stats(*workload, **source, 2, 4);
  ASSERT_TRUE(stats.has_value());
  for (const TableStats& table : *stats) EXPECT_EQ(table.out_of_range, 0) << table.table;
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealStreams,
    testing::Values(RealStream{"criteo_sample.txt", StreamFormat::headed_csv, 200, 26, 13},
                    RealStream{"criteo_slot_sample.txt", StreamFormat::slot_lines, 80, 26, 13},
                    RealStream{"alimama_sampled_train.txt", StreamFormat::sequence_csv, 500, 18, 1},
                    RealStream{"esmm_aliccp_small.txt", StreamFormat::field_csv, 10, 22, 0},
                    RealStream{"movielens_sample.txt", StreamFormat::headed_csv, 200, 8, 0}),
    [](const testing::TestParamInfo<RealStream>& tested) {
      std::string name = tested.param.file;
      return name.substr(0, name.find('.'));
    });

TEST(RealStreams, AlimamaHistoriesAreFiftyLongAndMasksAreLeftOut) {
  const std::string path = test_data::shared_path("streams/alimama_sampled_train.txt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto workload = workload_from_stream(path);
  ASSERT_TRUE(workload.has_value());
  std::vector<std::string> histories;
  for (const Feature& feature : workload->features) {
    if (feature.pooling != Pooling::sequence) continue;
    histories.push_back(feature.ids.column);
    EXPECT_EQ(feature.hotness, Hotness::fixed(50));
  }
  EXPECT_EQ(histories, (std::vector<std::string>{"0-49", "50-99", "100-149"}));
}

}  // namespace
}  // namespace shardscope::engine
