#include "storage/import/torchrec/torchrec_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/check.hpp"
#include "tests/shared_data.hpp"

namespace shardscope::storage {
namespace {

// A report as TorchRec prints it, narrow columns.
const std::vector<std::string> kReport = {
    "##############################################################################",
    "#                     --- Planner Statistics ---                            #",
    "# --- Evaluated 3 proposal(s), found 1 possible plan(s), ran for 1.20s ---   #",
    "#   Rank     HBM (GB)   DDR (GB)      Perf (ms)   Input (MB)  Output (MB)  Shards #",
    "#  -----   ----------  ---------  -------------  -----------  -----------  ------ #",
    "#      0   1.5 (20%)   0.0 (0%)   12.5 (1,2,3,6,0.5)   1.0   2.0   TW: 1 CW: 1 #",
    "#      1   0.5 (7%)    0.0 (0%)   2.5 (1,0.5,0.5,0.5,0)   1.0   2.0   CW: 1 #",
    "# Parameter Info:                                                            #",
    "#   FQN   Sharding  Compute Kernel  Perf (ms)  Storage (HBM, DDR)  Cache Load Factor  "
    "Sum Pooling Factor  Sum Num Poolings  Num Indices  Output  Weighted  Sharder  Features  "
    "Emb Dim (CW Dim)  Hash Size  Ranks  Batch Sizes #",
    "#  -----  --------  ------  ------  ------  ----  ---- #",
    "#   m.ebc.user   TW  fused  10.0 (1,2,3,4,0)  (1.1 GB, 0.0 GB)  None  20.0  1.0  20.0  "
    "pooled  weighted  EmbeddingBagCollectionSharder  1  16  1000  0  256 #",
    "#   m.ebc.item   CW  fused  5.0 (1,1,1,2,0)  (0.4 GB, 0.0 GB)  None  3.5  2.0  3.5  "
    "pooled  unweighted  EmbeddingBagCollectionSharder  2  64 (32)  50  0,1  256*2 #",
    "# Batch Size: 256 #",
    "# Reserved Memory: #",
    "#    HBM: 4.0 GB #",
    "# Planning Memory: #",
    "#    HBM: 28.0 GB, DDR: 128.0 GB #",
    "# Maximum of Total Perf: 12.5 ms on rank 0 #",
    "##############################################################################"};

std::string joined(const std::vector<std::string>& lines, const std::string& prefix = "") {
  std::string text;
  for (const std::string& line : lines) text += prefix + line + "\n";
  return text;
}

void expect_the_report(const std::string& text) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(text, notes);
  ASSERT_TRUE(stats) << to_string(stats.error());
  ASSERT_EQ(stats->ranks.size(), 2U);
  ASSERT_EQ(stats->tables.size(), 2U);
  EXPECT_DOUBLE_EQ(stats->ranks[0].perf.total_ms, 12.5);
  EXPECT_DOUBLE_EQ(stats->ranks[0].perf.parts_ms[3], 6);
  EXPECT_EQ(stats->ranks[0].shards, "TW: 1 CW: 1");
  EXPECT_EQ(stats->tables[0].fqn, "m.ebc.user");
  EXPECT_TRUE(stats->tables[0].weighted);
  EXPECT_EQ(stats->tables[1].dim, 64);
  EXPECT_EQ(stats->tables[1].column_width, 32);
  EXPECT_EQ(stats->tables[1].rows, 50);
  EXPECT_EQ(stats->tables[1].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(stats->batch_per_rank, 256);
  EXPECT_DOUBLE_EQ(stats->planning_hbm_gib, 28);
  EXPECT_DOUBLE_EQ(stats->reserved_hbm_gib, 4);
}

TEST(TorchrecStats, ReadsTheReport) {
  expect_the_report(joined(kReport));
}

TEST(TorchrecStats, ReadsItThroughALogsPrefix) {
  expect_the_report(joined(kReport, "[rank0]:I1130 12:00:01.123456 123 stats.py:300] "));
}

TEST(TorchrecStats, ReadsItWrappedByATerminal) {
  std::vector<std::string> wrapped;
  for (const std::string& line : kReport) {
    for (std::size_t at = 0; at < line.size(); at += 60) wrapped.push_back(line.substr(at, 60));
  }
  expect_the_report(joined(wrapped));
}

TEST(TorchrecStats, ReadsItWrappedAtBlanks) {
  std::string wrapped;
  for (std::string line : kReport) {
    while (line.size() > 60 && !line.starts_with("##")) {
      const std::size_t at = line.rfind(' ', 60);
      wrapped += line.substr(0, at) + "\n";
      line = line.substr(line.find_first_not_of(' ', at));
    }
    wrapped += line + "\n";
  }
  expect_the_report(wrapped);
}

TEST(TorchrecStats, ReadsItWithBlanksCollapsed) {
  std::vector<std::string> collapsed;
  for (const std::string& line : kReport) {
    std::string out;
    for (const char letter : line) {
      if (letter != ' ' || out.empty() || out.back() != ' ') out += letter;
    }
    collapsed.push_back(out);
  }
  expect_the_report(joined(collapsed));
}

TEST(TorchrecStats, KeepsWhatATruncatedReportHasAndSaysSo) {
  std::string text = joined(kReport);
  text = text.substr(0, text.find("0.4 GB"));
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(text, notes);
  ASSERT_TRUE(stats) << to_string(stats.error());
  EXPECT_EQ(stats->tables.size(), 2U);
  EXPECT_GE(notes.warning_count(), 1);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->layout->tables.size(), 1U);
  bool named = false;
  for (const ImportNote& note : notes.warnings()) {
    named =
        named || (note.place == "report:12" && note.message.find("left out") != std::string::npos);
  }
  EXPECT_TRUE(named) << "the table that is left out is named with its line";
}

TEST(TorchrecStats, ReadsOlderColumns) {
  const std::string text =
      "#  FQN  Sharding  Compute Kernel  Perf (ms)  Storage (HBM, DDR)  Pooling Factor  "
      "Num Poolings  Output  Features  Emb Dim  Hash Size  Ranks #\n"
      "#  a.t  RW  fused  4.0  (1.0 GB, 0.0 GB)  2.5  1.0  sequence  1  8  100  0-3 #\n";
  ImportNotes notes("old");
  const auto stats = read_torchrec_stats(text, notes);
  ASSERT_TRUE(stats) << to_string(stats.error());
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_TRUE(plan->layout);
  EXPECT_EQ(plan->layout->tables[0].row_cuts, (std::vector<std::int64_t>{0, 25, 50, 75, 100}));
  EXPECT_EQ(plan->workload->features[0].pooling, Pooling::sequence);
  EXPECT_DOUBLE_EQ(plan->workload->features[0].hotness.mean(), 2.5);
  EXPECT_EQ(plan->layout->tables[0].cluster, ClusterType::UB);
}

TEST(TorchrecStats, MakesAWorkloadWithTheReportsIdsAndBags) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(joined(kReport), notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const Workload& workload = *plan->workload;
  EXPECT_EQ(workload.global_batch, 512);
  ASSERT_EQ(workload.features.size(), 3U);
  EXPECT_DOUBLE_EQ(workload.features[1].hotness.mean(), 1.75);
  EXPECT_EQ(workload.tables[0].module_path, "m.ebc");
  EXPECT_EQ(plan->estimate->hot_rank, 0);
  EXPECT_DOUBLE_EQ(plan->estimate->rank_ms[0], 12.5);
  EXPECT_DOUBLE_EQ(plan->estimate->rank_ms[1], 2.5);
  EXPECT_FALSE(has_errors(check(workload, *plan->topology, *plan->layout, Executor::torchrec)));
}

// Lines as TorchRec 1.9.2 prints them for 16 ranks on hosts of 8, blanks collapsed.
const std::string kForms =
    "# FQN Sharding Compute Kernel Perf (ms) Storage (HBM, DDR, SSD) Cache Load Factor "
    "Sum Pooling Factor Sum Num Poolings Num Indices Output Weighted Sharder Features "
    "Emb Dim (CW Dim) Hash Size Ranks #\n"
    "# s.ebc.copied DP dense 7.345 (0.2,0,0.4,7,0) (0.205 GB, 0.0 GB, 0.0 GB) None 9.5 3.0 18.0 "
    "pooled unweighted EmbeddingBagCollectionSharder 2 64 50000 0-15 #\n"
    "# s.ebc.grid GS fused 1.866 (0.08,0.7,0.2,0.9,0) (0.063 GB, 0.0 GB, 0.0 GB) None 1.0 1.0 1.0 "
    "pooled unweighted EmbeddingBagCollectionSharder 1 96 (32) 1000 "
    "0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8-15 #\n"
    "# s.ebc.cached RW fused_uvm_caching 108.829 (13,20,26,50,0) (0.842 GB, 2.861 GB, 0.0 GB) None "
    "1.0 1.0 1.0 pooled unweighted EmbeddingBagCollectionSharder 1 256 3000000 0-15 #\n"
    "# s.ebc.half TW fused 20.0 (1,2,3,4,0) (1.485 GB, 0.0 GB, 0.0 GB) None 1.0 1.0 1.0 pooled "
    "unweighted EmbeddingBagCollectionSharder 1 256 3000000 8 #\n"
    "# Batch Size: 1024 #\n";

TEST(TorchrecStats, SharesTheSumOverReplicasAmongThem) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(kForms, notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan && plan->layout);
  // 7.345 / 16 + 1.866 / 24 + 108.829 / 16, and the grid's second column on the first host.
  EXPECT_NEAR(plan->estimate->rank_ms[15], 7.338, 0.001);
  EXPECT_NEAR(plan->estimate->rank_ms[0], 7.416, 0.001);
}

