#pragma once
// Little-endian bits and bytes of payloads. Writers trust their caller; readers trust nothing.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace shardscope::engine {

static_assert(std::endian::native == std::endian::little, "payloads are little-endian");

/// What is wrong with a payload; null where nothing is.
using PayloadFault = const char*;

/// Bytes beyond the last one written that a BitWriter may touch.
inline constexpr std::int64_t kWriterSlack = 8;

template <class T>
[[nodiscard]] T load_le(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store_le(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// Bits a code of `count` different values needs: 0 for 1, 1 for 2, 2 for 3 and 4.
[[nodiscard]] inline int bits_for(std::uint64_t count) {
  return count <= 1 ? 0 : std::bit_width(count - 1);
}

/// Appends bits from the lowest up. Eight bytes are stored at a time.
class BitWriter {
 public:
  explicit BitWriter(std::byte* at) : at_(at) {}

  /// `bits` at most 56 - 7.
  void put(std::uint64_t value, int bits) {
    buffer_ |= value << used_;
    used_ += bits;
    store_le(at_, buffer_);
    at_ += used_ >> 3;
    buffer_ >>= used_ & ~7;
    used_ &= 7;
  }

  /// First byte behind the bits, the last one filled with zeros.
  [[nodiscard]] std::byte* end() const { return at_ + (used_ > 0 ? 1 : 0); }

 private:
  std::byte* at_;
  std::uint64_t buffer_ = 0;
  int used_ = 0;
};

/// Reads bits from the lowest up. Past the end it gives zeros and says so.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes)
      : bytes_(bytes), bits_(8 * static_cast<std::uint64_t>(bytes.size())) {}

  /// `bits` at most 56.
  std::uint64_t take(int bits) {
    const std::uint64_t value = window() & ((std::uint64_t{1} << bits) - 1);
    position_ += static_cast<std::uint64_t>(bits);
    return value;
  }

  [[nodiscard]] bool overrun() const { return position_ > bits_; }
  [[nodiscard]] std::size_t bytes_taken() const {
    return static_cast<std::size_t>((position_ + 7) / 8);
  }

 private:
  [[nodiscard]] std::uint64_t window() const {
    const std::size_t byte = static_cast<std::size_t>(position_ >> 3);
    std::uint64_t word = 0;
    if (byte + 8 <= bytes_.size()) {
      word = load_le<std::uint64_t>(bytes_.data() + byte);
    } else if (byte < bytes_.size()) {
      std::memcpy(&word, bytes_.data() + byte, bytes_.size() - byte);
    }
    return word >> (position_ & 7U);
  }

  std::span<const std::byte> bytes_;
  std::uint64_t bits_;
  std::uint64_t position_ = 0;
};

/// Seven bits a byte, the highest bit set where more follow. Returns the byte behind.
[[nodiscard]] inline std::byte* put_varint(std::byte* at, std::uint32_t value) {
  for (; value >= 128; value >>= 7) *at++ = static_cast<std::byte>(value | 128U);
  *at++ = static_cast<std::byte>(value);
  return at;
}

[[nodiscard]] inline int varint_bytes(std::uint32_t value) {
  return value == 0 ? 1 : (std::bit_width(value) + 6) / 7;
}

/// Walks a payload from front to back. A read past the end gives zero or an empty span and marks
/// the reader as failed for good.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    const auto bytes = take_bytes(sizeof(T));
    return bytes.empty() ? T{} : load_le<T>(bytes.data());
  }

  std::span<const std::byte> take_bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return taken;
  }

  std::uint32_t take_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) {
        if (value > UINT32_MAX) break;
        return static_cast<std::uint32_t>(value);
      }
    }
    failed_ = true;
    return 0;
  }

  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace shardscope::engine
