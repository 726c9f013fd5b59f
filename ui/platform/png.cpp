#include "ui/platform/png.hpp"

#include <zlib.h>
#include <algorithm>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace shardscope::ui {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kChannels = 3;
constexpr std::int64_t kMostPixels = 1 << 28;

void put_u32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

std::uint32_t get_u32(const std::uint8_t* in) {
  return (std::uint32_t{in[0]} << 24) | (std::uint32_t{in[1]} << 16) | (std::uint32_t{in[2]} << 8) |
         in[3];
}

void put_chunk(std::vector<std::uint8_t>& out, const char* type,
               const std::vector<std::uint8_t>& data) {
  put_u32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, static_cast<std::uint32_t>(
                   crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

std::uint8_t paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int by_left = std::abs(guess - left), by_up = std::abs(guess - up),
            by_corner = std::abs(guess - corner);
  if (by_left <= by_up && by_left <= by_corner) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(by_up <= by_corner ? up : corner);
}

/// Undoes one row's filter in place; `above` is the finished row before.
bool unfilter(std::uint8_t filter, std::uint8_t* row, const std::uint8_t* above, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const int left = i >= kChannels ? row[i - kChannels] : 0;
    const int up = above != nullptr ? above[i] : 0;
    const int corner = above != nullptr && i >= kChannels ? above[i - kChannels] : 0;
    switch (filter) {
      case 0:
        return true;
      case 1:
        row[i] = static_cast<std::uint8_t>(row[i] + left);
        break;
      case 2:
        row[i] = static_cast<std::uint8_t>(row[i] + up);
        break;
      case 3:
        row[i] = static_cast<std::uint8_t>(row[i] + (left + up) / 2);
        break;
      case 4:
        row[i] = static_cast<std::uint8_t>(row[i] + paeth(left, up, corner));
        break;
      default:
        return false;
    }
  }
  return true;
}

tl::unexpected<Error> not_a_picture(const std::string& path) {
  return fail({ErrorKind::usage, "this is no picture that Shardscope wrote", path,
               "PNG, 8-bit RGB, not interlaced", ""});
}

}  // namespace

void turn_upside_down(Picture& picture) {
  const auto stride = static_cast<std::size_t>(picture.width) * 3;
  for (int y = 0; y < picture.height / 2; ++y) {
    std::uint8_t* top = picture.rgb.data() + static_cast<std::size_t>(y) * stride;
    std::uint8_t* bottom =
        picture.rgb.data() + static_cast<std::size_t>(picture.height - 1 - y) * stride;
    std::swap_ranges(top, top + stride, bottom);
  }
}

std::vector<std::uint8_t> png_bytes(const Picture& picture) {
  const std::size_t stride = static_cast<std::size_t>(picture.width) * kChannels;
  // The filter "up": flat surfaces become zeros.
  std::vector<std::uint8_t> raw;
  raw.reserve((stride + 1) * static_cast<std::size_t>(picture.height));
  for (int y = 0; y < picture.height; ++y) {
    const std::uint8_t* row = picture.rgb.data() + static_cast<std::size_t>(y) * stride;
    raw.push_back(2);
    for (std::size_t i = 0; i < stride; ++i) {
      raw.push_back(static_cast<std::uint8_t>(row[i] - (y > 0 ? row[i - stride] : 0)));
    }
  }
  uLongf size = compressBound(raw.size());
  std::vector<std::uint8_t> packed(size);
  compress2(packed.data(), &size, raw.data(), raw.size(), Z_BEST_COMPRESSION);
  packed.resize(size);

  std::vector<std::uint8_t> out(kSignature.begin(), kSignature.end());
  std::vector<std::uint8_t> header;
  put_u32(header, static_cast<std::uint32_t>(picture.width));
  put_u32(header, static_cast<std::uint32_t>(picture.height));
  header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits, RGB, deflate, filters, not interlaced
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", {});
  return out;
}

Status write_png(const std::string& path, const Picture& picture) {
  const std::vector<std::uint8_t> bytes = png_bytes(picture);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) return {};
  return fail({ErrorKind::runtime, "the picture cannot be written", path, "",
               "Choose a folder that exists and that you may write"});
}

Result<Picture> read_png(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (text.size() < kSignature.size() ||
      std::memcmp(bytes, kSignature.data(), kSignature.size()) != 0) {
    return not_a_picture(path);
  }
  Picture picture;
  std::vector<std::uint8_t> packed;
  for (std::size_t at = kSignature.size(); at + 12 <= text.size();) {
    const std::size_t size = get_u32(bytes + at);
    if (size > text.size() - at - 12) return not_a_picture(path);
    const std::uint8_t* data = bytes + at + 8;
    if (std::memcmp(bytes + at + 4, "IHDR", 4) == 0 && size == 13) {
      if (data[8] != 8 || data[9] != 2 || data[12] != 0) return not_a_picture(path);
      picture.width = static_cast<int>(get_u32(data));
      picture.height = static_cast<int>(get_u32(data + 4));
    } else if (std::memcmp(bytes + at + 4, "IDAT", 4) == 0) {
      packed.insert(packed.end(), data, data + size);
    }
    at += size + 12;
  }
  if (picture.width <= 0 || picture.height <= 0 ||
      std::int64_t{picture.width} * picture.height > kMostPixels) {
    return not_a_picture(path);
  }
  const std::size_t stride = static_cast<std::size_t>(picture.width) * kChannels;
  const auto rows = static_cast<std::size_t>(picture.height);
  std::vector<std::uint8_t> raw((stride + 1) * rows);
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, packed.data(), packed.size()) != Z_OK || size != raw.size()) {
    return not_a_picture(path);
  }
  picture.rgb.resize(stride * rows);
  for (std::size_t y = 0; y < rows; ++y) {
    std::uint8_t* row = picture.rgb.data() + y * stride;
    std::memcpy(row, raw.data() + y * (stride + 1) + 1, stride);
    if (!unfilter(raw[y * (stride + 1)], row, y > 0 ? row - stride : nullptr, stride)) {
      return not_a_picture(path);
    }
  }
  return picture;
}

}  // namespace shardscope::ui
