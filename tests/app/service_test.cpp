// The engine behind the desktop, as the real program: a whole conversation, and what happens when
// either side fails.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/service/child_process.hpp"
#include "engine/service/client.hpp"
#include "tests/app/program.hpp"
#include "tests/app/small_disk.hpp"
#include "tests/paths.hpp"

namespace shardscope::app {
namespace {

using service::Client;
using service::Message;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

std::string program_path() {
  return test::binary_dir() + "/bin/shardscope";
}

/// Parent of a process; 0 where it is gone.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

/// The worker below the engine that this process started.
pid_t worker_of_this_test() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::stoi(name);
    if (parent_of(parent_of(process)) == ::getpid()) return process;
  }
  return 0;
}

class Service : public testing::Test {
 protected:
  /// Descriptions are made once, by the program.
  static void SetUpTestSuite() {
    made_ = std::make_unique<TemporaryFolder>();
    made_->write("small.json", small_workload());
    for (const char* name : {"table_wise", "round_robin"}) {
      const ProgramResult saved =
          run_program({"check", "--workload", "small.json", "--topology", "host-cpu:1x2",
                       "--layout", name, "--save", std::string(name) + ".json"},
                      made_->path());
      EXPECT_EQ(saved.code, 0) << saved.err;
    }
    topology_ = run_program({"topologies", "host-cpu:1x2", "--json"}, made_->path()).out;
  }
  static void TearDownTestSuite() { made_.reset(); }

  Service() : client_({{program_path(), "serve"}, "test"}) {}

  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(made_->path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string session_path() const { return folder_.path() / "s.shardscope"; }

  service::StartJob job(service::JobKind kind, double budget_s) const {
    service::StartJob start;
    start.kind = kind;
    start.workload_json = text_of("small.json");
    start.topology_json = topology_;
    start.layout_jsons = {text_of("table_wise.json")};
    if (kind == service::JobKind::compare)
      start.layout_jsons.push_back(text_of("round_robin.json"));
    start.settings.budget_s = budget_s;
    return start;
  }

  /// Waits for the answer to a request; what else arrives is kept in events_.
  Message answer_to(std::int64_t id) {
    for (const auto end = Clock::now() + std::chrono::seconds(60); Clock::now() < end;) {
      std::optional<Message> answer;
      for (Message& message : client_.poll()) {
        const bool ends = std::holds_alternative<service::Reply>(message) ||
                          std::holds_alternative<service::Failure>(message);
        if (ends && service::id_of(message) == id) {
          answer = std::move(message);
        } else {
          events_.push_back(std::move(message));
        }
      }
      if (answer) return *answer;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return service::Failure{id, {ErrorKind::runtime, "no answer within 60 s", "", "", ""}};
  }
  Json result_of(std::int64_t id) {
    const Message answer = answer_to(id);
    if (const auto* failure = std::get_if<service::Failure>(&answer)) {
      ADD_FAILURE() << to_string(failure->error);
      return {};
    }
    return Json::parse(std::get<service::Reply>(answer).result_json);
  }
  std::string error_of(std::int64_t id) {
    const Message answer = answer_to(id);
    const auto* failure = std::get_if<service::Failure>(&answer);
    return failure == nullptr ? "" : to_string(failure->error);
  }
  template <class Kind>
  std::vector<Kind> events() const {
    std::vector<Kind> found;
    for (const Message& message : events_) {
      if (const auto* one = std::get_if<Kind>(&message)) found.push_back(*one);
    }
    return found;
  }
  /// Waits until the job has begun a run.
  void wait_for_run(std::size_t runs) {
    for (const auto end = Clock::now() + std::chrono::seconds(30); Clock::now() < end;) {
      for (Message& message : client_.poll()) events_.push_back(std::move(message));
      if (events<service::RunBegun>().size() >= runs) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "no run began";
  }
  void open_session() {
    ASSERT_TRUE(client_.start().has_value());
    result_of(client_.send(service::OpenSessionFile{0, session_path()}));
  }

  static inline std::unique_ptr<TemporaryFolder> made_;
  static inline std::string topology_;
  TemporaryFolder folder_;
  Client client_;
  std::vector<Message> events_;
};

TEST_F(Service, RunsAJobAndRecordsItInTheSession) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 0.5));
  const Json result = result_of(id);
  EXPECT_EQ(result["mode"], "measured");
  EXPECT_GT(result["samples_per_s"].get<double>(), 0);
  const auto begun = events<service::RunBegun>();
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(result["run"], begun[0].run);
  EXPECT_FALSE(events<service::Samples>().empty());
  EXPECT_FALSE(events<service::JobProgress>().empty());
  const Json session = result_of(client_.send(service::Query{0, "session", 0}));
  ASSERT_EQ(session["runs"].size(), 1u);
  EXPECT_EQ(session["runs"][0]["state"], "complete");
  EXPECT_GT(session["runs"][0]["spans"].get<int>(), 0);
  EXPECT_EQ(session["runs"][0]["iteration_ms"], result["iteration_ms"]);
}

