#include "storage/import/trace/trace_model.hpp"

#include <utility>

namespace shardscope::storage {

std::uint32_t NameTable::id(std::string_view text) {
  constexpr std::size_t kMostNames = std::size_t{1} << 20;
  constexpr std::size_t kLongestName = 4096;
  std::string key(text.substr(0, kLongestName));
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  if (texts_.size() >= kMostNames) key = "(another name)";
  const auto [entry, fresh] = ids_.emplace(key, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(std::move(key));
  return entry->second;
}

}  // namespace shardscope::storage
