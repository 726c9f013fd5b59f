// The client against stand-ins for an engine: what it does when they are missing, die or babble.
// Against the real one: tests/app/service_test.cpp.

#include "engine/service/client.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace shardscope::service {
namespace {

ClientConfig stand_in(const std::string& script) {
  return {{"sh", "-c", script}, "test"};
}

/// Polls until a message came or ten seconds passed.
std::vector<Message> wait_for_message(Client& client) {
  for (int i = 0; i < 1000; ++i) {
    std::vector<Message> arrived = client.poll();
    if (!arrived.empty()) return arrived;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string failure_of(const std::vector<Message>& messages) {
  if (messages.empty()) return "";
  const auto* failure = std::get_if<Failure>(&messages.front());
  return failure == nullptr ? "" : to_string(failure->error);
}

TEST(Client, AProgramThatDoesNotExistIsAnError) {
  Client client({{"/nowhere/shardscope", "serve"}, "test"});
  const Status started = client.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_NE(to_string(started.error()).find("No such file"), std::string::npos);
  EXPECT_EQ(client.state(), EngineState::stopped);
  const std::int64_t id = client.send(Query{0, "session", 0});
  const auto arrived = client.poll();
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(id_of(arrived[0]), id);
}

TEST(Client, AnEngineThatDiesAnswersOpenRequestsAndKeepsItsLastWords) {
  Client client(stand_in(
      "printf '\\001shardscope-protocol 1\\n'; echo 'last words' >&2; sleep 0.3; kill -9 $$"));
  ASSERT_TRUE(client.start().has_value());
  const std::int64_t id = client.send(Query{0, "session", 0});
  const auto arrived = wait_for_message(client);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(id_of(arrived[0]), id);
  EXPECT_NE(failure_of(arrived).find("signal 9"), std::string::npos) << failure_of(arrived);
  EXPECT_EQ(client.state(), EngineState::stopped);
  EXPECT_NE(client.last_words().find("last words"), std::string::npos);
}

TEST(Client, SomethingElseThanAnEngineIsQuoted) {
  Client client(stand_in("echo 'shardscope: command not found'; exit 127"));
  ASSERT_TRUE(client.start().has_value());
  client.send(Query{0, "session", 0});
  const auto arrived = wait_for_message(client);
  EXPECT_NE(failure_of(arrived).find("exit code 127"), std::string::npos) << failure_of(arrived);
}

TEST(Client, ABannerBeforeTheEngineIsSkipped) {
  Client client(
      stand_in("echo 'Welcome to trainer01'; printf '\\001shardscope-protocol 1\\n'; "
               "printf '\\060\\000\\000\\000\\054\\000\\000\\000%s' "
               "'{\"type\":\"reply\",\"id\":1,\"result\":\"{\\\"a\\\":1}\"}'; "
               "exec 3>&1 cat >/dev/null"));
  ASSERT_TRUE(client.start().has_value());
  for (int i = 0; i < 500 && client.state() != EngineState::ready; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(client.state(), EngineState::ready) << client.ended();
  EXPECT_EQ(client.engine_json(), "{\"a\":1}");
}

TEST(Client, AnEngineThatNeverAnswersIsGivenUpAndKilled) {
  // It reads nothing, says nothing, and ignores that its pipes close.
  ClientConfig config = stand_in("trap '' PIPE TERM; while :; do sleep 1; done");
  config.answers_within = std::chrono::milliseconds(200);
  Client client(config);
  ASSERT_TRUE(client.start().has_value());
  const std::int64_t id = client.send(Query{0, "session", 0});
  const auto begin = std::chrono::steady_clock::now();
  const auto arrived = wait_for_message(client);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(id_of(arrived[0]), id);
  EXPECT_NE(failure_of(arrived).find("did not answer within 0.2 s"), std::string::npos)
      << failure_of(arrived);
  EXPECT_EQ(client.state(), EngineState::stopped);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Client, AnEngineThatHangsInTheMiddleIsEndedWhenAsked) {
  Client client(
      stand_in("printf '\\001shardscope-protocol 1\\n'; "
               "printf '\\060\\000\\000\\000\\054\\000\\000\\000%s' "
               "'{\"type\":\"reply\",\"id\":1,\"result\":\"{\\\"a\\\":1}\"}'; "
               "trap '' PIPE TERM; while :; do sleep 1; done"));
  ASSERT_TRUE(client.start().has_value());
  const std::int64_t id = client.send(Query{0, "session", 0});
  for (int i = 0; i < 500 && client.state() != EngineState::ready; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(client.state(), EngineState::ready) << client.ended();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GE(client.silence(), std::chrono::milliseconds(40));
  client.abandon("it was ended by hand");
  const auto arrived = wait_for_message(client);
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_EQ(id_of(arrived[0]), id);
  EXPECT_NE(failure_of(arrived).find("ended by hand"), std::string::npos) << failure_of(arrived);
}

/// A progress message of `detail_bytes` bytes of text, as it stands in the pipe.
std::string progress_frame(std::size_t detail_bytes) {
  JobProgress progress{7, 0.5, std::string(detail_bytes, 'x')};
  return encode(frame_of(progress)).value();
}

TEST(Client, AFloodIsHeldInThePipeAndNothingOfItIsLost) {
  constexpr std::size_t kMessages = 4 * Client::kMostHeld;
  const std::string path = testing::TempDir() + "/shardscope_flood";
  {
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < kMessages; ++i) file << progress_frame(20);
  }
  Client client(stand_in("printf '\\001shardscope-protocol 1\\n'; cat " + path));
  ASSERT_TRUE(client.start().has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // nobody polls meanwhile
  std::size_t got = 0, largest = 0;
  for (int i = 0; i < 2000 && got < kMessages; ++i) {
    const std::size_t now = client.poll().size();
    largest = std::max(largest, now);
    got += now;
    if (now == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(got, kMessages);
  EXPECT_LE(largest, Client::kMostPolled);
  std::filesystem::remove(path);
}

TEST(Client, AFloodThatIsNeverReadHoldsLittleMemoryAndEndsWithItsClient) {
  // 1 MiB a message without end: held are at most 64 MiB and the one on its way.
  const std::string path = testing::TempDir() + "/shardscope_large_flood";
  std::ofstream(path, std::ios::binary) << progress_frame(std::size_t{1} << 20);
  const std::size_t before = resident_bytes();
  {
    Client client(stand_in("printf '\\001shardscope-protocol 1\\n'; while :; do cat " + path +
                           " || exit; done"));
    ASSERT_TRUE(client.start().has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    EXPECT_LT(resident_bytes(), before + (std::size_t{256} << 20));
    const auto begin = std::chrono::steady_clock::now();
    client.abandon("too much");
    EXPECT_FALSE(client.poll().empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  }
  std::filesystem::remove(path);
}

TEST(Client, StartsAnEngineAgain) {
  Client client(stand_in("printf '\\001shardscope-protocol 1\\n'; exit 3"));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(client.start().has_value());
    client.send(Query{0, "session", 0});
    EXPECT_NE(failure_of(wait_for_message(client)).find("exit code 3"), std::string::npos);
  }
}

}  // namespace
}  // namespace shardscope::service
