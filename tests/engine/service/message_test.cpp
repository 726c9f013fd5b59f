#include "engine/service/message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shardscope::service {
namespace {

Iteration an_iteration(int index) {
  Iteration iteration;
  iteration.index = index;
  iteration.block = index / 4;
  iteration.start_ns = std::int64_t{1} << 40;
  iteration.end_ns = iteration.start_ns + 5;
  iteration.traced = index % 2 == 0;
  iteration.loss = 0.6931471805599453;
  return iteration;
}

Span a_span(int index) {
  Span span;
  span.start_ns = -3;
  span.end_ns = std::numeric_limits<std::int64_t>::max();
  span.rows = index;
  span.rank = 7;
  span.stage = Stage::update;
  span.work = Work::dense;
  span.stream = 255;
  span.waiting = true;
  return span;
}

ActivityRecord an_activity(int index) {
  ActivityRecord record;
  record.kind = ActivityRecord::Kind::memcpy;
  record.start_ns = -1;
  record.end_ns = std::int64_t{1} << 50;
  record.correlation = 0xffffffffU;
  record.graph_node = ~std::uint64_t{0};
  record.grid = {index, 2, 3};
  record.block = {4, 5, 6};
  record.stage = Stage::update;
  record.work = Work::UB;
  record.attributed = true;
  record.name = index % 2 == 0 ? "gather_pool_kernel" : "cudaLaunchKernel_v7000";
  record.source = MemoryKind::managed;
  record.event = 9;
  return record;
}

/// One of every alternative, fields filled.
std::vector<Message> one_of_each() {
  RunInfo info;
  info.label = "A";
  info.mode = Mode::emulated;
  info.wire = "2,0.25";
  info.layout_json = R"({"format": "shardscope.layout/1"})";
  info.seed = std::numeric_limits<std::uint64_t>::max();
  info.ranks = 8;
  info.gpus = {{.id = 0, .name = "one", .uuid = "GPU-1", .memory_bytes = 5}, {.id = 1}};
  RunSummary summary;
  summary.iteration_ms = std::nan("");
  summary.complete = false;
  summary.message = "stopped \"early\"\n";
  const JobSettings settings{.wire = "10,1",
                             .dense_math = "bf16",
                             .graphs = true,
                             .seed = 77,
                             .budget_s = 2.5,
                             .target = 0.01,
                             .parts = "gemm"};
  return {
      Hello{1, kProtocol, "test"},
      OpenSessionFile{2, "/tmp/é.shardscope"},
      StartJob{3, JobKind::compare, "{}", "{}", {"{}", "{\"a\": 1}"}, settings},
      ApplyLayout{4, 3, "{}"},
      CancelJob{5, 3},
      PauseJob{6, 3, false},
      Query{7, "layout", 2},
      Edit{8, "note", 2, "", "", "", "text"},
      Reply{9, "{\"x\":[1,2]}"},
      Failure{10, {ErrorKind::infeasible, "what", "place", "expected", "cure"}},
      JobProgress{3, 0.5, "2.5 ms", 0.0012},
      RunBegun{3, 12, 1, "emulated"},
      Samples{3, 12, {an_iteration(0), an_iteration(1)}},
      SamplesDropped{3, 99},
      CurveSample{3, 12, "eval", 50, 25600, 0.69, 0.5},
      BeginRun{11, info},
      RecordSpans{0, 12, {a_span(1), a_span(2), a_span(3)}},
      RecordIterations{0, 12, {an_iteration(5)}},
      RecordActivities{0, 12, {an_activity(1), an_activity(2)}},
      RecordDropped{0, 12, 4},
      EndRun{12, 12, summary},
      RecordResult{13, "curve", "{}"},
  };
}

TEST(Message, EveryKindSurvivesItsFrame) {
  const std::vector<Message> messages = one_of_each();
  ASSERT_EQ(messages.size(), std::variant_size_v<Message>) << "a kind is missing from this test";
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(messages[i].index(), i);
    const Frame frame = frame_of(messages[i]);
    const Result<Message> read = message_of(frame);
    ASSERT_TRUE(read.has_value()) << frame.json << ": " << to_string(read.error());
    EXPECT_EQ(read->index(), i);
    EXPECT_EQ(frame_of(*read), frame);
  }
}

