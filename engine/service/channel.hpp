#pragma once
// Messages in both directions over two descriptors, each served by a thread of its own.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/service/descriptor.hpp"
#include "engine/service/message.hpp"
#include "layout/result.hpp"

namespace shardscope::service {

/// What happens when messages that must not be lost pile up because the peer does not read.
enum class WhenFull : std::uint8_t {
  block,  ///< the sender waits (a worker's drain thread: its recorder then counts what it drops)
  close,  ///< the peer counts as dead
};

struct ChannelConfig {
  bool send_greeting = false;    ///< before the first frame (engine)
  bool expect_greeting = false;  ///< skip a banner first (desktop)
  WhenFull when_full = WhenFull::close;
  std::size_t queue_bytes = std::size_t{64} << 20;  ///< of messages that must arrive
  std::size_t sample_bytes = std::size_t{1} << 20;  ///< of samples; the oldest go first
};

/// Handlers are called from the reading thread, one call at a time; the stream waits meanwhile.
struct ChannelHandlers {
  std::function<void(Message)> message;
  /// A frame that is no message; the stream goes on. `id` is 0 where it had none.
  std::function<void(std::int64_t id, const Error& error)> refused;
  /// Once, last: empty where the peer closed the stream between two frames.
  std::function<void(const std::optional<Error>& error)> closed;
};

class Channel {
 public:
  /// Errors: no descriptors are left.
  [[nodiscard]] static Result<std::unique_ptr<Channel>> open(Descriptor in, Descriptor out,
                                                             const ChannelConfig& config,
                                                             ChannelHandlers handlers);
  /// close(), and waits for both threads. Not from a handler.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Arrives, or the channel closes. Error: it is too large for a frame; nothing is sent.
  [[nodiscard]] Status send(const Message& message);
  /// May be dropped, oldest first, when the peer reads too slowly; it is then told how many.
  void send_samples(const Samples& samples);

  /// Returns once everything sent before the call is written, or `wait` has passed. False: it did
  /// not get there.
  bool flush(std::chrono::milliseconds wait);
  /// Stops both directions; what is queued is lost (flush() first).
  void close();

 private:
  struct Outgoing {
    std::string bytes;
    std::int64_t sample_of = 0;  ///< job whose samples these are; 0: must arrive
    std::int64_t iterations = 0;
  };

  Channel(Descriptor in, Descriptor out, Descriptor wake_read, Descriptor wake_write,
          const ChannelConfig& config, ChannelHandlers handlers);

  void push(Outgoing outgoing);
  void drop_old_samples();
  void read_until_closed();
  [[nodiscard]] std::optional<Error> read_frames();
  [[nodiscard]] std::optional<Error> take(FrameReader& frames);
  void write_until_closed();
  [[nodiscard]] bool write_all(const std::string& bytes);

  Descriptor in_;
  Descriptor out_;
  Descriptor wake_read_;  ///< a pipe that close() writes to: it ends both threads' polls
  Descriptor wake_write_;
  ChannelConfig config_;
  ChannelHandlers handlers_;

  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::deque<Outgoing> queue_;
  std::size_t queued_bytes_ = 0;  ///< of those that must arrive
  std::size_t queued_sample_bytes_ = 0;
  std::int64_t dropped_of_ = 0;  ///< job of the samples dropped and not told of yet
  std::int64_t dropped_iterations_ = 0;
  bool writing_ = false;
  std::atomic<bool> closed_ = false;

  std::thread reader_;
  std::thread writer_;
};

}  // namespace shardscope::service
