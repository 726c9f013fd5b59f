#include "storage/export/run_export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <regex>

#include "storage/import/import_files.hpp"
#include "storage/session_writer.hpp"
#include "tests/shared_data.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

/// A session with the sample run of two ranks and three iterations.
Session sample_session(const test::TempDirectory& directory) {
  Session session = Session::create(directory.file("s.shardscope")).value();
  SessionWriter writer(session);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  writer.spans(run, test::sample_spans(3));
  writer.iterations(run, test::sample_iterations(3));
  const Status ended = writer.end_run(run, RunSummary{});
  EXPECT_TRUE(ended) << to_string(ended.error());
  return session;
}

TEST(RunExport, WritesOneFileARankAsHolisticTraceAnalysisReadsThem) {
  const test::TempDirectory directory;
  const Session session = sample_session(directory);
  const auto files = export_perfetto(session, 1, directory.file("traces") + "/");
  ASSERT_TRUE(files) << to_string(files.error());
  ASSERT_EQ(files->size(), 2U);
  const std::string text = *test_data::read_file(files->back());
  EXPECT_TRUE(std::regex_search(text, std::regex("\"rank\":\\s+1"))) << "the blank is required";
  EXPECT_THAT(text,
              testing::HasSubstr("\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#2\""));
  EXPECT_THAT(text, testing::HasSubstr("\"cat\": \"kernel\""));
  EXPECT_THAT(text, testing::HasSubstr("\"mode\": \"emulated\""));
}

/// Fewer open files than ranks while it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{most, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

TEST(RunExport, WritesMoreRanksThanFilesMayBeOpen) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("s.shardscope")).value();
  SessionWriter writer(session);
  RunInfo info = test::sample_run();
  info.ranks = 100;
  const std::int64_t run = writer.begin_run(info).value();
  writer.iterations(run, test::sample_iterations(2));
  ASSERT_TRUE(writer.end_run(run, RunSummary{}));
  const FewFiles limit(64);
  const auto files = export_perfetto(session, run, directory.file("traces") + "/");
  ASSERT_TRUE(files) << to_string(files.error());
  ASSERT_EQ(files->size(), 100U);
  const std::string text = *test_data::read_file(files->back());
  EXPECT_THAT(text, testing::HasSubstr("ProfilerStep#1"));
  EXPECT_THAT(text, testing::EndsWith("\n]}\n"));
}

TEST(RunExport, IsReadBackAsATraceOfAllRanks) {
  const test::TempDirectory directory;
  const Session session = sample_session(directory);
  const std::string folder = directory.file("traces") + "/";
  ASSERT_TRUE(export_perfetto(session, 1, folder));
  const auto back = import_files(ImportKind::kineto, {folder}, {}, built_in_kernel_map(), {});
  ASSERT_TRUE(back) << to_string(back.error());
  ASSERT_TRUE(back->trace);
  EXPECT_EQ(back->trace->ranks.size(), 2U);
  EXPECT_EQ(back->trace->iterations.size(), 3U);
  ASSERT_EQ(back->trace->ranks[1].work.size(), 6U);
  EXPECT_EQ(back->trace->ranks[1].work[0].end_ns - back->trace->ranks[1].work[0].start_ns,
            2'000'000);
}

TEST(RunExport, WritesALineASpan) {
  const test::TempDirectory directory;
  const Session session = sample_session(directory);
  const std::string path = directory.file("run.csv");
  const Status done = export_csv(session, 1, path);
  ASSERT_TRUE(done) << to_string(done.error());
  const std::string text = *test_data::read_file(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13);
  EXPECT_THAT(text, testing::HasSubstr("1,0,2,network_forward,RB,23000.000,2000.000,0,100.000,"
                                       "4096,1024,0,emulated"));
}

TEST(RunExport, NamesARunThatIsNotThere) {
  const test::TempDirectory directory;
  const Session session = sample_session(directory);
  EXPECT_FALSE(export_perfetto(session, 7, directory.file("x.json")));
  EXPECT_FALSE(export_csv(session, 7, directory.file("x.csv")));
}

}  // namespace
}  // namespace shardscope::storage
