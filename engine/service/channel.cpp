#include "engine/service/channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace shardscope::service {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

/// Waits until `descriptor` is ready or the wake pipe is; false: woken.
bool ready(int descriptor, short events, int wake) {
  pollfd waits[2] = {{descriptor, events, 0}, {wake, POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0) {
    if (errno != EINTR) return false;
  }
  return waits[1].revents == 0;
}

/// A write to a pipe that nobody reads then returns EPIPE, in this thread only.
void block_broken_pipe_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void make_nonblocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0) ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

}  // namespace

Result<std::unique_ptr<Channel>> Channel::open(Descriptor in, Descriptor out,
                                               const ChannelConfig& config,
                                               ChannelHandlers handlers) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail({ErrorKind::runtime, fmt::format("no pipe: {}", std::strerror(errno)), "protocol",
                 "", "Raise the limit of open files (ulimit -n)"});
  }
  return std::unique_ptr<Channel>(new Channel(std::move(in), std::move(out), Descriptor(ends[0]),
                                              Descriptor(ends[1]), config, std::move(handlers)));
}

Channel::Channel(Descriptor in, Descriptor out, Descriptor wake_read, Descriptor wake_write,
                 const ChannelConfig& config, ChannelHandlers handlers)
    : in_(std::move(in)),
      out_(std::move(out)),
      wake_read_(std::move(wake_read)),
      wake_write_(std::move(wake_write)),
      config_(config),
      handlers_(std::move(handlers)) {
  // A peer that does not read must not hold the writing thread beyond close().
  make_nonblocking(out_.get());
  if (config_.send_greeting) push({std::string(kGreeting)});
  reader_ = std::thread([this] { read_until_closed(); });
  writer_ = std::thread([this] { write_until_closed(); });
}

Channel::~Channel() {
  close();
  reader_.join();
  writer_.join();
}

void Channel::close() {
  const std::lock_guard lock(mutex_);
  if (closed_.exchange(true)) return;
  [[maybe_unused]] const ssize_t written = ::write(wake_write_.get(), "x", 1);
  changed_.notify_all();
}

Status Channel::send(const Message& message) {
  Result<std::string> bytes = encode(frame_of(message));
  if (!bytes) return fail(bytes.error());
  push({std::move(*bytes)});
  return {};
}

void Channel::send_samples(const Samples& samples) {
  Result<std::string> bytes = encode(frame_of(samples));
  const auto count = static_cast<std::int64_t>(samples.iterations.size());
  if (bytes) {
    push({std::move(*bytes), samples.id, count});
    return;
  }
  const std::lock_guard lock(mutex_);  // more than a frame holds
  dropped_of_ = samples.id;
  dropped_iterations_ += count;
}

void Channel::push(Outgoing outgoing) {
  bool full = false;
  {
    std::unique_lock lock(mutex_);
    if (outgoing.sample_of != 0) {
      queued_sample_bytes_ += outgoing.bytes.size();
    } else {
      const auto fits = [&] {
        return closed_ || queued_bytes_ == 0 ||
               queued_bytes_ + outgoing.bytes.size() <= config_.queue_bytes;
      };
      if (config_.when_full == WhenFull::block) changed_.wait(lock, fits);
      full = !fits();
      queued_bytes_ += outgoing.bytes.size();
    }
    if (closed_) return;
    queue_.push_back(std::move(outgoing));
    drop_old_samples();
    changed_.notify_all();
  }
  if (full) close();
}

void Channel::drop_old_samples() {
  for (auto it = queue_.begin();
       it != queue_.end() && queued_sample_bytes_ > config_.sample_bytes;) {
    if (it->sample_of == 0) {
      ++it;
      continue;
    }
    queued_sample_bytes_ -= it->bytes.size();
    dropped_of_ = it->sample_of;
    dropped_iterations_ += it->iterations;
    it = queue_.erase(it);
  }
}

bool Channel::flush(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [&] { return closed_ || (queue_.empty() && !writing_); }) &&
         !closed_;
}

void Channel::write_until_closed() {
  block_broken_pipe_signal();
  while (true) {
    std::string bytes;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
      if (closed_) break;
      bytes = std::move(queue_.front().bytes);
      (queue_.front().sample_of != 0 ? queued_sample_bytes_ : queued_bytes_) -= bytes.size();
      queue_.pop_front();
      if (dropped_iterations_ > 0) {
        const auto told = encode(frame_of(
            SamplesDropped{dropped_of_, std::exchange(dropped_iterations_, std::int64_t{0})}));
        bytes += *told;
      }
      writing_ = true;
      changed_.notify_all();
    }
    const bool written = write_all(bytes);
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      changed_.notify_all();
    }
    if (!written) break;
  }
  close();
  out_.reset();  // the peer sees the end
}

bool Channel::write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (!ready(out_.get(), POLLOUT, wake_read_.get())) return false;
    const ssize_t written = ::write(out_.get(), bytes.data() + done, bytes.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
  }
  return true;
}

void Channel::read_until_closed() {
  const std::optional<Error> error = read_frames();
  close();
  handlers_.closed(error);
}

std::optional<Error> Channel::read_frames() {
  FrameReader frames;
  GreetingReader greeting;
  bool greeted = !config_.expect_greeting;
  std::string piece(kReadBytes, '\0');
  while (ready(in_.get(), POLLIN, wake_read_.get())) {
    const ssize_t got = ::read(in_.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) {
      return Error{ErrorKind::runtime, std::strerror(errno), "reading from the other side", "", ""};
    }
    if (got == 0) {
      if (greeted && frames.pending_bytes() == 0) return std::nullopt;
      return Error{ErrorKind::runtime,
                   greeted ? "the other side ended in the middle of a message"
                           : "the other side ended before it said that it is an engine",
                   "protocol", "", ""};
    }
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    if (greeted) {
      frames.feed(bytes);
    } else {
      const auto rest = greeting.feed(bytes);
      if (!rest) return rest.error();
      if (!*rest) continue;
      greeted = true;
      frames.feed(**rest);
    }
    if (auto error = take(frames)) return error;
  }
  return std::nullopt;
}

std::optional<Error> Channel::take(FrameReader& frames) {
  while (!closed_) {
    auto frame = frames.next();
    if (!frame) return frame.error();
    if (!*frame) break;
    Result<Message> message = message_of(**frame);
    if (message) {
      handlers_.message(std::move(*message));
    } else {
      handlers_.refused(id_of_refused(**frame), message.error());
    }
  }
  return std::nullopt;
}

}  // namespace shardscope::service
