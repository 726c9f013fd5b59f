#include "storage/import/trace_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "storage/unique.hpp"

namespace shardscope::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostUnpacked = std::uint64_t{64} << 30;
constexpr std::uint64_t kUnpackedAtEase = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostRatio = 300;

using GzFile = Unique<gzFile, ::gzclose, nullptr>;

/// A file, unpacked where it is gzip (zlib reads others as they are).
class UnpackedFile : public ByteStream {
 public:
  UnpackedFile(GzFile file, std::string path, std::uint64_t packed_bytes)
      : file_(std::move(file)), path_(std::move(path)), packed_bytes_(packed_bytes) {}

  Result<std::size_t> read(char* out, std::size_t bytes) override {
    const int count =
        ::gzread(file_.get(), out, static_cast<unsigned>(std::min<std::size_t>(bytes, 1 << 24)));
    if (count < 0) {
      // What came before the damage is kept; the reader sees an early end.
      damaged_ = true;
      return std::size_t{0};
    }
    unpacked_ += static_cast<std::uint64_t>(count);
    const bool swollen = unpacked_ > kUnpackedAtEase && unpacked_ > packed_bytes_ * kMostRatio;
    if (swollen || unpacked_ > kMostUnpacked) {
      return fail({ErrorKind::usage,
                   fmt::format("{} bytes unpack to more than {}", packed_bytes_, unpacked_), path_,
                   "a trace", "Is this the file you meant?"});
    }
    return static_cast<std::size_t>(count);
  }

  [[nodiscard]] std::uint64_t packed_done() const {
    const auto offset = ::gzoffset(file_.get());
    return offset > 0 ? static_cast<std::uint64_t>(offset) : 0;
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  GzFile file_;
  std::string path_;
  std::uint64_t packed_bytes_;
  std::uint64_t unpacked_ = 0;
  bool damaged_ = false;
};

/// Asks the caller before every piece.
class Watched : public ByteStream {
 public:
  Watched(ByteStream& from, std::function<bool()> go_on, std::string place)
      : from_(from), go_on_(std::move(go_on)), place_(std::move(place)) {}

  Result<std::size_t> read(char* out, std::size_t bytes) override {
    if (go_on_ && !go_on_()) {
      return fail({ErrorKind::runtime, "the import was cancelled", place_, "", ""});
    }
    return from_.read(out, bytes);
  }

 private:
  ByteStream& from_;
  std::function<bool()> go_on_;
  std::string place_;
};

/// Bytes that were read to look at them, then the rest.
class Prefixed : public ByteStream {
 public:
  Prefixed(std::string head, ByteStream& rest) : head_(std::move(head)), rest_(rest) {}

  Result<std::size_t> read(char* out, std::size_t bytes) override {
    if (at_ == head_.size()) return rest_.read(out, bytes);
    const std::size_t count = std::min(bytes, head_.size() - at_);
    std::memcpy(out, head_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string head_;
  std::size_t at_ = 0;
  ByteStream& rest_;
};

/// The next `size` bytes of another stream.
class Member : public ByteStream {
 public:
  Member(ByteStream& from, std::uint64_t size) : from_(from), left_(size) {}

  Result<std::size_t> read(char* out, std::size_t bytes) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    if (wanted == 0) return std::size_t{0};
    auto count = from_.read(out, wanted);
    if (count) left_ -= *count;
    return count;
  }

  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  ByteStream& from_;
  std::uint64_t left_;
};

constexpr std::size_t kTarBlock = 512;
using TarBlock = std::array<char, kTarBlock>;

Result<bool> read_block(ByteStream& from, TarBlock& block) {
  std::size_t have = 0;
  while (have < kTarBlock) {
    const auto count = from.read(block.data() + have, kTarBlock - have);
    if (!count) return fail(count.error());
    if (*count == 0) return false;
    have += *count;
  }
  return true;
}

Status drop(ByteStream& from, std::uint64_t bytes) {
  std::array<char, 65536> piece{};
  while (bytes > 0) {
    const auto count = from.read(
        piece.data(), static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece.size())));
    if (!count) return fail(count.error());
    if (*count == 0) return {};
    bytes -= *count;
  }
  return {};
}

/// Octal digits of a header's size field; the end of the archive for anything else.
std::uint64_t tar_size(const TarBlock& block) {
  std::uint64_t size = 0;
  for (std::size_t i = 124; i < 136 && block[i] >= '0' && block[i] <= '7'; ++i) {
    size = size * 8 + static_cast<std::uint64_t>(block[i] - '0');
  }
  return size;
}

