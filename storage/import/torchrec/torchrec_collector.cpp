#include "storage/import/torchrec/torchrec_collector.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostPlanRanks = 65536;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 50;

std::optional<std::int64_t> whole(const JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&value->data)) return *number;
  return std::nullopt;
}

/// [a, b], both 0 to 2^50.
std::optional<std::array<std::int64_t, 2>> pair_of(const JsonValue* value) {
  const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
  if (items == nullptr || items->size() != 2) return std::nullopt;
  const auto a = whole(&items->front());
  const auto b = whole(&items->back());
  if (!a || !b || *a < 0 || *b < 0 || *a > kMostExtent || *b > kMostExtent) return std::nullopt;
  return std::array<std::int64_t, 2>{*a, *b};
}

std::optional<std::int32_t> number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::int32_t number = -1;
  const char* begin = text.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kMostPlanRanks) return std::nullopt;
  return number;
}

std::string place_of_entry(const TorchrecPlanEntry& entry) {
  return entry.module.empty() ? entry.table : entry.module + "." + entry.table;
}

}  // namespace

void TorchrecPlanCollector::rank_list(const JsonValue* value, TorchrecPlanEntry& entry) {
  const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
  if (items == nullptr) return;
  for (const JsonValue& item : *items) {
    const auto rank = whole(&item);
    if (!rank || *rank < 0 || *rank >= kMostPlanRanks) {
      notes_.warn_at(place_of_entry(entry), "a rank is no number below 65536 and is left out",
                     "ranks");
      continue;
    }
    entry.ranks.push_back(static_cast<std::int32_t>(*rank));
    plan_.ranks = std::max(plan_.ranks, entry.ranks.back() + 1);
  }
}

void TorchrecPlanCollector::shard(const JsonValue* offsets, const JsonValue* sizes,
                                  const std::string& placement, TorchrecPlanEntry& entry) {
  const auto offset = pair_of(offsets);
  const auto size = pair_of(sizes);
  if (!offset || !size) {
    notes_.warn_at(place_of_entry(entry),
                   "a shard has no two offsets and two sizes and is left out",
                   "shard_offsets [row, column], shard_sizes [rows, columns]");
    return;
  }
  TorchrecShardEntry shard{(*offset)[0], (*offset)[1], (*size)[0], (*size)[1], -1};
  if (const auto rank = number_after(placement, "rank:")) {
    shard.rank = *rank;
    plan_.ranks = std::max(plan_.ranks, shard.rank + 1);
  } else if (entry.shards.size() < entry.ranks.size()) {
    shard.rank = entry.ranks[entry.shards.size()];
  }
  for (const std::string_view device : {"cuda:", "cpu:", "mtia:", "npu:"}) {
    if (const auto local = number_after(placement, device)) {
      plan_.local_ranks = std::max(plan_.local_ranks, *local + 1);
    }
  }
  entry.shards.push_back(shard);
}

}  // namespace shardscope::storage