TEST_F(Service, ComparesTwoLayoutsAndKeepsTheComparison) {
  open_session();
  service::StartJob start = job(service::JobKind::compare, 30);
  start.settings.target = 0.9;  // any interval will do: it ends with the first
  const Json result = result_of(client_.send(start));
  EXPECT_GT(result["ratio"]["estimate"].get<double>(), 0);
  EXPECT_EQ(events<service::RunBegun>().size(), 2u);
  const Json session = result_of(client_.send(service::Query{0, "session", 0}));
  ASSERT_EQ(session["comparisons"].size(), 1u);
  EXPECT_EQ(session["comparisons"][0]["ratio"], result["ratio"]["estimate"]);
}

TEST_F(Service, MovesARunningJobToAnotherLayout) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 1.5));
  wait_for_run(1);
  result_of(client_.send(service::ApplyLayout{0, id, text_of("round_robin.json")}));
  EXPECT_EQ(result_of(id)["layout"], "round_robin");
  EXPECT_EQ(events<service::RunBegun>().size(), 2u);
}

TEST_F(Service, ALayoutThatBreaksARuleIsRefusedAndTheJobGoesOn) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 1));
  wait_for_run(1);
  EXPECT_NE(error_of(client_.send(service::ApplyLayout{0, id, "{}"})), "");
  EXPECT_EQ(result_of(id)["layout"], "table_wise");
}

TEST_F(Service, CancelKeepsWhatWasMeasured) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 60));
  wait_for_run(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  result_of(client_.send(service::CancelJob{0, id}));
  EXPECT_EQ(result_of(id)["interrupted"], true);
}

TEST_F(Service, APausedJobStandsStillAndGoesOn) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 1.5));
  wait_for_run(1);
  result_of(client_.send(service::PauseJob{0, id, true}));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  static_cast<void>(client_.poll());
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_TRUE(client_.poll().empty()) << "longer than the budget, and nothing happened";
  result_of(client_.send(service::PauseJob{0, id, false}));
  EXPECT_EQ(result_of(id)["interrupted"], false);
}

TEST_F(Service, AWorkerThatIsKilledCostsItsRunAlone) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::run, 60));
  wait_for_run(1);
  const pid_t child = worker_of_this_test();
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_NE(error_of(id).find("signal 9"), std::string::npos);
  const Json session = result_of(client_.send(service::Query{0, "session", 0}));
  ASSERT_EQ(session["runs"].size(), 1u);
  EXPECT_EQ(session["runs"][0]["state"], "stopped");
  EXPECT_EQ(result_of(client_.send(job(service::JobKind::run, 0.3)))["mode"], "measured");
}

TEST_F(Service, AJobEndsWhenTheDiskOfTheSessionIsFull) {
  const SmallDisk disk(folder_.path() / "small", "600k");
  if (!disk.mounted()) GTEST_SKIP() << "a full disk needs a right that this user lacks: mount";
  ASSERT_TRUE(client_.start().has_value());
  result_of(
      client_.send(service::OpenSessionFile{0, (folder_.path() / "small/s.shardscope").string()}));
  const auto start = Clock::now();
  const std::string error = error_of(client_.send(job(service::JobKind::run, 600)));
  EXPECT_NE(error.find("disk is full"), std::string::npos) << error;
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(50)) << "told while it ran";
}

