#include "storage/import/kineto/kineto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/import/import_files.hpp"
#include "storage/import/kineto/event_splitter.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/import/packed_file.hpp"
#include "tests/storage/import/text_stream.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

using test::TextStream;

RankTrace read_trace(const std::string& text, ImportNotes& notes) {
  TextStream stream(text);
  auto trace = read_kineto(stream, "trace.json", notes);
  EXPECT_TRUE(trace) << to_string(trace.error());
  return trace ? std::move(*trace) : RankTrace{};
}

// One rank of two: a step with an id exchange, a lookup, a vector exchange and a backward pass.
std::string small_trace(int rank, int late_us) {
  const std::string r = std::to_string(rank);
  const auto at = [&](int us) { return std::to_string(us + late_us) + ".250"; };
  return R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )" + r +
         R"(, "world_size": 2}, "deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2"}],
"baseTimeNanoseconds": 1000000000, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "x"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 1000, "args": {}},
{"ph": "X", "cat": "user_annotation", "name": "## sparse_data_dist ##", "pid": 1, "tid": 1, "ts": 0, "dur": 50, "args": {}},
{"ph": "X", "cat": "user_annotation", "name": "## backward ##", "pid": 1, "tid": 1, "ts": 500, "dur": 400, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "c10d::alltoall_base_", "pid": 1, "tid": 1, "ts": 10, "dur": 30, "args": {"Input Dims": [[300], [200], [], []], "Input type": ["long int", "long int"]}},
{"ph": "X", "cat": "cpu_op", "name": "fbgemm::split_embedding_codegen_lookup_adagrad_function", "pid": 1, "tid": 1, "ts": 60, "dur": 10, "args": {"Input Dims": [[0], [6400], [0], [0, 0], [2], [2], [3], [], [], [3], [], [300], [41], []]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 62, "dur": 2, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 9, "ts": 600, "dur": 2, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 700, "dur": 2, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv_x", "pid": 0, "tid": 7, "ts": )" +
         at(30) + R"(, "dur": )" + std::to_string(100 - late_us) +
         R"(, "args": {"stream": 7, "device": 0, "correlation": 1, "grid": [8, 1, 1]}},
{"args": {"stream": 7, "correlation": 2}, "cat": "kernel", "ph": "X", "name": "void split_embedding_codegen_forward_unweighted_kernel<float>", "ts": 200, "dur": 40
},
{"ph": "X", "cat": "kernel", "name": "volta_sgemm_128x32_nt", "ts": 610, "dur": 20, "args": {"stream": 7, "correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "void split_embedding_backward_codegen_adagrad_unweighted_kernel_warp_per_row_1<float>", "ts": 710, "dur": 30, "args": {"stream": 7, "correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "mystery", "ts": 760, "dur": 5, "args": {"stream": 7, "correlation": 5}},
{"ph": "f", "cat": "ac2g", "id": 1, "ts": 1}
]
})";
}

TEST(Kineto, GivesWorkToStagesAndIterations) {
  ImportNotes notes("trace");
  std::vector<RankTrace> ranks;
  ranks.push_back(read_trace(small_trace(1, 40), notes));
  ranks.push_back(read_trace(small_trace(0, 0), notes));
  const ImportedTrace trace = arrange_trace(std::move(ranks), built_in_kernel_map(), notes);
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].rank, 0);
  ASSERT_EQ(trace.iterations.size(), 1U);
  EXPECT_EQ(trace.iterations[0].index, 3);
  const std::vector<WorkPlace>& places = trace.places[0];
  ASSERT_EQ(places.size(), 5U);
  EXPECT_EQ(places[0].stage, Stage::input_dist);
  EXPECT_TRUE(places[0].collective);
  EXPECT_EQ(places[0].sent_bytes, 200 * 8);
  EXPECT_EQ(places[0].waiting_ns, 40'000) << "rank 1 arrived 40 us later";
  EXPECT_EQ(trace.places[1][0].waiting_ns, 0);
  EXPECT_EQ(places[1].stage, Stage::model_forward);
  EXPECT_EQ(places[2].stage, Stage::dense_backward) << "launched on another thread meanwhile";
  EXPECT_EQ(places[3].stage, Stage::local_reduce);
  EXPECT_TRUE(places[3].fused);
  EXPECT_FALSE(places[4].mapped);
  ASSERT_EQ(trace.unmapped.size(), 1U);
  EXPECT_EQ(trace.unmapped[0].name, "mystery");
  EXPECT_EQ(trace.unmapped[0].count, 2);
  EXPECT_DOUBLE_EQ(trace.totals[0].ids_per_sample, 15);
  EXPECT_EQ(trace.totals[0].batch, 20);
}

