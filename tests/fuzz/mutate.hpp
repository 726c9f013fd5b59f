#pragma once
// Seeded mutation of byte strings.

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace shardscope::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Inputs never grow beyond this.
inline constexpr std::size_t kLargestInput = std::size_t{1} << 16;

/// One to eight random changes of a corpus entry: bits, bytes, numbers, pieces copied, moved,
/// removed or taken from another entry. Depends on the generator's state alone.
[[nodiscard]] Bytes mutate(const std::vector<Bytes>& corpus, std::mt19937_64& random);

}  // namespace shardscope::fuzz
