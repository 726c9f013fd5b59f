#pragma once
// What an importer says of a file beside its values: kept, skipped, expected. A partial result
// never comes without a note.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::storage {

/// One thing that was not taken as it stands.
struct ImportNote {
  std::string place;       ///< file, file:line or table
  std::string expected;    ///< what would have been understood; may be empty
  std::string message;     ///< what was found and what was done with it
  std::int64_t times = 1;  ///< said of the same place
};

/// Notes of one import. The first kMostNotes are kept word by word; all are counted, what is said
/// twice of one place once.
class ImportNotes {
 public:
  static constexpr std::size_t kMostNotes = 50;

  explicit ImportNotes(std::string file = {}) : file_(std::move(file)) {}

  /// What was taken, one sentence ("26 tables on 8 ranks").
  void kept(std::string sentence) { kept_.push_back(std::move(sentence)); }
  /// Something left out or replaced by an assumption. `line` 0: the whole file.
  void warn(std::int64_t line, std::string message, std::string expected = {});
  /// The same with a place of its own.
  void warn_at(std::string place, std::string message, std::string expected = {});
  /// Lines or records that belong to nothing this importer reads: counted, not listed.
  void skip(std::int64_t count = 1) { skipped_ += count; }
  /// Takes over another file's notes.
  void add(const ImportNotes& other);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<std::string>& kept() const { return kept_; }
  [[nodiscard]] const std::vector<ImportNote>& warnings() const { return warnings_; }
  /// Warnings including those beyond kMostNotes.
  [[nodiscard]] std::int64_t warning_count() const { return warning_count_; }
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }
  [[nodiscard]] std::string place(std::int64_t line) const;

 private:
  std::string file_;
  std::vector<std::string> kept_;
  std::vector<ImportNote> warnings_;
  std::int64_t warning_count_ = 0;
  std::int64_t skipped_ = 0;
};

/// At most `most` bytes of a text for a message, controls replaced, "..." where it was cut.
[[nodiscard]] std::string quoted_piece(std::string_view text, std::size_t most = 60);

}  // namespace shardscope::storage