// A rank of four on hosts of two GPUs whose forward exchange states its splits.
std::string trace_with_splits(int rank) {
  const std::string r = std::to_string(rank);
  return R"({"distributedInfo": {"rank": )" + r + R"(, "world_size": 4},
"deviceProperties": [{"id": 0, "name": "X"}, {"id": 1, "name": "X"}], "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "tid": 1, "ts": 0, "dur": 100, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 5, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "tid": 7, "ts": 10, "dur": 20, "args": {"stream": 7,
 "correlation": 1, "Collective name": "all_to_allv", "In msg nelems": 100, "Out msg nelems": 60, "Group size": 4,
 "dtype": "Half", "In split size": "[40, 30, 20, 10]", "Process Group Ranks": "[0, 1, 2, 3]"}}]})";
}

TEST(Kineto, KeepsSplitsByPeerAndTellsLinksApart) {
  ImportNotes notes("trace");
  std::vector<RankTrace> ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.push_back(read_trace(trace_with_splits(rank), notes));
  EXPECT_EQ(ranks[0].host_gpus, 2);
  const ImportedTrace trace = arrange_trace(std::move(ranks), built_in_kernel_map(), notes);
  EXPECT_EQ(trace.fast_domain, 2);
  EXPECT_EQ(trace.totals[0].sent_to, (std::vector<double>{80, 60, 40, 20}));
  EXPECT_DOUBLE_EQ(trace.totals[0].intra_bytes, 60);
  EXPECT_DOUBLE_EQ(trace.totals[0].inter_bytes, 60);
  EXPECT_DOUBLE_EQ(trace.totals[3].intra_bytes, 40);
  EXPECT_DOUBLE_EQ(trace.totals[3].inter_bytes, 140);
  ASSERT_EQ(trace.spans.size(), 4U);
  std::int64_t sent = 0;
  for (const Span& span : trace.spans) sent += span.intra_bytes + span.inter_bytes;
  EXPECT_EQ(sent, 120 + 140 + 160 + 180);
  ImportNotes wide("trace");
  std::vector<RankTrace> again;
  again.push_back(read_trace(trace_with_splits(0), wide));
  const ImportedTrace one = arrange_trace(std::move(again), built_in_kernel_map(), wide, 4);
  EXPECT_DOUBLE_EQ(one.totals[0].intra_bytes, 120) << "the topology's fast domain counts";
}

TEST(Kineto, LeavesOutWhatIsNoTraceBesideOthers) {
  const test::TempDirectory directory;
  std::ofstream(directory.file("rank0.json")) << small_trace(0, 0);
  std::ofstream(directory.file("rank1.json")) << small_trace(1, 0);
  std::ofstream(directory.file("empty.json"));
  std::ofstream(directory.file("settings.json")) << R"({"batch": 512})";
  std::ofstream(directory.file("z.json")) << "{\n{broken\n";
  const std::string folder = std::filesystem::path(directory.file("x")).parent_path().string();
  const auto imported = import_files(ImportKind::kineto, {folder}, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->trace->ranks.size(), 2U);
  EXPECT_GE(imported->notes.warning_count(), 2);
  const auto alone = import_files(ImportKind::kineto, {directory.file("empty.json")}, {},
                                  built_in_kernel_map(), {});
  EXPECT_FALSE(alone);
}

TEST(Kineto, SaysThatAFileHasTheWorkOfSeveralGpus) {
  ImportNotes notes("trace");
  read_trace(R"({"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {"device": 0}},
{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {"device": 1}}]})",
             notes);
  ASSERT_EQ(notes.warning_count(), 1);
  EXPECT_THAT(notes.warnings()[0].message, testing::HasSubstr("2 GPUs"));
}

