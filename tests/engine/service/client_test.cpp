// The client against stand-ins for an engine: what it does when they are missing, die or babble.
// Against the real one: tests/app/service_test.cpp.

#include "engine/service/client.hpp"

#include <gtest/gtest.h>

#include <chrono>
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
               "'{\"type\":\"reply\",\"id\":1,\"result\":\"{\\\"a\\\":1}\"}'; sleep 5"));
  ASSERT_TRUE(client.start().has_value());
  for (int i = 0; i < 500 && client.state() != EngineState::ready; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(client.state(), EngineState::ready) << client.ended();
  EXPECT_EQ(client.engine_json(), "{\"a\":1}");
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
