#pragma once
// Columns that appear as lines name them.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/row_parser.hpp"

namespace shardscope::engine {

/// Finds or makes the column of a slot.
class SlotColumns {
 public:
  /// Columns beyond this are a wrong format, not a model.
  static constexpr std::size_t kMostSlots = 100'000;

  /// Appends the id in `text` to the slot's column.
  [[nodiscard]] Status add(std::string_view slot, std::string_view text, const LinePlace& place,
                           RecordedStream& stream) {
    const auto id = parse_integer(text);
    if (!id) {
      return malformed(place, fmt::format("the id of slot {} is {}", shown(slot), shown(text)),
                       "a whole number");
    }
    auto found = index_.find(slot);
    if (found == index_.end()) {
      if (index_.size() == kMostSlots) {
        return malformed(place, fmt::format("{} is slot number {}", shown(slot), kMostSlots + 1),
                         fmt::format("at most {} slots", kMostSlots));
      }
      found = index_.emplace(std::string(slot), stream.columns.size()).first;
      stream.columns.emplace_back(std::string(slot), false, stream.samples);
    }
    stream.columns[found->second].add(*id);
    return {};
  }

 private:
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace shardscope::engine