TEST(Kineto, KeepsTheLatestOfSeveralCyclesOfARank) {
  ImportNotes notes("trace");
  std::vector<RankTrace> ranks;
  for (const int late_us : {0, 5000, 0, 5000}) {
    ranks.push_back(read_trace(small_trace(ranks.size() < 2 ? 0 : 1, late_us), notes));
  }
  ranks[1].file = "later";
  const ImportedTrace trace = arrange_trace(std::move(ranks), built_in_kernel_map(), notes);
  ASSERT_EQ(trace.ranks.size(), 2U);
  EXPECT_EQ(trace.ranks[0].file, "later");
  EXPECT_THAT(notes.warnings().front().message, testing::HasSubstr("latest of each rank"));
}

TEST(Kineto, KeepsNanosecondsOfAbsoluteTimes) {
  ImportNotes notes("trace");
  const RankTrace trace = read_trace(
      R"([{"ph": "X", "cat": "kernel", "name": "k", "ts": 1682725898236567.123, "dur": 0.5, "args": {}}])",
      notes);
  ASSERT_EQ(trace.work.size(), 1U);
  EXPECT_EQ(trace.work[0].start_ns, 1682725898236567123);
  EXPECT_EQ(trace.work[0].end_ns - trace.work[0].start_ns, 500);
}

TEST(Kineto, KeepsWhatATruncatedTraceHas) {
  ImportNotes notes("trace");
  const std::string text = small_trace(0, 0);
  const RankTrace trace = read_trace(text.substr(0, text.find("volta")), notes);
  EXPECT_EQ(trace.work.size(), 2U);
  ASSERT_GE(notes.warning_count(), 1);
  EXPECT_THAT(notes.warnings().back().message, testing::HasSubstr("ends early"));
}

TEST(Kineto, ReadsElementCountsNoTensorHasAsUnknown) {
  const auto collectives = [](const std::string& count) {
    ImportNotes notes("trace");
    const std::string args = R"({"In msg nelems": )" + count + R"(, "dtype": "Float"})";
    const std::string dims = R"({"Input Dims": [[)" + count + R"(], [8]], "Input type": ["long"]})";
    return read_trace(R"({"traceEvents": [)"
                      R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "ts": 1, )"
                      R"("dur": 1, "args": )" +
                          args + R"(}, {"ph": "X", "cat": "cpu_op", "name": "c10d::alltoall_", )" +
                          R"("ts": 1, "dur": 1, "args": )" + dims + "}]}",
                      notes)
        .collectives.size();
  };
  EXPECT_EQ(collectives("300"), 2U);
  for (const char* count : {"9223372036854775807", "-9223372036854775808", "4611686018427387905"}) {
    EXPECT_EQ(collectives(count), 0U) << count;
  }
}

TEST(Kineto, IsBoundedAgainstDepthAndEncodings) {
  ImportNotes notes("trace");
  const RankTrace deep = read_trace(
      R"({"traceEvents": [{"ph": "X", "args": )" + std::string(5000, '[') + std::string(5000, ']') +
          "}, " + R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {}}]})",
      notes);
  EXPECT_EQ(deep.work.size(), 1U);
  EXPECT_GE(notes.warning_count(), 1);
  TextStream utf16(std::string("\xff\xfe{\0\"\0", 6));
  const auto wrong = read_kineto(utf16, "utf16", notes);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, testing::HasSubstr("UTF-8"));
  TextStream prose("These are words.");
  EXPECT_FALSE(read_kineto(prose, "prose", notes));
  ImportNotes damaged_notes("trace");
  const RankTrace damaged = read_trace("[{\"ph\": \"X\" \x80\x81 }, {\"ph\": tru}]", damaged_notes);
  EXPECT_TRUE(damaged.work.empty());
  EXPECT_GE(damaged_notes.warning_count(), 1);
}

TEST(Kineto, RefusesAGzipBomb) {
  const test::TempDirectory directory;
  const std::string path = test::write_packed(directory.file("bomb.json.gz"), test::Packing::gzip,
                                              {{"bomb.json", "[" + std::string(128 << 20, ' ')}});
  const auto imported = import_files(ImportKind::kineto, {path}, {}, built_in_kernel_map(), {});
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().what, testing::HasSubstr("unpack"));
}

