#pragma once
// Amounts of bytes as commands and screens write them: powers of 1024. Rates are in GB/s, powers of
// 1000, as the field gives them.

#include <string>

namespace shardscope {

/// "12.3 GiB", "512 B": three significant digits.
[[nodiscard]] std::string bytes_text(double bytes);
/// "12.3 GB/s", "850 MB/s".
[[nodiscard]] std::string bytes_per_s_text(double bytes_per_s);

}  // namespace shardscope
