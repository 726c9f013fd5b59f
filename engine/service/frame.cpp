#include "engine/service/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shardscope::service {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kQuotedBytes = 200;

void append_word(std::string& bytes, std::uint32_t value) {
  for (std::size_t i = 0; i < kWord; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t word_at(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

Error protocol_error(std::string what, std::string expected) {
  return {ErrorKind::runtime, std::move(what), "protocol", std::move(expected), ""};
}

/// Printable text of at most kQuotedBytes of a stream that is not ours.
std::string quoted(std::string_view bytes) {
  std::string text;
  for (const char letter : bytes.substr(0, kQuotedBytes)) {
    const auto code = static_cast<unsigned char>(letter);
    text += code >= 0x20 && code < 0x7f ? letter : ' ';
  }
  return text;
}

}  // namespace

Result<std::string> encode(const Frame& frame) {
  const std::size_t length = kWord + frame.json.size() + frame.tail.size();
  if (length > kMaximumFrameBytes) {
    return fail(protocol_error(fmt::format("a message has {} bytes", length),
                               fmt::format("at most {}", kMaximumFrameBytes)));
  }
  std::string bytes;
  bytes.reserve(kWord + length);
  append_word(bytes, static_cast<std::uint32_t>(length));
  append_word(bytes, static_cast<std::uint32_t>(frame.json.size()));
  bytes += frame.json;
  bytes += frame.tail;
  return bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (broken_) return fail(*broken_);
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kWord) return std::nullopt;
  const std::uint32_t length = word_at(rest);
  if (length < kWord || length > kMaximumFrameBytes) {
    broken_ = protocol_error(fmt::format("a frame claims {} bytes", length),
                             fmt::format("{} to {}", kWord, kMaximumFrameBytes));
    return fail(*broken_);
  }
  if (rest.size() < 2 * kWord) return std::nullopt;
  const std::uint32_t json = word_at(rest.substr(kWord));
  if (json > length - kWord) {
    broken_ = protocol_error(fmt::format("a frame of {} bytes claims {} of JSON", length, json),
                             "JSON that fits its frame");
    return fail(*broken_);
  }
  if (rest.size() < kWord + length) return std::nullopt;
  Frame frame{std::string(rest.substr(2 * kWord, json)),
              std::string(rest.substr(2 * kWord + json, length - kWord - json))};
  consumed_ += kWord + length;
  // What was read is let go once it is the larger part, so that a byte is moved once on average.
  if (consumed_ * 2 >= buffer_.size()) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
  return frame;
}

Result<std::optional<std::string>> GreetingReader::feed(std::string_view bytes) {
  seen_.append(bytes);
  const std::size_t at = seen_.find(kGreeting);
  if (at != std::string::npos && at <= kMaximumBannerBytes) {
    return seen_.substr(at + kGreeting.size());
  }
  if (seen_.size() > kMaximumBannerBytes + kGreeting.size()) {
    return fail({ErrorKind::runtime, "no engine answered; it began with: " + quoted(seen_),
                 "handshake", "'shardscope serve' within 64 KiB of other output",
                 "Run the command by hand and see what it prints"});
  }
  return std::nullopt;
}

}  // namespace shardscope::service