TEST(Kineto, ReadsTheRanksOfArchives) {
  const test::TempDirectory directory;
  const std::string deep(150, 'd');
  std::ofstream(directory.file("rank0.json")) << small_trace(0, 0);
  std::ofstream(directory.file("rank1.json")) << small_trace(1, 20);
  const auto plain =
      import_files(ImportKind::kineto, {directory.file("rank0.json"), directory.file("rank1.json")},
                   {}, built_in_kernel_map(), {});
  ASSERT_TRUE(plain) << to_string(plain.error());
  const std::int64_t skipped_of_plain_files = plain->notes.skipped();
  const std::string second =
      test::packed(test::Packing::gzip, {{"rank1.json", small_trace(1, 20)}});
  for (const test::Packing packing : {test::Packing::pax, test::Packing::zip}) {
    const std::string path = test::write_packed(directory.file("traces"), packing,
                                                {{"._rank0.json", "AppleDouble"},
                                                 {deep + "/rank0.json", small_trace(0, 0)},
                                                 {deep + "/notes.txt", "words"},
                                                 {deep + "/rank1.json.gz", second}});
    const auto imported = import_files(ImportKind::kineto, {path}, {}, built_in_kernel_map(), {});
    ASSERT_TRUE(imported) << to_string(imported.error());
    EXPECT_EQ(imported->trace->ranks.size(), 2U);
    EXPECT_EQ(imported->notes.skipped(), 2 + skipped_of_plain_files);
  }
}

TEST(Kineto, SaysThatAnArchiveHoldsNoTraces) {
  const test::TempDirectory directory;
  const std::string path =
      test::write_packed(directory.file("words.zip"), test::Packing::zip, {{"notes.txt", "words"}});
  const auto imported = import_files(ImportKind::kineto, {path}, {}, built_in_kernel_map(), {});
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().what, testing::HasSubstr("no traces in the archive"));
}

TEST(Kineto, CanBeCancelled) {
  const test::TempDirectory directory;
  const std::string path = directory.file("rank-0.json");
  std::ofstream(path) << small_trace(0, 0);
  const auto imported = import_files(ImportKind::kineto, {path}, {}, built_in_kernel_map(),
                                     [](double) { return false; });
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().what, testing::HasSubstr("cancelled"));
}

TEST(Kineto, FindsTheTablesOfTheEightRanksAndTheHotOne) {
  const std::string path = test_data::shared_path("traces/dlrm_kineto.tar.gz");
  if (!test_data::read_file(path)) GTEST_SKIP() << "absent: " << path;
  const auto imported = import_files(ImportKind::kineto, {path}, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  const ImportedTrace& trace = *imported->trace;
  ASSERT_EQ(trace.ranks.size(), 8U);
  EXPECT_EQ(trace.hot_rank, 3);
  const std::vector<double> hotness = {6, 14, 18, 104, 37, 6, 12, 15};
  for (std::size_t r = 0; r < 8; ++r) {
    EXPECT_DOUBLE_EQ(trace.totals[r].ids_per_sample, hotness[r]) << r;
  }
  ASSERT_EQ(imported->plans.size(), 1U);
  const ImportedPlan& plan = imported->plans.front();
  EXPECT_THAT(plan.matrix[3], testing::ElementsAre("cat_20", "cat_23", "cat_24"));
  EXPECT_EQ(plan.workload->features[20].hotness.mean(), 100);
  EXPECT_EQ(plan.layout->tables[5].cluster, ClusterType::DP);
  EXPECT_EQ(plan.layout->tables[16].cluster, ClusterType::DP);
  EXPECT_EQ(plan.workload->global_batch, 128);
}

TEST(Kineto, ShowsThatBytesAndWorkDisagreeOnTwoSampledRanks) {
  const std::vector<std::string> paths = {test_data::shared_path("traces/sampled_rank-0.json.gz"),
                                          test_data::shared_path("traces/sampled_rank-1.json.gz")};
  if (!test_data::read_file(paths[0])) GTEST_SKIP() << "absent: " << paths[0];
  const auto imported = import_files(ImportKind::kineto, paths, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(imported) << to_string(imported.error());
  const ImportedTrace& trace = *imported->trace;
  EXPECT_EQ(trace.world_size, 128);
  EXPECT_EQ(trace.iterations.size(), 2U);
  EXPECT_EQ(trace.most_bytes, 0);
  EXPECT_EQ(trace.most_ids, 1);
  EXPECT_GT(trace.totals[1].ids, 1.5 * trace.totals[0].ids);
  EXPECT_GT(trace.totals[0].sent_bytes, trace.totals[1].sent_bytes);
}

}  // namespace
}  // namespace shardscope::storage
