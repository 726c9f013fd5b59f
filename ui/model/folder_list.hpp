#pragma once
// The entries of a folder as the Open dialog lists them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"

namespace shardscope::ui {

struct FolderEntry {
  std::string name;
  bool folder = false;
  std::uint64_t bytes = 0;
  std::int64_t changed_utc_s = 0;
};

/// Folders first, then files, each by name; hidden ones left out. At most kMostEntries.
[[nodiscard]] Result<std::vector<FolderEntry>> list_folder(const std::string& folder);
inline constexpr std::size_t kMostEntries = 20'000;

/// "session", "Kineto trace", "TorchRec plan": what opening it would give, by its first bytes;
/// empty where nothing is known.
[[nodiscard]] std::string kind_words(const std::string& path);

/// What is typed, as the folder that it is in (with its "/") and the beginning of a name.
struct TypedPath {
  std::string folder;
  std::string name;
};
/// "~" is the home folder; a relative path stays relative to `base`.
[[nodiscard]] TypedPath typed_path(std::string_view text, const std::string& base);

/// The longest common beginning of the entries' names that begin with `name`, whatever the case.
[[nodiscard]] std::string completed(const std::vector<FolderEntry>& entries,
                                    const std::string& name);
[[nodiscard]] bool begins_with(std::string_view text, std::string_view beginning);

}  // namespace shardscope::ui
