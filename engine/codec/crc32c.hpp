#pragma once
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI: RFC 3720 appendix B.4.

#include <cstddef>
#include <cstdint>
#include <span>

namespace shardscope::engine {

[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes);

/// The same from tables alone, for machines without the instruction.
[[nodiscard]] std::uint32_t crc32c_portable(std::span<const std::byte> bytes);

}  // namespace shardscope::engine
