#include "storage/import/kineto/event_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace shardscope::storage {
namespace {

constexpr std::size_t kWindow = std::size_t{8} << 20;
constexpr std::size_t kLargestField = std::size_t{1} << 20;
constexpr std::int64_t kDeepest = 64;

class Splitter {
 public:
  Splitter(ByteStream& bytes, const std::string& place, const SplitVisitor& visitor)
      : bytes_(bytes), place_(place), visitor_(visitor), window_(kWindow + kEventPadding) {}

  Result<SplitCounts> run() {
    while (true) {
      if (Status filled = fill(); !filled) return fail(filled.error());
      if (end_ == at_ && ended_) break;
      if (!scan()) return fail(*error_);
      if (ended_ && at_ == end_) break;
    }
    if (state_ == State::before) return fail(no_trace("the file is empty"));
    counts_.truncated = state_ != State::done;
    return counts_;
  }

 private:
  enum class State { before, root_object, root_array, events, value, done };

  Error no_trace(const char* what) const {
    return {ErrorKind::usage, what, place_,
            "JSON with traceEvents, as PyTorch's profiler writes it", ""};
  }

  /// Moves what is kept to the front and reads on.
  Status fill() {
    const std::size_t keep = start_ != kNone ? start_ : at_;
    std::memmove(window_.data(), window_.data() + keep, end_ - keep);
    at_ -= keep;
    end_ -= keep;
    if (start_ != kNone) start_ = 0;
    if (end_ >= kWindow) {
      // One value fills the window: it is passed over, and only its brackets are followed.
      dropping_ = true;
      start_ = kNone;
      at_ = end_ = 0;
    }
    while (end_ < kWindow && !ended_) {
      const auto count = bytes_.read(window_.data() + end_, kWindow - end_);
      if (!count) return fail(count.error());
      if (*count == 0) ended_ = true;
      end_ += *count;
    }
    std::memset(window_.data() + end_, 0, kEventPadding);
    return {};
  }

  bool scan() {
    for (; at_ < end_; ++at_) {
      const char letter = window_[at_];
      if (letter == '\n') ++counts_.lines;
      if (in_string_) {
        in_text(letter);
        continue;
      }
      switch (letter) {
        case '"':
          in_string_ = true;
          if (state_ == State::root_object && depth_ == 1 && !after_colon_) begin_name();
          break;
        case '{':
        case '[':
          if (!open(letter)) return false;
          break;
        case '}':
        case ']':
          close();
          break;
        case ':':
          if (state_ == State::root_object && depth_ == 1) after_colon_ = true;
          break;
        case ',':
          if (state_ == State::root_object && depth_ == 1) end_scalar();
          break;
        case ' ':
        case '\t':
        case '\r':
        case '\n':
          break;
        default:
          if (state_ == State::before && !byte_order_mark()) {
            error_ = no_trace(encoded() ? "the text is not UTF-8" : "the text is no JSON");
            return false;
          }
          if (state_ == State::root_object && depth_ == 1 && after_colon_ && start_ == kNone) {
            start_ = at_;
          }
      }
    }
    return true;
  }

  /// Inside strings only quotes, backslashes and line ends matter.
  void in_text(char letter) {
    if (escaped_) {
      escaped_ = false;
    } else if (letter == '\\') {
      escaped_ = true;
    } else if (letter == '"') {
      in_string_ = false;
      if (in_name_) end_name();
    }
  }

  bool byte_order_mark() {
    const auto byte = static_cast<unsigned char>(window_[at_]);
    return at_ < 3 && (byte == 0xef || byte == 0xbb || byte == 0xbf);
  }
  [[nodiscard]] bool encoded() const {
    const auto byte = static_cast<unsigned char>(window_[0]);
    return byte == 0xff || byte == 0xfe || window_[1] == '\0';
  }

  void begin_name() {
    in_name_ = true;
    name_start_ = at_ + 1;
    start_ = at_;
  }
  void end_name() {
    in_name_ = false;
    name_ = dropping_ ? std::string()
                      : std::string(window_.data() + name_start_,
                                    std::min<std::size_t>(at_ - name_start_, 256));
    start_ = kNone;
  }

  bool open(char letter) {
    if (++depth_ > kDeepest) too_deep_ = true;
    switch (state_) {
      case State::before:
        state_ = letter == '{' ? State::root_object : State::events;
        bare_array_ = letter == '[';
        return true;
      case State::root_object:
        if (depth_ == 2 && letter == '[' && name_ == "traceEvents") {
          state_ = State::events;
          after_colon_ = false;
        } else if (depth_ == 2) {
          begin_value();
        }
        return true;
      case State::events:
        if (depth_ == event_depth() && letter == '{') begin_value();
        return true;
      default:
        return true;
    }
  }

  [[nodiscard]] std::int64_t event_depth() const { return bare_array_ ? 2 : 3; }

  void begin_value() {
    start_ = at_;
    dropping_ = false;
    too_deep_ = false;
    line_ = counts_.lines + 1;
  }

  void close() {
    --depth_;
    if (state_ == State::events) {
      if (depth_ == event_depth() - 1) {
        end_event();
      } else if (depth_ < event_depth() - 1) {
        state_ = depth_ == 0 ? State::done : State::root_object;
      }
    } else if (state_ == State::root_object && depth_ == 1) {
      end_field(at_ + 1);
    } else if (state_ == State::root_object && depth_ == 0) {
      depth_ = 1;
      end_scalar();
      depth_ = 0;
      state_ = State::done;
    }
  }

  void end_event() {
    if (start_ == kNone || dropping_ || at_ - start_ > kLargestEvent || too_deep_) {
      counts_.oversized += start_ != kNone || dropping_ ? 1 : 0;
    } else {
      ++counts_.events;
      visitor_.event({window_.data() + start_, at_ + 1 - start_}, line_);
    }
    start_ = kNone;
    dropping_ = false;
    too_deep_ = false;
  }

  void end_field(std::size_t end) {
    if (start_ != kNone && !dropping_ && !too_deep_ && end - start_ <= kLargestField &&
        visitor_.field) {
      visitor_.field(name_, {window_.data() + start_, end - start_});
    }
    start_ = kNone;
    dropping_ = false;
    after_colon_ = false;
    name_.clear();
  }

  /// A number, literal or string as a root field's value.
  void end_scalar() {
    if (after_colon_ && start_ != kNone) end_field(at_);
    start_ = kNone;
    after_colon_ = false;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  ByteStream& bytes_;
  std::string place_;
  const SplitVisitor& visitor_;
  std::vector<char> window_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t start_ = kNone;  ///< of what must stay in the window
  std::size_t name_start_ = 0;
  std::string name_;
  std::int64_t line_ = 1;
  std::int64_t depth_ = 0;
  State state_ = State::before;
  bool bare_array_ = false;
  bool ended_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_name_ = false;
  bool after_colon_ = false;
  bool dropping_ = false;
  bool too_deep_ = false;
  std::optional<Error> error_;
  SplitCounts counts_;
};

}  // namespace

Result<SplitCounts> split_events(ByteStream& bytes, const std::string& place,
                                 const SplitVisitor& visitor) {
  return Splitter(bytes, place, visitor).run();
}

}  // namespace shardscope::storage
