#include "engine/codec/crc32c.hpp"

#include <array>
#include <cstring>

namespace shardscope::engine {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78U;
using ByteTable = std::array<std::uint32_t, 256>;

/// Effect of one byte followed by `zeros` zero bytes.
constexpr ByteTable byte_table(int zeros) {
  ByteTable table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8 * (zeros + 1); ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<ByteTable, 8> kTables = {byte_table(0), byte_table(1), byte_table(2),
                                              byte_table(3), byte_table(4), byte_table(5),
                                              byte_table(6), byte_table(7)};

std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

std::uint32_t update_by_tables(std::uint32_t crc, const std::byte* at, std::size_t size) {
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint64_t word = load_word(at) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) {
      crc ^= kTables[7 - byte][(word >> (8 * byte)) & 255U];
    }
  }
  for (; size > 0; ++at, --size) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*at)) & 255U];
  }
  return crc;
}

#if defined(__x86_64__)

/// The instruction takes three cycles and one can start each cycle: three lanes of so many bytes.
constexpr std::size_t kLaneBytes = 1024;

/// Moves a checksum over kLaneBytes zero bytes: the sum over its bytes of these tables.
struct LaneShift {
  std::array<ByteTable, 4> tables{};

  LaneShift() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      for (std::uint32_t position = 0; position < 4; ++position) {
        std::uint32_t crc = byte << (8 * position);
        for (std::size_t zero = 0; zero < kLaneBytes; ++zero) {
          crc = (crc >> 8) ^ kTables[0][crc & 255U];
        }
        tables[position][byte] = crc;
      }
    }
  }

  [[nodiscard]] std::uint32_t operator()(std::uint32_t crc) const {
    return tables[0][crc & 255U] ^ tables[1][(crc >> 8) & 255U] ^ tables[2][(crc >> 16) & 255U] ^
           tables[3][crc >> 24];
  }
};

__attribute__((target("sse4.2"))) std::uint32_t update_by_instruction(std::uint32_t crc,
                                                                      const std::byte* at,
                                                                      std::size_t size) {
  static const LaneShift shift;
  for (; size >= 3 * kLaneBytes; at += 3 * kLaneBytes, size -= 3 * kLaneBytes) {
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLaneBytes; i += 8) {
      first = __builtin_ia32_crc32di(first, load_word(at + i));
      second = __builtin_ia32_crc32di(second, load_word(at + kLaneBytes + i));
      third = __builtin_ia32_crc32di(third, load_word(at + 2 * kLaneBytes + i));
    }
    crc = shift(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    crc = shift(crc) ^ static_cast<std::uint32_t>(third);
  }
  std::uint64_t wide = crc;
  for (; size >= 8; at += 8, size -= 8) wide = __builtin_ia32_crc32di(wide, load_word(at));
  crc = static_cast<std::uint32_t>(wide);
  for (; size > 0; ++at, --size) {
    crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(*at));
  }
  return crc;
}

bool has_instruction() {
  static const bool supported = __builtin_cpu_supports("sse4.2") != 0;
  return supported;
}

#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes) {
  return ~update_by_tables(~0U, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  if (has_instruction()) return ~update_by_instruction(~0U, bytes.data(), bytes.size());
#endif
  return crc32c_portable(bytes);
}

}  // namespace shardscope::engine
