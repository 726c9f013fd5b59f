#include "storage/import/input_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "storage/import/unpack.hpp"

namespace shardscope::storage {
namespace {

tl::unexpected<Error> file_trouble(const std::string& path, std::string what, std::string cure) {
  return fail({ErrorKind::usage, std::move(what), path, "", std::move(cure)});
}

struct Unpacked {
  std::string bytes;
  bool damaged = false;
};

/// Up to `most` bytes of a file, or of the first file in an archive that is not hidden.
Result<Unpacked> unpacked_bytes(const std::string& path, std::size_t most) {
  const auto file = FileBytes::open(path);
  if (!file) return fail(file.error());
  UnpackBudget budget(path, (*file)->size());
  Unpacker unpacker(**file, budget);
  auto found = unpacker.next();
  while (found && *found && is_hidden(unpacker.name())) found = unpacker.next();
  if (!found) return fail(found.error());
  Unpacked out;
  constexpr std::size_t kPiece = 1 << 16;
  while (*found && out.bytes.size() < most) {
    const std::size_t before = out.bytes.size();
    out.bytes.resize(std::min(most, before + kPiece));
    const auto count = unpacker.read(out.bytes.data() + before, out.bytes.size() - before);
    if (!count) return fail(count.error());
    out.bytes.resize(before + *count);
    if (*count == 0) break;
  }
  out.damaged = unpacker.damaged();
  return out;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

struct Utf16 {
  bool little = true;
  std::size_t mark = 0;  ///< bytes of its byte order mark
};

/// By the byte order mark, else by every second byte of its beginning being 0.
std::optional<Utf16> utf16_of(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe")) return Utf16{true, 2};
  if (bytes.starts_with("\xfe\xff")) return Utf16{false, 2};
  constexpr std::size_t kLookedAt = 512;
  const std::size_t count = std::min(bytes.size(), kLookedAt) / 2;
  std::size_t even = 0, odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    even += bytes[2 * i] == '\0' ? 1 : 0;
    odd += bytes[2 * i + 1] == '\0' ? 1 : 0;
  }
  constexpr std::size_t kLeast = 8;
  const bool little = odd > even;
  const std::size_t zeros = little ? odd : even;
  const bool wide = count >= kLeast && zeros * 10 >= count * 9 && (little ? even : odd) == 0;
  return wide ? std::optional(Utf16{little, 0}) : std::nullopt;
}

std::string from_utf16(std::string_view bytes, bool little) {
  std::string out;
  out.reserve(bytes.size() / 2);
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<unsigned char>(bytes[at]);
    const auto b = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(little ? a | (b << 8) : b | (a << 8));
  };
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    if (code >= 0xd800 && code < 0xdc00 && at + 3 < bytes.size()) {
      const std::uint32_t low = unit(at + 2);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 2;
      }
    }
    append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  }
  return out;
}

/// Terminals' colour and cursor sequences: ESC [ parameters letter.
void remove_colours(std::string& text) {
  constexpr char kEscape = '\x1b';
  if (text.find(kEscape) == std::string::npos) return;
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != kEscape) {
      plain += text[at];
      continue;
    }
    if (at + 1 >= text.size() || text[at + 1] != '[') continue;
    constexpr std::size_t kLongest = 32;
    std::size_t end = at + 2;
    while (end < text.size() && end < at + kLongest && text[end] >= 0x20 && text[end] < 0x40) ++end;
    at = std::min(end, text.size() - 1);
  }
  text = std::move(plain);
}

}  // namespace

std::string decoded_text(std::string bytes, ImportNotes& notes) {
  if (const auto wide = utf16_of(bytes)) {
    notes.warn(0, "the text is UTF-16 and was turned into UTF-8", "UTF-8");
    bytes = from_utf16(std::string_view(bytes).substr(wide->mark), wide->little);
  } else if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.erase(0, 3);
  }
  remove_colours(bytes);
  if (bytes.find('\0') != std::string::npos) {
    notes.warn(0, "NUL bytes in the text are read as blanks", "text");
    std::replace(bytes.begin(), bytes.end(), '\0', ' ');
  }
  return bytes;
}

Result<std::string> read_input_text(const std::string& path, ImportNotes& notes) {
  auto bytes = unpacked_bytes(path, kLargestInputText + 1);
  if (!bytes) return fail(bytes.error());
  if (bytes->bytes.size() > kLargestInputText) {
    return file_trouble(path, fmt::format("more than {} bytes are too many", kLargestInputText),
                        "Is this the file you meant?");
  }
  if (bytes->damaged && bytes->bytes.empty()) {
    return file_trouble(path, "its packed data is damaged", "Copy the file again");
  }
  if (bytes->damaged) {
    notes.warn(0, "the packed data is damaged or breaks off; what came before is kept",
               "a whole file");
  }
  return decoded_text(std::move(bytes->bytes), notes);
}

Result<std::string> read_head(const std::string& path, std::size_t bytes) {
  auto head = unpacked_bytes(path, bytes);
  if (!head) return fail(head.error());
  return std::move(head->bytes);
}

}  // namespace shardscope::storage