TEST(TorchrecStats, LaysAGridsColumnsOverHosts) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(kForms, notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan && plan->layout);
  const TablePlacement& grid = plan->layout->tables[1];
  ASSERT_EQ(grid.row_shards, 8);
  ASSERT_EQ(grid.owners.size(), 24U);
  for (std::int32_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      EXPECT_EQ(grid.owners[static_cast<std::size_t>(row) * 3 + column],
                row + (column == 2 ? 8 : 0))
          << row << ' ' << column;
    }
  }
}

TEST(TorchrecStats, TellsHalfPrecisionTableByTableAndCountsStorageOutsideHbm) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(kForms, notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan && plan->workload);
  EXPECT_EQ(plan->workload->tables[2].dtype, DType::fp32) << "2.861 GB of it lie in host memory";
  EXPECT_EQ(plan->workload->tables[3].dtype, DType::fp16);
}

TEST(TorchrecStats, DealsBagsOutAsTheReportSumsThem) {
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(kForms, notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan && plan->workload);
  const std::vector<Feature>& features = plan->workload->features;
  EXPECT_EQ(features[0].num_poolings + features[1].num_poolings, 3);
  double ids = 0;
  for (const Feature& one : {features[0], features[1]})
    ids += one.hotness.mean() * one.num_poolings;
  EXPECT_DOUBLE_EQ(ids, 18);
}

