#pragma once
// A short number for a text, to find equal documents without an index over their text.

#include <cstdint>
#include <string_view>

namespace shardscope::storage {

/// 64-bit FNV-1a (Fowler, Noll, Vo), as a signed integer for SQLite. Stored: never change it.
[[nodiscard]] constexpr std::int64_t digest_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return static_cast<std::int64_t>(hash);
}

}  // namespace shardscope::storage
