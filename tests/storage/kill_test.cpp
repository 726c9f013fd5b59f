// kill -9 at random moments: the file opens, is intact, and lacks at most the last 250 ms.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "profiler/recorder.hpp"
#include "storage/run_scan.hpp"
#include "storage/session.hpp"
#include "storage/session_state.hpp"
#include "storage/session_writer.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int32_t kKillRanks = 2;
constexpr int kKills = 100;
constexpr int kTogether = 4;  // children alive at a time: most of their time is sleep
constexpr std::int64_t kMayLoseNs = 250'000'000;

/// What the child tells the parent, in memory that outlives it.
struct Told {
  std::atomic<std::int64_t> started_ns{0};  ///< before the first span
  std::atomic<std::int64_t> committed{0};
};

/// Records a span every 0.2 ms on each of two ranks until it is killed. Times are steady_ns(),
/// which all processes share; rows number the spans of a rank.
[[noreturn]] void record_until_killed(const std::string& path, const SessionWriterConfig& config,
                                      Told& told) {
  Session session = Session::create(path).value();
  SessionWriter writer(session, config);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  Recorder recorder(writer, run, {.ranks = kKillRanks});
  told.started_ns.store(steady_ns());
  for (std::int64_t number = 0;; ++number) {
    for (std::int32_t rank = 0; rank < kKillRanks; ++rank) {
      const std::int64_t now = steady_ns();
      recorder.record(Span{.start_ns = now - 100, .end_ns = now, .rows = number, .rank = rank});
    }
    told.committed.store(writer.committed());
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

class Child {
 public:
  explicit Child(std::string path, const SessionWriterConfig& config = {})
      : path_(std::move(path)) {
    void* memory =
        ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told_ = ::new (memory) Told;
    process_ = ::fork();
    if (process_ == 0) record_until_killed(path_, config, *told_);
  }
  ~Child() { ::munmap(told_, sizeof(Told)); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void wait_until_started() const {
    while (told_->started_ns.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void kill_and_wait() {
    committed_ = told_->committed.load();
    killed_ns_ = steady_ns();
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  /// Age of the youngest span in the file when the process was killed.
  [[nodiscard]] std::int64_t lost_ns() const {
    const Session session = Session::open(path_, Session::Access::read_write).value();
    Database& database = session.state().database;
    std::int64_t last_ns = told_->started_ns.load();
    const std::vector<Track> tracks = tracks_of(database, 1).value();
    for (const Track& track : tracks) {
      EXPECT_TRUE(for_each_span(database, track, [&](const Span& span, std::int64_t) {
        last_ns = std::max(last_ns, span.end_ns);
      }));
    }
    return killed_ns_ - last_ns;
  }

  /// Reads what is left, first as a reader beside the remains, then as the next writer.
  void expect_intact() const {
    {
      const Result<Session> reader = Session::open(path_, Session::Access::read_only);
      ASSERT_TRUE(reader) << to_string(reader.error());
    }
    const Result<Session> session = Session::open(path_, Session::Access::read_write);
    ASSERT_TRUE(session) << to_string(session.error());
    Database& database = session->state().database;
    EXPECT_EQ(database.text("PRAGMA integrity_check").value(), "ok");
    EXPECT_GE(database.integer("SELECT count(*) FROM spans").value(), committed_);
    EXPECT_EQ(database.integer("SELECT complete FROM runs").value(), 0);
    const std::vector<Track> tracks = tracks_of(database, 1).value();
    if (tracks.empty()) expect_recent(told_->started_ns.load(), -1);
    for (const Track& track : tracks) {
      std::int64_t expected = 0;
      std::int64_t last_ns = 0;
      ASSERT_TRUE(for_each_span(database, track, [&](const Span& span, std::int64_t) {
        EXPECT_EQ(span.rows, expected) << "a hole in rank " << span.rank;
        expected = span.rows + 1;
        last_ns = span.end_ns;
      }));
      expect_recent(last_ns, track.rank);
    }
  }

 private:
  void expect_recent(std::int64_t last_ns, std::int32_t rank) const {
    EXPECT_LE(killed_ns_ - last_ns, kMayLoseNs) << "rank " << rank;
  }

  std::string path_;
  Told* told_ = nullptr;
  pid_t process_ = 0;
  std::int64_t committed_ = 0;
  std::int64_t killed_ns_ = 0;
};

TEST(Kill, AtAnyMomentCostsAtMostTheLast250MsAndNoCommittedRow) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> wait_ms(0, 400);
  const test::TempDirectory directory;
  for (int wave = 0; wave < kKills / kTogether; ++wave) {
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < kTogether; ++i) {
      const std::string name = std::to_string(wave) + "-" + std::to_string(i) + ".shardscope";
      children.push_back(std::make_unique<Child>(directory.file(name)));
    }
    for (const auto& child : children) {
      child->wait_until_started();
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms(random) / kTogether));
      child->kill_and_wait();
    }
    for (const auto& child : children) child->expect_intact();
    if (::testing::Test::HasFailure()) return;
  }
}

// What the test above measures is the commit period: with a longer one it would fail.
TEST(Kill, ALongerCommitPeriodCostsMoreThan250Ms) {
  const test::TempDirectory directory;
  Child child(directory.file("slow.shardscope"), {.commit_period = std::chrono::seconds(5)});
  child.wait_until_started();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  child.kill_and_wait();
  EXPECT_GT(child.lost_ns(), kMayLoseNs);
}

}  // namespace
}  // namespace shardscope::storage
