#include "storage/import/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace shardscope::storage {
namespace {

constexpr int kGzipWindow = 15 + 16;  ///< zlib: the largest window, a gzip header

}  // namespace

struct Gunzip::State {
  enum class Mode { unknown, plain, gzip, over };

  ByteStream& packed;
  Mode mode = Mode::unknown;
  std::array<char, 1 << 16> piece;
  std::size_t begin = 0, end = 0;  ///< of what is read and not used yet
  z_stream inflater{};
  bool started = false;
  bool member_over = false;  ///< another member may follow
  bool damaged = false;

  explicit State(ByteStream& from) : packed(from) {}
  ~State() {
    if (started) ::inflateEnd(&inflater);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// False at the end of `packed`.
  Result<bool> refill() {
    if (begin > 0) std::memmove(piece.data(), piece.data() + begin, end - begin);
    end -= begin;
    begin = 0;
    const auto count = packed.read(piece.data() + end, piece.size() - end);
    if (!count) return fail(count.error());
    end += *count;
    return *count > 0;
  }

  /// Two bytes tell whether it is gzip.
  Status find_mode() {
    while (end < 2) {
      const auto more = refill();
      if (!more) return fail(more.error());
      if (!*more) break;
    }
    const bool gzip = end >= 2 && static_cast<unsigned char>(piece[0]) == 0x1f &&
                      static_cast<unsigned char>(piece[1]) == 0x8b;
    mode = gzip ? Mode::gzip : Mode::plain;
    if (!gzip) return {};
    started = ::inflateInit2(&inflater, kGzipWindow) == Z_OK;
    if (!started) mode = Mode::over;
    damaged = !started;
    return {};
  }

  Result<std::size_t> plain(char* out, std::size_t bytes) {
    if (begin == end) return packed.read(out, bytes);
    const std::size_t count = std::min(bytes, end - begin);
    std::memcpy(out, piece.data() + begin, count);
    begin += count;
    return count;
  }

  void stop(bool as_damaged) {
    mode = Mode::over;
    damaged = as_damaged;
  }

  /// Bytes after a member that are no further one are padding.
  void next_member() {
    const bool another = end - begin >= 2 && static_cast<unsigned char>(piece[begin]) == 0x1f &&
                         static_cast<unsigned char>(piece[begin + 1]) == 0x8b;
    if (!another || ::inflateReset(&inflater) != Z_OK) return stop(false);
    member_over = false;
  }

  Result<std::size_t> unpacked(char* out, std::size_t bytes) {
    const auto most = static_cast<uInt>(std::min<std::size_t>(bytes, 1U << 30));
    inflater.next_out = reinterpret_cast<Bytef*>(out);
    inflater.avail_out = most;
    while (mode == Mode::gzip && inflater.avail_out == most) {
      if (begin == end || (member_over && end - begin < 2)) {
        const auto more = refill();
        if (!more) return fail(more.error());
        if (!*more) {
          stop(!member_over);
          break;
        }
      }
      if (member_over) {
        if (end - begin >= 2) next_member();
        continue;
      }
      inflater.next_in = reinterpret_cast<Bytef*>(piece.data() + begin);
      inflater.avail_in = static_cast<uInt>(end - begin);
      const int answer = ::inflate(&inflater, Z_NO_FLUSH);
      begin = end - inflater.avail_in;
      if (answer == Z_STREAM_END) {
        member_over = true;
      } else if (answer != Z_OK && answer != Z_BUF_ERROR) {
        stop(true);
      }
    }
    return static_cast<std::size_t>(most - inflater.avail_out);
  }
};

Gunzip::Gunzip(ByteStream& packed) : state_(std::make_unique<State>(packed)) {}
Gunzip::~Gunzip() = default;

Result<std::size_t> Gunzip::read(char* out, std::size_t bytes) {
  State& state = *state_;
  if (bytes == 0) return std::size_t{0};
  if (state.mode == State::Mode::unknown) {
    if (Status found = state.find_mode(); !found) return fail(found.error());
  }
  if (state.mode == State::Mode::plain) return state.plain(out, bytes);
  if (state.mode == State::Mode::gzip) return state.unpacked(out, bytes);
  return std::size_t{0};
}

bool Gunzip::damaged() const {
  return state_->damaged;
}

}  // namespace shardscope::storage
