#include "storage/import/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "storage/import/gunzip.hpp"
#include "storage/unique.hpp"

namespace shardscope::storage {
namespace {

constexpr std::uint64_t kMostUnpacked = std::uint64_t{64} << 30;
constexpr std::uint64_t kUnpackedAtEase = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostRatio = 300;

using Archive = Unique<archive*, ::archive_read_free, nullptr>;

}  // namespace

Status UnpackBudget::spend(std::uint64_t bytes) {
  unpacked_ += bytes;
  const bool swollen = unpacked_ > kUnpackedAtEase && unpacked_ / kMostRatio > packed_bytes_;
  if (!swollen && unpacked_ <= kMostUnpacked) return {};
  return fail({ErrorKind::usage,
               fmt::format("{} bytes unpack to more than {}", packed_bytes_, unpacked_), path_,
               "a trace or a report", "Is this the file you meant?"});
}

struct Unpacker::State {
  Gunzip packed;  ///< libarchive's own filter gives nothing of a piece that breaks off
  UnpackBudget& budget;
  Archive reader;
  std::array<char, 1 << 16> piece;
  std::optional<Error> trouble;  ///< what `packed` said; libarchive knows only that it failed
  std::string name;
  bool damaged = false;
  bool over = false;

  State(ByteStream& from, UnpackBudget& spent)
      : packed(from), budget(spent), reader(::archive_read_new()) {}

  static la_ssize_t fill(archive* reader, void* self, const void** bytes) {
    State& state = *static_cast<State*>(self);
    const auto count = state.packed.read(state.piece.data(), state.piece.size());
    *bytes = state.piece.data();
    if (count) return static_cast<la_ssize_t>(*count);
    state.trouble = count.error();
    ::archive_set_error(reader, EIO, "%s", count.error().what.c_str());
    return -1;
  }

  /// Notes how libarchive's answer ends the stream.
  Status stop() {
    over = true;
    if (trouble) return fail(*trouble);
    damaged = true;
    return {};
  }
};

Unpacker::Unpacker(ByteStream& packed, UnpackBudget& budget)
    : state_(std::make_unique<State>(packed, budget)) {
  // No filter that would run a program, and formats that people pack traces in only.
  archive* reader = state_->reader.get();
  ::archive_read_support_filter_zstd(reader);
  ::archive_read_support_filter_xz(reader);
  ::archive_read_support_filter_bzip2(reader);
  ::archive_read_support_format_tar(reader);
  ::archive_read_support_format_zip_streamable(reader);
  ::archive_read_support_format_empty(reader);
  ::archive_read_support_format_raw(reader);
  state_->over =
      ::archive_read_open(reader, state_.get(), nullptr, State::fill, nullptr) != ARCHIVE_OK;
}

Unpacker::~Unpacker() = default;

Result<bool> Unpacker::next() {
  State& state = *state_;
  while (!state.over) {
    archive_entry* entry = nullptr;
    const int answer = ::archive_read_next_header(state.reader.get(), &entry);
    if (answer == ARCHIVE_EOF) {
      state.over = true;
      break;
    }
    if (answer < ARCHIVE_WARN) {
      if (Status stopped = state.stop(); !stopped) return fail(stopped.error());
      break;
    }
    if (::archive_format(state.reader.get()) == ARCHIVE_FORMAT_RAW) {
      state.name.clear();
      return true;
    }
    if (::archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = ::archive_entry_pathname(entry);
    state.name = name != nullptr ? name : "?";
    return true;
  }
  if (state.trouble) return fail(*state.trouble);
  return false;
}

const std::string& Unpacker::name() const {
  return state_->name;
}

Result<std::size_t> Unpacker::read(char* out, std::size_t bytes) {
  State& state = *state_;
  if (state.over) return std::size_t{0};
  const la_ssize_t count = ::archive_read_data(state.reader.get(), out, bytes);
  if (count < 0) {
    if (Status stopped = state.stop(); !stopped) return fail(stopped.error());
    return std::size_t{0};
  }
  const auto read = static_cast<std::size_t>(count);
  if (Status spent = state.budget.spend(read); !spent) return fail(spent.error());
  return read;
}

bool Unpacker::damaged() const {
  return state_->damaged || state_->packed.damaged();
}

bool is_hidden(const std::string& path) {
  return path.substr(path.rfind('/') + 1).starts_with('.');
}

Result<std::unique_ptr<FileBytes>> FileBytes::open(const std::string& path,
                                                   std::function<bool(std::uint64_t)> go_on) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return fail({ErrorKind::usage, "there is no such file", path, "", "Check the path"});
  }
  if (S_ISDIR(facts.st_mode)) {
    return fail({ErrorKind::usage, "this is a directory", path, "", "Name a file in it"});
  }
  std::unique_ptr<FileBytes> file(new FileBytes);
  file->file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file->file_) {
    return fail({ErrorKind::usage, "it cannot be read", path, "", "Check its permissions"});
  }
  file->path_ = path;
  file->go_on_ = std::move(go_on);
  file->size_ = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  return file;
}

Result<std::size_t> FileBytes::read(char* out, std::size_t bytes) {
  if (go_on_ && !go_on_(done_)) {
    return fail({ErrorKind::runtime, "the import was cancelled", path_, "", ""});
  }
  ssize_t count = 0;
  do {
    count = ::read(file_.get(), out, bytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    return fail({ErrorKind::runtime, "it cannot be read", path_, "", "Check the disk"});
  }
  done_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

}  // namespace shardscope::storage
