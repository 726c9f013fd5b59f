#pragma once
// How messages travel between the desktop, the engine and its workers: frames on pipes
// (docs/protocol.md).
//
//   u32 LE  bytes that follow, at most kMaximumFrameBytes
//   u32 LE  bytes of the JSON
//   JSON    one object, UTF-8
//   tail    the rest: binary columns, or nothing

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layout/result.hpp"

namespace shardscope::service {

inline constexpr std::uint32_t kMaximumFrameBytes = 64u << 20;

struct Frame {
  std::string json;
  std::string tail;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// The frame's bytes. Error where it is larger than kMaximumFrameBytes.
[[nodiscard]] Result<std::string> encode(const Frame& frame);

/// Frames from a stream of bytes that arrives in pieces of any size.
class FrameReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }

  /// The next whole frame; empty where more bytes are needed. After an error the stream has no
  /// frame boundaries any more: every further call returns that error.
  [[nodiscard]] Result<std::optional<Frame>> next();

  /// Bytes of a frame that has begun and not ended.
  [[nodiscard]] std::size_t pending_bytes() const { return buffer_.size() - consumed_; }

 private:
  std::string buffer_;
  std::size_t consumed_ = 0;
  std::optional<Error> broken_;
};

/// What an engine writes before its first frame. Whatever stands before it (a login banner, a
/// shell's greeting) is not ours.
inline constexpr std::string_view kGreeting = "\x01shardscope-protocol 1\n";
inline constexpr std::size_t kMaximumBannerBytes = 64u << 10;

/// Skips the banner of a stream.
class GreetingReader {
 public:
  /// Takes bytes until the greeting has been seen; then returns those behind it. Empty: not yet.
  /// Error: kMaximumBannerBytes went by without one; it quotes the beginning.
  [[nodiscard]] Result<std::optional<std::string>> feed(std::string_view bytes);

 private:
  std::string seen_;
};

}  // namespace shardscope::service