void expect_the_production_plan(const ImportedPlan& plan) {
  ASSERT_TRUE(plan.layout);
  EXPECT_EQ(plan.layout->tables.size(), 1935U);
  EXPECT_EQ(plan.layout->ranks, 96);
  ASSERT_TRUE(plan.estimate);
  EXPECT_EQ(plan.estimate->hot_rank, 28);
  EXPECT_NEAR(plan.estimate->rank_ms[28], 1300.325, 0.2);
  double sum = 0;
  for (const double ms : plan.estimate->rank_ms) sum += ms;
  EXPECT_NEAR(sum / 96, 1003.567, 0.1);
  EXPECT_EQ(plan.estimate->hot_tables[1].first, "table_1290");
}

TEST(TorchrecStats, SumsTheProductionPlansRanksFromItsTables) {
  SHARDSCOPE_SHARED_DATA(report, "plans/torchrec_sharding_stats_example.txt");
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats(report, notes);
  ASSERT_TRUE(stats) << to_string(stats.error());
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  expect_the_production_plan(*plan);
  for (std::size_t rank = 0; rank < 96; ++rank) {
    EXPECT_NEAR(plan->estimate->rank_ms[rank], plan->estimate->printed_rank_ms[rank], 0.5) << rank;
  }
  EXPECT_EQ(plan->workload->global_batch, 2560 * 96);
  const auto csv =
      test_data::read_file(test_data::shared_path("plans/torchrec_prod_plan_1935.csv"));
  if (!csv) return;
  const auto sections = read_torchrec_stats_csv(*csv, notes);
  ASSERT_TRUE(sections);
  std::size_t same = 0;
  for (std::size_t t = 0; t < sections->tables.size(); ++t) {
    const bool single = plan->workload->tables[t].dtype == DType::fp32;
    same += single == (sections->tables[t].element_bytes == 4) ? 1 : 0;
  }
  EXPECT_GE(same, 1929U) << "of 1935, where the CSV's types were told by hand";
}

