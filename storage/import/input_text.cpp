#include "storage/import/input_text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace shardscope::storage {
namespace {

tl::unexpected<Error> file_trouble(const std::string& path, std::string what, std::string cure) {
  return fail({ErrorKind::usage, std::move(what), path, "", std::move(cure)});
}

Status check_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return file_trouble(path, "there is no such file", "Check the path");
  }
  if (std::filesystem::is_directory(status)) {
    return file_trouble(path, "this is a directory", "Name a file in it");
  }
  return {};
}

/// Ends an inflate stream however the scope is left.
struct Inflating {
  z_stream stream{};
  bool ready = false;
  Inflating() { ready = ::inflateInit2(&stream, 15 + 32) == Z_OK; }
  ~Inflating() {
    if (ready) ::inflateEnd(&stream);
  }
  Inflating(const Inflating&) = delete;
  Inflating& operator=(const Inflating&) = delete;
};

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

std::string from_utf16(std::string_view bytes, bool little) {
  std::string out;
  out.reserve(bytes.size() / 2);
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<unsigned char>(bytes[at]);
    const auto b = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(little ? a | (b << 8) : b | (a << 8));
  };
  for (std::size_t at = 2; at + 1 < bytes.size(); at += 2) {
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

bool is_gzip(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b';
}

Result<std::string> gunzip(std::string_view packed, std::size_t most, const std::string& place) {
  Inflating inflating;
  z_stream& stream = inflating.stream;
  // zlib reads through a pointer to non-const and does not write.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size(), 0xffffffffU));
  std::string out;
  std::array<char, 65536> piece{};
  int state = inflating.ready ? Z_OK : Z_MEM_ERROR;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > most) {
      return file_trouble(place, fmt::format("it unpacks to more than {} bytes", most),
                          "Is this the file you meant?");
    }
    // Several members may follow each other.
    if (state == Z_STREAM_END && stream.avail_in > 0 &&
        is_gzip({reinterpret_cast<const char*>(stream.next_in), stream.avail_in})) {
      state = ::inflateReset(&stream);
    }
  }
  if (state != Z_STREAM_END && out.empty()) {
    return file_trouble(place, "its gzip data is damaged", "Copy the file again");
  }
  return out;
}

std::string decoded_text(std::string bytes, ImportNotes& notes) {
  const bool little = bytes.starts_with("\xff\xfe");
  if (little || bytes.starts_with("\xfe\xff")) {
    notes.warn(0, "the text is UTF-16 and was turned into UTF-8", "UTF-8");
    bytes = from_utf16(bytes, little);
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
  if (Status sound = check_file(path); !sound) return fail(sound.error());
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::array<char, 65536> piece{};
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kLargestInputText) {
      return file_trouble(path, fmt::format("more than {} bytes are too many", kLargestInputText),
                          "Is this the file you meant?");
    }
  }
  if (!file.eof()) return file_trouble(path, "it cannot be read", "Check its permissions");
  if (is_gzip(bytes)) {
    auto text = gunzip(bytes, kLargestInputText, path);
    if (!text) return text;
    bytes = std::move(*text);
  }
  return decoded_text(std::move(bytes), notes);
}

Result<std::string> read_head(const std::string& path, std::size_t bytes) {
  if (Status sound = check_file(path); !sound) return fail(sound.error());
  const gzFile file = ::gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) return file_trouble(path, "it cannot be read", "Check its permissions");
  std::string head(bytes, '\0');
  const int count = ::gzread(file, head.data(), static_cast<unsigned>(bytes));
  ::gzclose(file);
  head.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return head;
}

}  // namespace shardscope::storage
