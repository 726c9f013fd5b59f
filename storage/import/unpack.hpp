#pragma once
// Bytes of input files as streams: plain, compressed (gzip, zstd, xz, bzip2), and the files in tar
// and zip archives.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "layout/result.hpp"
#include "storage/file_descriptor.hpp"

namespace shardscope::storage {

/// Bytes one after another.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills up to `bytes` of `out`; 0 at the end. Errors: damaged data, or more than the bounds.
  [[nodiscard]] virtual Result<std::size_t> read(char* out, std::size_t bytes) = 0;
};

/// Bytes that a file may unpack to, whatever lies in what: 64 GiB, and 300 times its size beyond
/// the first 64 MiB.
class UnpackBudget {
 public:
  UnpackBudget(std::string path, std::uint64_t packed_bytes)
      : path_(std::move(path)), packed_bytes_(packed_bytes) {}

  /// Error once more was unpacked in all.
  [[nodiscard]] Status spend(std::uint64_t bytes);

 private:
  std::string path_;
  std::uint64_t packed_bytes_;
  std::uint64_t unpacked_ = 0;
};

/// A stream taken apart. Compressed and plain data are one file without a name; archives give
/// their regular files in order. Data that breaks off or is damaged ends early: see damaged().
class Unpacker : public ByteStream {
 public:
  /// Both outlive this.
  Unpacker(ByteStream& packed, UnpackBudget& budget);
  ~Unpacker() override;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Goes on to the next file; false after the last. Errors: those of `packed`, the budget.
  [[nodiscard]] Result<bool> next();
  /// Its path in the archive; empty where there is no archive.
  [[nodiscard]] const std::string& name() const;
  /// Bytes of that file.
  [[nodiscard]] Result<std::size_t> read(char* out, std::size_t bytes) override;
  [[nodiscard]] bool damaged() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether the last part of a path begins with a dot, as what macOS puts beside files does ("._x").
[[nodiscard]] bool is_hidden(const std::string& path);

/// A file on disk as it lies there.
class FileBytes : public ByteStream {
 public:
  /// `go_on` gets the bytes read so far before each piece; false cancels. May be empty.
  /// Errors: absent, a directory, not readable.
  [[nodiscard]] static Result<std::unique_ptr<FileBytes>> open(
      const std::string& path, std::function<bool(std::uint64_t)> go_on = {});

  [[nodiscard]] Result<std::size_t> read(char* out, std::size_t bytes) override;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  FileBytes() = default;

  FileDescriptor file_;
  std::string path_;
  std::function<bool(std::uint64_t)> go_on_;
  std::uint64_t size_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace shardscope::storage
