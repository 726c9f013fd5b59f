#include "engine/batches/recorded/line_reader.hpp"

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string LineReader::place() const {
  return fmt::format("{}:{}", place_, number_);
}

bool LineReader::refill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kBlockBytes);
  in_.read(buffer_.data() + old, kBlockBytes);
  const auto got = static_cast<std::size_t>(std::max<std::streamsize>(in_.gcount(), 0));
  buffer_.resize(old + got);
  return got > 0;
}

Result<std::optional<std::string_view>> LineReader::raw() {
  std::size_t searched = at_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos) {
    if (buffer_.size() - at_ > kLongestLine) {
      return fail({ErrorKind::usage,
                   fmt::format("a line is longer than {} MiB", kLongestLine >> 20),
                   fmt::format("{}:{}", place_, number_ + 1), "a text file with one sample a line",
                   "Check that this is the stream's file"});
    }
    const std::size_t unsearched = buffer_.size() - at_;
    if (!refill()) break;
    end = buffer_.find('\n', unsearched);
  }
  if (in_.bad()) {
    return fail({ErrorKind::runtime, "the file cannot be read further", place_, "",
                 "Check the disk, then try again"});
  }
  if (end == std::string::npos) {
    if (at_ == buffer_.size()) return std::optional<std::string_view>{};
    end = buffer_.size();
  }
  std::string_view line(buffer_.data() + at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  ++number_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return std::optional{line};
}

Result<std::optional<std::string_view>> LineReader::next() {
  auto line = raw();
  if (!line || !*line || !(*line)->empty()) return line;
  const std::int64_t blank = number_;
  do {
    line = raw();
  } while (line && *line && (*line)->empty());
  if (!line || !*line) return line;
  return fail({ErrorKind::usage, "the line is blank", fmt::format("{}:{}", place_, blank),
               "one sample a line", "Remove the line"});
}

}  // namespace shardscope::engine
