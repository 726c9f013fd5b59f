#include "engine/service/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

namespace shardscope::service {
namespace {

struct PipeEnds {
  Descriptor read;
  Descriptor write;
};

PipeEnds channel_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Keeps what a channel hears.
class Listener {
 public:
  ChannelHandlers handlers() {
    return {[this](Message message) {
              const std::lock_guard lock(mutex_);
              messages_.push_back(std::move(message));
              changed_.notify_all();
            },
            [this](std::int64_t id, const Error&) {
              const std::lock_guard lock(mutex_);
              refused_.push_back(id);
              changed_.notify_all();
            },
            [this](const std::optional<Error>& error) {
              const std::lock_guard lock(mutex_);
              closed_ = true;
              error_ = error;
              changed_.notify_all();
            }};
  }
  bool wait_for_messages(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return messages_.size() >= count; });
  }
  bool wait_for_close() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return closed_; });
  }
  std::vector<Message> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::vector<std::int64_t> refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  std::optional<Error> error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Message> messages_;
  std::vector<std::int64_t> refused_;
  bool closed_ = false;
  std::optional<Error> error_;
};

Samples samples_of(std::size_t iterations) {
  return {3, 1, std::vector<Iteration>(iterations)};
}

TEST(Channel, MessagesArriveInOrderInBothDirections) {
  PipeEnds there = channel_pipe();
  PipeEnds back = channel_pipe();
  Listener engine;
  Listener desktop;
  ChannelConfig greets;
  greets.send_greeting = true;
  ChannelConfig expects;
  expects.expect_greeting = true;
  const auto a =
      Channel::open(std::move(there.read), std::move(back.write), greets, engine.handlers())
          .value();
  const auto b =
      Channel::open(std::move(back.read), std::move(there.write), expects, desktop.handlers())
          .value();
  for (std::int64_t i = 1; i <= 200; ++i) {
    ASSERT_TRUE(b->send(Query{i, "session", 0}).has_value());
    ASSERT_TRUE(a->send(Reply{i, "{}"}).has_value());
  }
  ASSERT_TRUE(engine.wait_for_messages(200));
  ASSERT_TRUE(desktop.wait_for_messages(200));
  const std::vector<Message> heard = desktop.messages();
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(id_of(heard[i]), static_cast<std::int64_t>(i + 1));
  }
}

TEST(Channel, ASlowReaderLosesTheOldestSamplesAndIsToldHowManyButNoReply) {
  PipeEnds out = channel_pipe();
  PipeEnds idle = channel_pipe();
  Listener sender_side;
  ChannelConfig config;
  config.sample_bytes = 64 << 10;
  auto sender =
      Channel::open(std::move(idle.read), std::move(out.write), config, sender_side.handlers())
          .value();
  constexpr std::size_t kMessages = 300;
  constexpr std::size_t kIterations = 100;
  for (std::size_t i = 0; i < kMessages; ++i) {
    sender->send_samples(samples_of(kIterations));
    ASSERT_TRUE(sender->send(Reply{static_cast<std::int64_t>(i + 1), "{}"}).has_value());
  }
  Listener slow;
  PipeEnds unused = channel_pipe();
  const auto reader =
      Channel::open(std::move(out.read), std::move(unused.write), {}, slow.handlers()).value();
  ASSERT_TRUE(sender->flush(std::chrono::seconds(20)));
  ASSERT_TRUE(slow.wait_for_messages(kMessages));
  sender.reset();
  ASSERT_TRUE(slow.wait_for_close());
  std::size_t replies = 0;
  std::int64_t iterations = 0;
  std::int64_t told = 0;
  for (const Message& message : slow.messages()) {
    replies += std::holds_alternative<Reply>(message) ? 1 : 0;
    if (const auto* some = std::get_if<Samples>(&message)) {
      iterations += static_cast<std::int64_t>(some->iterations.size());
    }
    if (const auto* lost = std::get_if<SamplesDropped>(&message)) told += lost->iterations;
  }
  EXPECT_EQ(replies, kMessages);
  EXPECT_GT(told, 0);
  EXPECT_EQ(iterations + told, static_cast<std::int64_t>(kMessages * kIterations));
}

TEST(Channel, APeerThatNeverReadsRepliesCountsAsDead) {
  PipeEnds out = channel_pipe();
  PipeEnds idle = channel_pipe();
  Listener listener;
  ChannelConfig config;
  config.queue_bytes = 1 << 20;
  const auto channel =
      Channel::open(std::move(idle.read), std::move(out.write), config, listener.handlers())
          .value();
  const std::string large(300'000, 'x');
  for (int i = 0; i < 8; ++i) static_cast<void>(channel->send(Reply{1, large}));
  EXPECT_TRUE(listener.wait_for_close());
}

TEST(Channel, CloseReturnsWhileThePeerDoesNotRead) {
  PipeEnds out = channel_pipe();
  PipeEnds idle = channel_pipe();
  Listener listener;
  ChannelConfig config;
  config.when_full = WhenFull::block;
  auto channel =
      Channel::open(std::move(idle.read), std::move(out.write), config, listener.handlers())
          .value();
  ASSERT_TRUE(channel->send(Reply{1, std::string(1 << 20, 'x')}).has_value());
  channel.reset();
  EXPECT_TRUE(listener.wait_for_close());
}

TEST(Channel, RefusesAFrameAndGoesOn) {
  PipeEnds in = channel_pipe();
  PipeEnds out = channel_pipe();
  Listener listener;
  const auto channel =
      Channel::open(std::move(in.read), std::move(out.write), {}, listener.handlers()).value();
  const std::string bytes =
      encode({R"({"type":"dance","id":5})", ""}).value() + encode(frame_of(Reply{6, "{}"})).value();
  ASSERT_EQ(::write(in.write.get(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  ASSERT_TRUE(listener.wait_for_messages(1));
  EXPECT_EQ(listener.refused(), std::vector<std::int64_t>{5});
}

TEST(Channel, SaysWhereTheStreamBroke) {
  PipeEnds in = channel_pipe();
  PipeEnds out = channel_pipe();
  Listener listener;
  const auto channel =
      Channel::open(std::move(in.read), std::move(out.write), {}, listener.handlers()).value();
  const std::string half = encode(frame_of(Reply{6, "{}"})).value().substr(0, 11);
  ASSERT_EQ(::write(in.write.get(), half.data(), half.size()), static_cast<ssize_t>(half.size()));
  in.write.reset();
  ASSERT_TRUE(listener.wait_for_close());
  ASSERT_TRUE(listener.error().has_value());
  EXPECT_NE(listener.error()->what.find("middle of a message"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::service
