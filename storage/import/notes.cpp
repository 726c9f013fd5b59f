#include "storage/import/notes.hpp"

#include <algorithm>
#include <utility>

namespace shardscope::storage {

void ImportNotes::warn(std::int64_t line, std::string message, std::string expected) {
  warn_at(place(line), std::move(message), std::move(expected));
}

void ImportNotes::warn_at(std::string where, std::string message, std::string expected) {
  const auto said = std::find_if(warnings_.begin(), warnings_.end(), [&](const ImportNote& one) {
    return one.place == where && one.message == message;
  });
  if (said != warnings_.end()) {
    ++said->times;
    return;
  }
  ++warning_count_;
  if (warnings_.size() >= kMostNotes) return;
  warnings_.push_back({std::move(where), std::move(expected), std::move(message)});
}

void ImportNotes::add(const ImportNotes& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  for (const ImportNote& note : other.warnings_) {
    if (warnings_.size() < kMostNotes) warnings_.push_back(note);
  }
  warning_count_ += other.warning_count_;
  skipped_ += other.skipped_;
}

std::string ImportNotes::place(std::int64_t line) const {
  return line > 0 ? file_ + ":" + std::to_string(line) : file_;
}

std::string quoted_piece(std::string_view text, std::size_t most) {
  std::string piece = "\"";
  for (const char letter : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(letter);
    piece += byte < 0x20 || byte >= 0x7f ? '?' : letter;
  }
  return piece + (text.size() > most ? "...\"" : "\"");
}

}  // namespace shardscope::storage
