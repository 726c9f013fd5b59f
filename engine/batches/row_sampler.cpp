#include "engine/batches/row_sampler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

/// Rounding allowed in listed probabilities that should sum to 1.
constexpr double kSumSlack = 1e-9;

tl::unexpected<Error> bad_ids(const std::string& place, std::string what, std::string expected) {
  return fail({ErrorKind::usage, std::move(what), place, std::move(expected),
               "Correct the feature's id distribution"});
}

Status check_heavy(const std::vector<double>& listed, std::int64_t rows, const std::string& place) {
  if (listed.empty()) {
    return bad_ids(place, "no heavy hitter is listed", "at least one probability");
  }
  if (static_cast<std::int64_t>(listed.size()) > rows) {
    return bad_ids(place,
                   fmt::format("{} heavy hitters for a table of {} rows", listed.size(), rows),
                   "at most one a row");
  }
  double sum = 0;
  for (const double probability : listed) {
    if (!(probability >= 0) || !std::isfinite(probability)) {
      return bad_ids(place, fmt::format("heavy hitter probability {} is not usable", probability),
                     "numbers in 0..1");
    }
    sum += probability;
  }
  const bool rest = static_cast<std::int64_t>(listed.size()) < rows;
  if (sum > 1 + kSumSlack || (!rest && sum < 1 - kSumSlack)) {
    return bad_ids(place, fmt::format("heavy hitter probabilities sum to {}", sum),
                   rest ? "at most 1" : "1, because every row is listed");
  }
  return {};
}

}  // namespace

Result<RowSampler> RowSampler::make(const IdDistribution& ids, std::int64_t rows,
                                    std::uint64_t seed, std::int32_t table,
                                    const std::string& place) {
  RowSampler sampler;
  sampler.kind_ = ids.kind;
  sampler.rows_ = rows;
  if (ids.kind == IdDistributionKind::uniform) return sampler;  // no row is more popular
  sampler.order_ = RowOrder(rows, ids.order, seed, table);
  if (!(ids.alpha >= 0) || !std::isfinite(ids.alpha)) {
    return bad_ids(place, fmt::format("Zipf alpha {} is not usable", ids.alpha),
                   "a finite number >= 0");
  }
  std::int64_t listed = 0;
  if (ids.kind == IdDistributionKind::heavy_hitters) {
    if (auto status = check_heavy(ids.heavy_hitters, rows, place); !status) {
      return fail(std::move(status.error()));
    }
    double sum = 0;
    for (const double probability : ids.heavy_hitters) sampler.sum_.push_back(sum += probability);
    listed = static_cast<std::int64_t>(sampler.sum_.size());
    if (listed == rows) sampler.sum_.back() = 1;  // rounding must not point past the table
  }
  if (listed < rows) sampler.zipf_ = Zipf(rows - listed, ids.alpha);
  return sampler;
}

std::int64_t RowSampler::heavy_rank(Draws& draws) const {
  const double at = draws.unit();
  const auto found = std::lower_bound(sum_.begin(), sum_.end(), at);
  if (found != sum_.end()) return found - sum_.begin();
  return static_cast<std::int64_t>(sum_.size()) + zipf_(draws);
}

}  // namespace shardscope::engine