TEST_F(Service, ChangesToDocumentsGoThroughTheEngine) {
  open_session();
  service::Edit edit;
  edit.what = "layout";
  edit.workload_json = text_of("small.json");
  edit.topology_json = topology_;
  edit.layout_json = text_of("table_wise.json");
  const std::int64_t row = result_of(client_.send(edit))["row"].get<std::int64_t>();
  result_of(client_.send(service::Edit{0, "note", row, "", "", "", "a note"}));
  result_of(client_.send(service::Edit{0, "reference", row, "", "", "", ""}));
  const Json layouts = result_of(client_.send(service::Query{0, "layouts", 0}));
  ASSERT_EQ(layouts["layouts"].size(), 1u);
  EXPECT_EQ(layouts["layouts"][0]["note"], "a note");
  EXPECT_EQ(layouts["layouts"][0]["reference"], true);
  const std::string stored = result_of(client_.send(service::Query{0, "layout", row}))["layout"];
  EXPECT_EQ(Json::parse(stored), Json::parse(text_of("table_wise.json")));
}

TEST_F(Service, RequestsThatCannotBeServedAreAnsweredWithTheReason) {
  ASSERT_TRUE(client_.start().has_value());
  EXPECT_NE(error_of(client_.send(job(service::JobKind::run, 1))).find("no session is open"),
            std::string::npos);
  EXPECT_NE(error_of(client_.send(service::CancelJob{0, 99})).find("does not run"),
            std::string::npos);
  EXPECT_NE(error_of(client_.send(service::OpenSessionFile{0, "/nowhere/x.shardscope"})), "");
  result_of(client_.send(service::OpenSessionFile{0, session_path()}));
  service::StartJob broken = job(service::JobKind::run, 1);
  broken.workload_json = "{";
  EXPECT_NE(error_of(client_.send(broken)).find("workload:1:2"), std::string::npos);
  EXPECT_NE(error_of(client_.send(service::Query{0, "weather", 0})).find("weather"),
            std::string::npos);
}

TEST_F(Service, ADesktopThatDiesLeavesNoProcessAndACompleteFile) {
  {
    Client short_lived({{program_path(), "serve"}, "test"});
    ASSERT_TRUE(short_lived.start().has_value());
    short_lived.send(service::OpenSessionFile{0, session_path()});
    short_lived.send(job(service::JobKind::run, 60));
    for (int i = 0; i < 2000; ++i) {
      bool sampled = false;
      for (const Message& message : short_lived.poll()) {
        sampled = sampled || std::holds_alternative<service::Samples>(message);
      }
      if (sampled) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(session_path() + "-wal"));
  const ProgramResult shown = run_program({"inspect", session_path(), "--json"}, folder_.path());
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(Json::parse(shown.out)["runs"][0]["state"], "stopped");
}

TEST_F(Service, GarbageEndsTheEngineWhichSaysWhy) {
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("hi\n"),
        std::string("\x08\0\0\0\xff\0\0\0", 8), std::string("\x30\0\0\0\x10\0\0\0{", 9)}) {
    auto child =
        service::ChildProcess::start({program_path(), "serve"}, service::ChildErrors::piped, false)
            .value();
    ASSERT_EQ(::write(child.input().get(), garbage.data(), garbage.size()),
              static_cast<ssize_t>(garbage.size()));
    child.input().reset();
    EXPECT_EQ(child.ended(std::chrono::seconds(5)), "exit code 3") << garbage;
    std::string words(4096, '\0');
    const ssize_t got = ::read(child.errors().get(), words.data(), words.size());
    words.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    EXPECT_NE(words.find("docs/protocol.md"), std::string::npos) << words;
  }
}

TEST_F(Service, AnEndBeforeAnyMessageIsNoError) {
  auto child =
      service::ChildProcess::start({program_path(), "serve"}, service::ChildErrors::piped, false)
          .value();
  child.input().reset();
  EXPECT_EQ(child.ended(std::chrono::seconds(5)), "exit code 0");
}

}  // namespace
}  // namespace shardscope::app
