#include "engine/service/frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace shardscope::service {
namespace {

TEST(Frame, SurvivesPiecesOfAnySize) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<Frame> sent;
  std::string stream;
  for (int i = 0; i < 50; ++i) {
    Frame frame{std::string(random() % 300, 'j'), std::string(random() % 3000, '\0')};
    for (char& byte : frame.tail) byte = static_cast<char>(random());
    stream += encode(frame).value();
    sent.push_back(std::move(frame));
  }
  FrameReader reader;
  std::vector<Frame> received;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = std::min<std::size_t>(random() % 700, stream.size() - at);
    reader.feed(std::string_view(stream).substr(at, piece));
    at += piece;
    while (auto frame = reader.next().value()) received.push_back(std::move(*frame));
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(reader.pending_bytes(), 0u);
}

TEST(Frame, RefusesLengthsThatCannotBe) {
  const std::string too_long("\xff\xff\xff\xff\0\0\0\0", 8);
  const std::string too_short("\x03\0\0\0\0\0\0\0", 8);
  const std::string more_json_than_frame("\x08\0\0\0\x05\0\0\0", 8);
  for (const std::string& bytes : {too_long, too_short, more_json_than_frame}) {
    FrameReader reader;
    reader.feed(bytes);
    EXPECT_FALSE(reader.next().has_value());
    reader.feed(encode({"{}", ""}).value());
    EXPECT_FALSE(reader.next().has_value()) << "boundaries are lost for good";
  }
}

TEST(Frame, TooLargeIsAnErrorNotATruncation) {
  EXPECT_FALSE(encode({"{}", std::string(kMaximumFrameBytes, 'x')}).has_value());
  EXPECT_TRUE(encode({"{}", std::string(kMaximumFrameBytes - 6, 'x')}).has_value());
}

TEST(Greeting, IsFoundBehindABanner) {
  GreetingReader reader;
  EXPECT_FALSE(reader.feed("Welcome to trainer01\nLast login: ").value().has_value());
  const std::string greeting(kGreeting);
  EXPECT_FALSE(reader.feed(greeting.substr(0, 5)).value().has_value());
  EXPECT_EQ(reader.feed(greeting.substr(5) + "rest").value(), "rest");
}

TEST(Greeting, IsGivenUpAfter64KiBAndQuotesWhatCameInstead) {
  GreetingReader reader;
  ASSERT_TRUE(reader.feed("bash: shardscope: command not found\n").has_value());
  const auto result = reader.feed(std::string(70'000, 'x'));
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().what.find("command not found"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::service