std::string tar_name(const TarBlock& block) {
  return std::string(block.data(), ::strnlen(block.data(), 100));
}

bool is_trace_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string base = slash == std::string::npos ? name : name.substr(slash + 1);
  if (base.starts_with("._") || base.starts_with(".")) return false;
  return base.ends_with(".json") || base.ends_with(".json.gz") || base.ends_with(".gz") ||
         base.ends_with(".tar") || base.ends_with(".tgz");
}

Status visit_tar(ByteStream& from, TarBlock block, const std::string& archive, ImportNotes& notes,
                 const TraceVisit& visit) {
  constexpr int kMostMembers = 65536;
  for (int i = 0; i < kMostMembers && block[0] != '\0'; ++i) {
    const std::string name = tar_name(block);
    const std::uint64_t size = tar_size(block);
    const bool regular = block[156] == '0' || block[156] == '\0';
    Member member(from, size);
    if (regular && name.ends_with(".json") && is_trace_name(name)) {
      if (Status done = visit({archive + ":" + name, &member}); !done) return done;
    } else if (regular && size > 0) {
      notes.skip();
    }
    const std::uint64_t padding = (kTarBlock - size % kTarBlock) % kTarBlock;
    if (Status done = drop(from, member.left() + padding); !done) return done;
    const auto more = read_block(from, block);
    if (!more) return fail(more.error());
    if (!*more) return {};
  }
  return {};
}

struct TracePath {
  std::string path;
  std::uint64_t bytes = 0;
};

Result<std::vector<TracePath>> expanded(const std::vector<std::string>& paths) {
  std::vector<TracePath> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      return fail({ErrorKind::usage, "there is no such file", path, "", "Check the path"});
    }
    if (!fs::is_directory(path, error)) {
      files.push_back({path, fs::file_size(path, error)});
      continue;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (it->is_regular_file(error) && is_trace_name(it->path().string())) {
        names.push_back(it->path().string());
      }
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) files.push_back({name, fs::file_size(name, error)});
  }
  if (!files.empty()) return files;
  return fail({ErrorKind::usage, "there are no traces", paths.empty() ? "" : paths.front(),
               "*.json, *.json.gz or *.tar.gz", ""});
}

Status visit_file(const TracePath& file, ImportNotes& notes,
                  const std::function<bool(std::uint64_t)>& go_on, const TraceVisit& visit) {
  GzFile handle(::gzopen(file.path.c_str(), "rb"));
  if (!handle) {
    return fail({ErrorKind::usage, "it cannot be read", file.path, "", "Check its permissions"});
  }
  ::gzbuffer(handle.get(), 1 << 18);
  UnpackedFile unpacked(std::move(handle), file.path, file.bytes);
  Watched watched(
      unpacked, [&] { return go_on(unpacked.packed_done()); }, file.path);
  TarBlock head{};
  std::size_t have = 0;
  while (have < kTarBlock) {
    const auto count = watched.read(head.data() + have, kTarBlock - have);
    if (!count) return fail(count.error());
    if (*count == 0) break;
    have += *count;
  }
  Status done;
  if (have == kTarBlock && std::string_view(head.data() + 257, 5) == "ustar") {
    done = visit_tar(watched, head, file.path, notes, visit);
  } else {
    Prefixed whole(std::string(head.data(), have), watched);
    done = visit({file.path, &whole});
  }
  if (unpacked.damaged()) {
    notes.warn_at(file.path, "its gzip data is damaged; what came before is kept", "a whole file");
  }
  return done;
}

}  // namespace

Status for_each_trace(const std::vector<std::string>& paths, ImportNotes& notes,
                      const std::function<bool(double)>& progress, const TraceVisit& visit) {
  const auto files = expanded(paths);
  if (!files) return fail(files.error());
  std::uint64_t all = 1;
  for (const TracePath& file : *files) all += file.bytes;
  std::uint64_t before = 0;
  for (const TracePath& file : *files) {
    const auto go_on = [&](std::uint64_t done) {
      return !progress || progress(static_cast<double>(before + done) / static_cast<double>(all));
    };
    if (Status done = visit_file(file, notes, go_on, visit); !done) return done;
    before += file.bytes;
  }
  return {};
}

}  // namespace shardscope::storage