TEST(Message, RecordsArriveAsTheyWere) {
  const Message read = message_of(frame_of(RecordSpans{0, 12, {a_span(1), a_span(2)}})).value();
  EXPECT_EQ(std::get<RecordSpans>(read).spans, (std::vector<Span>{a_span(1), a_span(2)}));
  const Message samples = message_of(frame_of(Samples{3, 12, {an_iteration(2)}})).value();
  EXPECT_EQ(std::get<Samples>(samples).iterations, std::vector<Iteration>{an_iteration(2)});
}

TEST(Message, ActivitiesArriveWithTheirNames) {
  const Message read =
      message_of(frame_of(RecordActivities{0, 12, {an_activity(1), an_activity(2)}})).value();
  const std::vector<ActivityRecord>& records = std::get<RecordActivities>(read).activities;
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "cudaLaunchKernel_v7000");
  EXPECT_EQ(records[1].name, "gather_pool_kernel");
  EXPECT_EQ(records[1].grid, (std::array<std::int32_t, 3>{2, 2, 3}));
  EXPECT_EQ(records[1].correlation, 0xffffffffU);
  EXPECT_EQ(records[1].graph_node, ~std::uint64_t{0});
  EXPECT_EQ(records[1].source, MemoryKind::managed);
  EXPECT_EQ(records[1].stage, Stage::update);
  const Message begun = message_of(frame_of(one_of_each()[15])).value();
  EXPECT_EQ(std::get<BeginRun>(begun).info.gpus.at(0).uuid, "GPU-1");
}

TEST(Message, ActivitiesOfANameThatIsNotThereAreRefused) {
  const Frame good = frame_of(RecordActivities{0, 12, {an_activity(1)}});
  Frame nameless = good;
  const std::size_t at = nameless.json.find("[\"cuda");
  nameless.json.replace(at, nameless.json.find(']', at) - at, "[");
  ASSERT_FALSE(message_of(nameless));
  EXPECT_NE(to_string(message_of(nameless).error()).find("does not exist"), std::string::npos);
}

/// What the error of a refused text says.
std::string refusal(const std::string& json, const std::string& tail = "") {
  const Result<Message> read = message_of({json, tail});
  return read ? "" : to_string(read.error());
}

TEST(Message, RefusesWhatIsNotAsDocumented) {
  EXPECT_NE(refusal("{").find("protocol:1"), std::string::npos);
  EXPECT_NE(refusal("[]").find("without a type"), std::string::npos);
  EXPECT_NE(refusal(R"({"type":"dance","id":1})").find("no message \"dance\""), std::string::npos);
  EXPECT_NE(refusal(R"({"type":"cancel","id":1})").find("job"), std::string::npos);
  EXPECT_NE(refusal(R"({"type":"cancel","id":1,"job":-2})").find("job"), std::string::npos);
  EXPECT_NE(refusal(R"({"type":"cancel","id":1,"job":2,"haste":3})").find("haste"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type":"cancel","id":1,"job":2})", "tail").find("tail"), std::string::npos);
  EXPECT_NE(refusal(R"({"type":"spans","id":0,"run":1,"count":2})", "short").find("5 bytes"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type":"spans","id":0,"run":1,"count":1})", std::string(60, '\x7f'))
                .find("does not exist"),
            std::string::npos);
}

TEST(Message, ARefusedRequestKeepsItsIdForTheAnswer) {
  EXPECT_EQ(id_of_refused({R"({"type":"dance","id":41})", ""}), 41);
  EXPECT_EQ(id_of_refused({R"({"type":"dance","id":"x"})", ""}), 0);
  EXPECT_EQ(id_of_refused({"garbage", ""}), 0);
}

}  // namespace
}  // namespace shardscope::service
