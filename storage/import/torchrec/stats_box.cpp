#include "storage/import/torchrec/stats_box.hpp"

#include <algorithm>
#include <utility>

namespace shardscope::storage {
namespace {

constexpr std::size_t kMostPieces = 32;

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char letter) { return static_cast<unsigned char>(letter) <= ' '; });
}

bool looks_like_frame(std::string_view line) {
  return line.find("####") != std::string_view::npos;
}

class BoxReader {
 public:
  explicit BoxReader(std::string_view text) : full_width_(full_width(text)) {
    std::int64_t number = 1;
    for_each_line(text, [&](std::string_view line) { add(line, number++); });
    flush();
  }

  [[nodiscard]] const std::vector<BoxLine>& lines() const { return lines_; }

 private:
  template <class Visit>
  static void for_each_line(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      visit(text.substr(at, end - at));
      at = end + 1;
    }
  }

  /// The width at which a terminal cut the rows; 0 where an editor wrapped them at blanks (columns
  /// are aligned, so its lines are alike too, but the longest is one of few) or nothing is wrapped.
  static std::size_t full_width(std::string_view text) {
    constexpr std::size_t kNarrowest = 40;
    std::size_t open = 0, longest = 0, as_long = 0;
    for_each_line(text, [&](std::string_view line) {
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      std::string_view end = line;
      while (!end.empty() && static_cast<unsigned char>(end.back()) <= ' ') end.remove_suffix(1);
      if (end.empty() || looks_like_frame(end) || end.back() == '#') return;
      if (opening(end) == std::string_view::npos) return;
      ++open;
      as_long = line.size() > longest ? 1 : as_long + (line.size() == longest ? 1 : 0);
      longest = std::max(longest, line.size());
    });
    return longest >= kNarrowest && as_long * 3 >= open ? longest : 0;
  }

  /// A line that begins with '#' (after a prefix) opens a row; it is complete when it ends with
  /// '#'. What follows an incomplete one up to its '#' was wrapped by a terminal.
  void add(std::string_view raw, std::int64_t number) {
    std::string_view line = raw;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    std::string_view end = line;
    while (!end.empty() && static_cast<unsigned char>(end.back()) <= ' ') end.remove_suffix(1);
    if (looks_like_frame(end)) return flush();
    // Columns are padded: a wrapped line may have a piece of nothing but blanks.
    if (end.empty()) return open_ && pieces_ < kMostPieces ? blank_piece() : flush();
    const std::size_t open = opening(end);
    const bool lone = open != std::string_view::npos && open + 1 == end.size();
    // A lone '#' closes the row before it, but opens one where padding follows it.
    const bool closed = end.back() == '#' && !(lone && !open_ && line.size() > end.size());
    if (open != std::string_view::npos && !(closed && lone && open_)) {
      flush();
      begin((closed ? end : line).substr(open + 1), number, closed, line.size());
    } else if (open_ && pieces_ < kMostPieces) {
      append(closed ? end.substr(0, end.size() - 1) : line, closed);
    } else {
      flush();
      lines_.push_back({std::string(end), number});
    }
  }

  /// "# " at the start or after a log's prefix.
  static std::size_t opening(std::string_view line) {
    const std::size_t at = line.find('#');
    if (at == std::string_view::npos || at > 120) return std::string_view::npos;
    if (at + 1 < line.size() && line[at + 1] != ' ' && line[at + 1] != '\t') {
      return std::string_view::npos;
    }
    return at;
  }

  void begin(std::string_view text, std::int64_t number, bool closed, std::size_t width) {
    if (closed && !text.empty()) text.remove_suffix(1);
    row_ = {std::string(text), number};
    open_ = true;
    pieces_ = 1;
    last_width_ = width;
    if (closed) flush();
  }

  /// A terminal cuts at its width, in the middle of words; an editor at blanks.
  void append(std::string_view text, bool closed) {
    if (full_width_ == 0 || last_width_ != full_width_) row_.text += ' ';
    row_.text += text;
    last_width_ = text.size();
    ++pieces_;
    if (closed) flush();
  }

  void blank_piece() {
    row_.text += ' ';
    last_width_ = 0;
    ++pieces_;
  }

  void flush() {
    if (open_ && !is_blank(row_.text)) lines_.push_back(std::move(row_));
    open_ = false;
    row_ = {};
  }

  std::vector<BoxLine> lines_;
  BoxLine row_;
  bool open_ = false;
  std::size_t pieces_ = 0;
  std::size_t last_width_ = 0;  ///< of the row's last piece
  std::size_t full_width_;
};

/// Loggers that write a message as one quoted line keep its line ends as "\\n".
std::string unescaped_lines(std::string_view text) {
  constexpr std::string_view kEscaped = "\\n#";
  std::size_t escaped = 0;
  for (std::size_t at = text.find(kEscaped); at != std::string_view::npos;
       at = text.find(kEscaped, at + 1)) {
    ++escaped;
  }
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (escaped <= ends) return std::string(text);
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool end = text.substr(at, 2) == "\\n";
    lines += end ? '\n' : text[at];
    if (end) ++at;
  }
  return lines;
}

}  // namespace

std::vector<BoxLine> box_lines(std::string_view text) {
  const std::string lines = unescaped_lines(text);
  return BoxReader(lines).lines();
}

}  // namespace shardscope::storage
