#include "engine/batches/reuse_file.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/batches/batch.hpp"
#include "tests/shared_data.hpp"

namespace shardscope::engine {
namespace {

TEST(ReuseFile, ReadsBinsInOrderAndRecoversRoundedTails) {
  const auto batches = reuse_batches_from_json(R"({"name": "x", "batches": [{"file": "a.pt",
    "avg_reuse": 10.0, "tables": 3,
    "unique_rows_frac_by_reuse": {"(16,inf]": 0.0, "(0,1]": 0.9, "(1,16]": 0.1},
    "index_frac_by_reuse": {"(0,1]": 0.5, "(1,16]": 0.49, "(16,inf]": 0.0002}}]})",
                                               "file");
  ASSERT_TRUE(batches.has_value()) << to_string(batches.error());
  const ReuseBatch& batch = batches->front();
  EXPECT_EQ(batch.file, "a.pt");
  ASSERT_EQ(batch.bins.size(), 3U);
  EXPECT_EQ(batch.bins[0], (ReuseBin{1, 0.9}));
  EXPECT_EQ(batch.bins[1], (ReuseBin{16, 0.1}));
  EXPECT_TRUE(std::isinf(batch.bins[2].reuse_at_most));
  // 0.0002 of the reads, 10 reads a row on average, about 22 reads a row in (16, 32].
  EXPECT_NEAR(batch.bins[2].share_of_rows, 0.0002 * 10 / 22, 0.00001);
}

TEST(ReuseFile, BinsThatAreLeftOutAreEmpty) {
  const auto batches = reuse_batches_from_json(R"({"name": "x", "batches": [{"file": "a.pt",
    "avg_reuse": 6.0, "unique_rows_frac_by_reuse": {"(4,8]": 1.0},
    "index_frac_by_reuse": {"(4,8]": 1.0}}]})",
                                               "file");
  ASSERT_TRUE(batches.has_value()) << to_string(batches.error());
  EXPECT_THAT(batches->front().bins, testing::ElementsAre(ReuseBin{4, 0}, ReuseBin{8, 1}));
}

TEST(ReuseFile, NamesWhatIsWrong) {
  const auto said = [](const char* text) {
    const auto batches = reuse_batches_from_json(text, "file");
    return batches ? std::string("accepted") : to_string(batches.error());
  };
  EXPECT_NE(said("{").find("file:1"), std::string::npos) << said("{");
  EXPECT_NE(said(R"({"batches": []})").find("no batches"), std::string::npos);
  EXPECT_NE(said(R"({"batches": [{"file": "a", "avg_reuse": 2}]})").find("batches[0]"),
            std::string::npos);
  const char* bin = R"({"batches": [{"file": "a", "avg_reuse": 2,
      "unique_rows_frac_by_reuse": {"4": 1}, "index_frac_by_reuse": {}}]})";
  EXPECT_NE(said(bin).find("as \"(4,8]\""), std::string::npos) << said(bin);
}

std::string published_path() {
  return test_data::shared_path("specs/meta_dlrm_datasets_reuse.json");
}

TEST(ReuseFile, GeneratedBatchesReproduceEveryPublishedBatch) {
  if (!std::filesystem::exists(published_path())) {
    GTEST_SKIP() << published_path() << " is absent";
  }
  std::ifstream in(published_path());
  std::stringstream text;
  text << in.rdbuf();
  const auto batches = reuse_batches_from_json(text.str(), published_path());
  ASSERT_TRUE(batches.has_value()) << to_string(batches.error());
  EXPECT_EQ(batches->size(), 33U);
  Workload workload;
  workload.name = "published";
  workload.global_batch = 20'000;
  workload.tables.resize(1);
  workload.tables[0].name = "table";
  workload.tables[0].rows = 50'000'000;
  workload.tables[0].dim = 4;
  workload.features.resize(1);
  Feature& feature = workload.features[0];
  feature.name = "feature";
  feature.hotness = Hotness::fixed(16);
  feature.ids.kind = IdDistributionKind::reuse_histogram;
  for (std::size_t b = 0; b < batches->size(); b += 8) {
    const ReuseBatch& batch = (*batches)[b];
    feature.ids.reuse = batch.bins;
    const auto source = make_batch_source(workload, 3, RangePolicy::error);
    ASSERT_TRUE(source.has_value());
    const auto made = (*source)->make(0, 0, 1);
    std::unordered_map<std::int64_t, double> reads;
    for (const std::int32_t id : made->features[0].ids.i32) reads[id] += 1;
    const auto rows = static_cast<double>(reads.size());
    double low = 0;
    for (const ReuseBin& bin : batch.bins) {
      double count = 0;
      for (const auto& [row, times] : reads) {
        count += times > low && times <= bin.reuse_at_most ? 1 : 0;
      }
      // Rounding of the published shares (they sum to 1 within some 0.003), and of whole rows.
      EXPECT_NEAR(count / rows, bin.share_of_rows, 0.003 + 16 / rows)
          << batch.file << " bin up to " << bin.reuse_at_most;
      low = bin.reuse_at_most;
    }
    // The mean reads follow from the shares; 15 %: what rounded shares leave open in the tail.
    EXPECT_NEAR(320'000 / rows, batch.mean_reads, 0.15 * batch.mean_reads) << batch.file;
  }
}

}  // namespace
}  // namespace shardscope::engine