TEST(TorchrecStats, ReadsTheProductionPlansCsv) {
  SHARDSCOPE_SHARED_DATA(csv, "plans/torchrec_prod_plan_1935.csv");
  ImportNotes notes("csv");
  const auto stats = read_torchrec_stats_csv(csv, notes);
  ASSERT_TRUE(stats) << to_string(stats.error());
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan) << to_string(plan.error());
  expect_the_production_plan(*plan);
}

TEST(TorchrecStats, ReadsRowsWhoseWrappedPiecesAreBlank) {
  // Real columns are wide: a terminal's lines of 60 letters may hold nothing but padding.
  std::vector<std::string> wide;
  for (std::string line : kReport) {
    const bool frame = line.starts_with("##");
    const std::size_t end = line.rfind('#');
    if (!frame)
      line.insert(line.find("  ", 4) == std::string::npos ? end : line.find("  ", 4), 130, ' ');
    wide.push_back(line);
  }
  std::string wrapped;
  for (const std::string& line : wide) {
    for (std::size_t at = 0; at < line.size(); at += 60) wrapped += line.substr(at, 60) + "\n";
  }
  expect_the_report(wrapped);
}

TEST(TorchrecStats, ReadsAMessageThatALoggerWroteAsOneLine) {
  std::string message = "{\"level\": \"info\", \"msg\": \"";
  for (const std::string& line : kReport) message += line + "\\n";
  expect_the_report(message + "\"}\n");
}

TEST(TorchrecStats, NoticesTablesThatTheRanksHaveAndTheListHasNot) {
  for (const bool whole : {true, false}) {
    std::vector<std::string> lines = kReport;
    if (!whole) lines.erase(lines.begin() + 11);
    ImportNotes notes("report");
    const auto stats = read_torchrec_stats(joined(lines), notes);
    ASSERT_TRUE(stats);
    ASSERT_TRUE(resolve_torchrec_stats(*stats, {}, notes));
    const auto missing =
        std::count_if(notes.warnings().begin(), notes.warnings().end(), [](const auto& note) {
          return note.message == "the ranks list 3 shards, the table section 1: tables are missing";
        });
    EXPECT_EQ(missing, whole ? 0 : 1);
  }
}

TEST(TorchrecStats, KeepsOneOfSeveralReports) {
  std::vector<std::string> cut(kReport.begin(), kReport.begin() + 11);
  const std::string text = joined(kReport) + "restarted\n" + joined(kReport) + joined(cut);
  expect_the_report(text);
  ImportNotes notes("report");
  ASSERT_TRUE(read_torchrec_stats(text, notes));
  ASSERT_EQ(notes.warning_count(), 1);
  EXPECT_THAT(notes.warnings()[0].message, testing::HasSubstr("3 reports"));
  EXPECT_EQ(notes.warnings()[0].place, "report:24") << "the second box's list of ranks";
}

TEST(TorchrecStats, BoundsFeaturesShardsAndMemoryOfAHostileReport) {
  std::string csv = "fqn,sharding,num_features,dim,rows,ranks\n";
  for (int i = 0; i < 3; ++i) csv += "m.t" + std::to_string(i) + ",TW,60000,16,10,0\n";
  ImportNotes notes("report");
  const auto stats = read_torchrec_stats_csv(csv, notes);
  ASSERT_TRUE(stats);
  const auto plan = resolve_torchrec_stats(*stats, {}, notes);
  ASSERT_TRUE(plan && plan->layout);
  EXPECT_EQ(plan->layout->tables.size(), 2U);
  EXPECT_THAT(notes.warnings(),
              testing::Contains(
                  testing::Field(&ImportNote::message, testing::HasSubstr("too many features"))));
  std::vector<std::string> huge = kReport;
  for (std::string& line : huge) {
    if (line.find("HBM: ") != std::string::npos) line = "#    HBM: 1e300 GB #";
  }
  const auto report = read_torchrec_stats(joined(huge), notes);
  ASSERT_TRUE(report);
  const auto resolved = resolve_torchrec_stats(*report, {}, notes);
  ASSERT_TRUE(resolved && resolved->topology);
  EXPECT_GT(resolved->topology->reserve_bytes, 0);
}

}  // namespace
}  // namespace shardscope::storage
