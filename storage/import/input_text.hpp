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

/// The file's text: gzip unpacked, UTF-16 and byte order marks turned into UTF-8. Errors: absent,
/// a directory, too large (also once unpacked).
[[nodiscard]] Result<std::string> read_input_text(const std::string& path, ImportNotes& notes);

/// UTF-16 (by its byte order mark) as UTF-8; a UTF-8 mark and terminals' colour sequences
/// removed; NUL bytes become blanks. Notes what it changed.
[[nodiscard]] std::string decoded_text(std::string bytes, ImportNotes& notes);

/// True where the bytes begin a gzip stream.
[[nodiscard]] bool is_gzip(std::string_view head);

/// Unpacks a gzip stream of at most `most` bytes once unpacked.
[[nodiscard]] Result<std::string> gunzip(std::string_view packed, std::size_t most,
                                         const std::string& place);

/// First bytes of a file, unpacked where it is gzip: for recognising what it is.
[[nodiscard]] Result<std::string> read_head(const std::string& path, std::size_t bytes);

}  // namespace shardscope::storage
