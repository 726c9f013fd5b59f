// The engine behind the desktop, as the real program: a whole conversation, and what happens when
// either side fails.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/service/child_process.hpp"
#include "engine/service/client.hpp"
#include "layout/json.hpp"
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
    made_ = std::make_unique<test::TempDirectory>();
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
    for (const auto end = Clock::now() + std::chrono::seconds(120); Clock::now() < end;) {
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

  static inline std::unique_ptr<test::TempDirectory> made_;
  static inline std::string topology_;
  test::TempDirectory folder_;
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

TEST_F(Service, ATrainingTellsItsCurveAndMovesToAnotherLayoutOnTheWay) {
  open_session();
  service::StartJob start = job(service::JobKind::train, 0);
  Workload workload = workload_from_json(start.workload_json, "small").value();
  workload.dense.dense_features = 4;
  workload.dense.interaction = Interaction::dot;
  workload.dense.bottom_mlp = {16};
  workload.dense.top_mlp = {8, 1};
  start.workload_json = to_json(workload);
  start.settings.iterations = 6000;
  start.settings.evaluate_every = 64;
  const std::int64_t id = client_.send(start);
  wait_for_run(1);
  result_of(client_.send(service::ApplyLayout{0, id, text_of("round_robin.json")}));
  EXPECT_NE(error_of(client_.send(service::ApplyLayout{0, id, "{}"})), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  result_of(client_.send(service::CancelJob{0, id}));
  const Json result = result_of(id);
  const auto begun = events<service::RunBegun>();
  ASSERT_EQ(begun.size(), 2u);
  EXPECT_EQ(result["run"], begun[1].run);
  const auto curve = events<service::CurveSample>();
  ASSERT_FALSE(curve.empty());
  std::int64_t last = 0, before = 0, after = 0;
  for (const service::CurveSample& point : curve) {
    if (point.split != "eval") continue;
    EXPECT_GT(point.iteration, last) << "the curve goes on over the move";
    EXPECT_GT(point.auc, 0);
    last = point.iteration;
    (point.run == begun[0].run ? before : after) += 1;
  }
  EXPECT_GT(after, 0);
  EXPECT_EQ(before + after, static_cast<std::int64_t>(result["curve"].size()));
  const Json session = result_of(client_.send(service::Query{0, "session", 0}));
  EXPECT_EQ(session["runs"][0]["state"], "complete");
  EXPECT_EQ(session["runs"][0]["message"], "moved to another layout");
}

TEST_F(Service, AComparisonRefusesToMove) {
  open_session();
  const std::int64_t id = client_.send(job(service::JobKind::compare, 2));
  wait_for_run(2);
  EXPECT_NE(error_of(client_.send(service::ApplyLayout{0, id, text_of("round_robin.json")}))
                .find("moves to no other layout"),
            std::string::npos);
  EXPECT_NE(result_of(id)["reason"], "interrupted") << "it goes on";
}

TEST_F(Service, CalibratesThisHostWithoutASession) {
  ASSERT_TRUE(client_.start().has_value());
  service::StartJob start;
  start.kind = service::JobKind::calibrate;
  start.workload_json = "{}";
  start.topology_json = topology_;
  start.settings.parts = "exchange";
  start.settings.budget_s = 0.5;
  const Json file = result_of(client_.send(start));
  EXPECT_EQ(file["format"], "shardscope.calibration/1");
  EXPECT_FALSE(file["collectives"].empty());
  EXPECT_FALSE(events<service::JobProgress>().empty());
  start.settings.parts = "weather";
  EXPECT_NE(error_of(client_.send(start)).find("weather"), std::string::npos);
  start.settings.parts = "";
  start.topology_json = run_program({"topologies", "dgx-h100", "--json"}, folder_.path()).out;
  EXPECT_NE(error_of(client_.send(start)).find("measures this host"), std::string::npos);
}

TEST_F(Service, PlansWithRulesAndPinsWithoutASession) {
  ASSERT_TRUE(client_.start().has_value());
  service::StartJob start = job(service::JobKind::plan, 0.5);
  start.settings.rules = "t1=UB";
  start.settings.pinned = "0";
  const Json result = result_of(client_.send(start));
  const Layout before = layout_from_json(start.layout_jsons[0], "before").value();
  const Layout after = layout_from_json(result["layout"].get<std::string>(), "after").value();
  EXPECT_EQ(after.tables[0], before.tables[0]);
  EXPECT_EQ(after.tables[1].cluster, ClusterType::UB);
  EXPECT_GT(result["seconds"].get<double>(), 0);
  EXPECT_GE(result["seconds"].get<double>(), result["lower_bound_s"].get<double>());
  EXPECT_FALSE(events<service::JobProgress>().empty());
  for (const char* wrong : {"99", "x", "0,,1"}) {
    start.settings.pinned = wrong;
    EXPECT_NE(error_of(client_.send(start)).find("pinned"), std::string::npos) << wrong;
  }
  start.settings.pinned = "";
  start.settings.rules = "t1=XY";
  EXPECT_NE(error_of(client_.send(start)), "");
}

TEST_F(Service, SaysWhatItsMachineCanDo) {
  ASSERT_TRUE(client_.start().has_value());
  const Json machine = result_of(client_.send(service::Query{0, "machine", 0}));
  EXPECT_GT(machine["machine"]["cores"].get<int>(), 0);
  std::vector<std::string> names;
  for (const Json& one : machine["capabilities"]) names.push_back(one["name"]);
  EXPECT_NE(std::find(names.begin(), names.end(), "CUDA plugin"), names.end());
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

TEST_F(Service, SpeaksThroughAStandInForSshThatPrintsABanner) {
  folder_.write(
      "ssh",
      "#!/bin/sh\necho \"Welcome to $1\"\necho 'Last login: never' >&2\nshift\nexec \"$@\"\n");
  std::filesystem::permissions(folder_.path() / "ssh", std::filesystem::perms::owner_all);
  Client remote(
      {{(folder_.path() / "ssh").string(), "trainer01", program_path(), "serve"}, "test"});
  ASSERT_TRUE(remote.start().has_value());
  for (int i = 0; i < 1000 && remote.state() != service::EngineState::ready; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(remote.state(), service::EngineState::ready) << remote.ended();
  EXPECT_EQ(Json::parse(remote.engine_json())["protocol"], service::kProtocol);
  EXPECT_NE(remote.last_words().find("Last login"), std::string::npos);
}

/// Texts that differ from machine to machine.
std::string without_place(std::string json, const std::string& path) {
  for (std::size_t at = json.find(path); at != std::string::npos; at = json.find(path)) {
    json.replace(at, path.size(), "SESSION");
  }
  const std::size_t environment = json.find(",\\\"environment\\\"");
  if (environment != std::string::npos) json.replace(environment, json.size(), "...");
  return json;
}

TEST_F(Service, AConversationReadsAsStored) {
  ASSERT_TRUE(client_.start().has_value());
  while (client_.state() == service::EngineState::starting) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::string transcript;
  const auto say = [&](Message request) {
    const std::int64_t id = client_.send(request);
    std::visit([&](auto& one) { one.id = id; }, request);
    transcript += "> " + without_place(service::frame_of(request).json, session_path()) + "\n";
    const Message answer = answer_to(id);
    transcript += "< " + without_place(service::frame_of(answer).json, session_path()) + "\n";
  };
  say(service::Query{0, "layouts", 0});
  say(service::OpenSessionFile{0, session_path()});
  say(service::Query{0, "layouts", 0});
  say(service::Query{0, "weather", 0});
  say(service::Edit{0, "note", 7, "", "", "", "of a layout that is not there"});
  say(service::Edit{0, "layout", 0, "{", "{}", "{}", ""});
  service::StartJob start;
  start.kind = service::JobKind::compare;
  start.workload_json = start.topology_json = "{}";
  say(start);
  start.kind = service::JobKind::calibrate;
  start.settings.backend = "cuda";
  start.settings.comm = "nccl";
  say(start);
  say(service::ApplyLayout{0, 99, "{}"});
  say(service::PauseJob{0, 99, true});
  say(service::CancelJob{0, 99});
  say(service::Hello{0, 7, "a desktop of tomorrow"});
  expect_golden("protocol", transcript);
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
