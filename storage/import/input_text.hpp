#pragma once
// Bytes of an input as text: unpacked, decoded to UTF-8 and bounded.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/notes.hpp"

namespace shardscope::storage {

/// Largest text that is read whole. Traces are streamed and have a bound of their own.
inline constexpr std::size_t kLargestInputText = std::size_t{256} << 20;

/// The file's text: unpacked (of an archive its first file), UTF-16 and byte order marks turned
/// into UTF-8. Errors: absent, a directory, too large once unpacked, damaged from its start.
[[nodiscard]] Result<std::string> read_input_text(const std::string& path, ImportNotes& notes);

/// UTF-16 (by its byte order mark or its zeros) as UTF-8; a UTF-8 mark and terminals' colour
/// sequences removed; NUL bytes become blanks. Notes what it changed.
[[nodiscard]] std::string decoded_text(std::string bytes, ImportNotes& notes);

/// First bytes of a file, unpacked (of an archive its first file): for recognising what it is.
[[nodiscard]] Result<std::string> read_head(const std::string& path, std::size_t bytes);

}  // namespace shardscope::storage
