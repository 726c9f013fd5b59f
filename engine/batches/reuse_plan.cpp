#include "engine/batches/reuse_plan.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

constexpr std::int64_t kClassesPerBin = 8;
/// Reads beyond this are never asked for: above any batch, below overflow.
constexpr double kMostReads = 1e15;

tl::unexpected<Error> bad_reuse(const std::string& place, std::string what, std::string expected) {
  return fail({ErrorKind::usage, std::move(what), place, std::move(expected),
               "Correct the feature's reuse histogram"});
}

/// Classes of the counts in (low, high], most read first.
void append_bin(std::int64_t low, std::int64_t high, double share,
                std::vector<ReuseClass>& classes) {
  const std::int64_t pieces = std::min(high - low, kClassesPerBin);
  const double ratio =
      static_cast<double>(high) / static_cast<double>(std::max<std::int64_t>(low, 1));
  std::vector<ReuseClass> bin;
  double sum = 0;
  std::int64_t begin = low;
  for (std::int64_t piece = 1; piece <= pieces; ++piece) {
    const bool single = high - low <= kClassesPerBin;
    const double bound = static_cast<double>(std::max<std::int64_t>(low, 1)) *
                         std::pow(ratio, static_cast<double>(piece) / static_cast<double>(pieces));
    std::int64_t end = single ? low + piece : static_cast<std::int64_t>(std::llround(bound));
    if (piece == pieces) end = high;
    if (end <= begin) continue;
    // Rows with counts in (begin, end] by the c^-2 law and their mean count, from its integrals
    // over [begin + 1/2, end + 1/2].
    const double a = static_cast<double>(begin) + 0.5;
    const double b = static_cast<double>(end) + 0.5;
    const double weight =
        single ? 1.0 / (static_cast<double>(end) * static_cast<double>(end)) : 1 / a - 1 / b;
    const double mean = single ? static_cast<double>(end) : std::log(b / a) / weight;
    bin.push_back({std::clamp<std::int64_t>(std::llround(mean), begin + 1, end), weight});
    sum += weight;
    begin = end;
  }
  for (auto it = bin.rbegin(); it != bin.rend(); ++it) {
    classes.push_back({it->reads, share * it->share_of_rows / sum});
  }
}

}  // namespace

Result<std::vector<ReuseClass>> reuse_classes(const std::vector<ReuseBin>& bins,
                                              const std::string& place) {
  double sum = 0;
  double previous = 0;
  for (const ReuseBin& bin : bins) {
    if (!(bin.share_of_rows >= 0) || !std::isfinite(bin.share_of_rows)) {
      return bad_reuse(place, fmt::format("share of rows {} is not usable", bin.share_of_rows),
                       "finite numbers >= 0");
    }
    if (!(std::floor(bin.reuse_at_most) > previous)) {
      return bad_reuse(place, fmt::format("reuse bound {} does not ascend", bin.reuse_at_most),
                       "whole bounds from 1 on, each above the one before");
    }
    sum += bin.share_of_rows;
    previous = std::min(std::floor(bin.reuse_at_most), kMostReads);
  }
  if (!(sum > 0)) {
    return bad_reuse(place, "the reuse histogram is empty", "at least one bin with a share > 0");
  }
  std::vector<ReuseClass> classes;
  for (std::size_t i = bins.size(); i-- > 0;) {
    if (bins[i].share_of_rows == 0) continue;
    const double low = i == 0 ? 0 : std::min(std::floor(bins[i - 1].reuse_at_most), kMostReads);
    double high = std::floor(bins[i].reuse_at_most);
    if (high > kMostReads) high = std::max(2 * low, 1.0);
    append_bin(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high),
               bins[i].share_of_rows / sum, classes);
  }
  return classes;
}

ReusePlan::ReusePlan(const std::vector<ReuseClass>& classes, std::int64_t keys) {
  double share = 0;
  double mean = 0;
  for (const ReuseClass& one : classes) {
    if (one.reads > keys) continue;
    share += one.share_of_rows;
    mean += one.share_of_rows * static_cast<double>(one.reads);
  }
  if (share == 0) {  // even the least read class needs more keys than there are
    if (keys > 0) runs_.push_back({0, 0, keys, 1});
    rows_ = keys > 0 ? 1 : 0;
    return;
  }
  const double rows_wanted = static_cast<double>(keys) / mean;
  std::int64_t key = 0;
  const auto append = [&](std::int64_t reads, std::int64_t rows) {
    if (rows <= 0) return;
    runs_.push_back({key, rows_, reads, rows});
    key += reads * rows;
    rows_ += rows;
  };
  double carry = 0;  // keys that whole rows could not take: handed to the next class
  std::int64_t least = 1;
  for (const ReuseClass& one : classes) {
    if (one.reads > keys) continue;
    const auto reads = static_cast<double>(one.reads);
    const double wanted = one.share_of_rows * rows_wanted * reads + carry;
    const auto rows =
        std::min<std::int64_t>(std::llround(wanted / reads), (keys - key) / one.reads);
    carry = wanted - static_cast<double>(rows) * reads;
    append(one.reads, rows);
    least = one.reads;
  }
  append(least, (keys - key) / least);
  if (key < keys) append(keys - key, 1);
}

std::int64_t ReusePlan::rows_read_at_least(std::int64_t reads) const {
  const auto end = std::partition_point(runs_.begin(), runs_.end(),
                                        [&](const Run& run) { return run.reads >= reads; });
  return end == runs_.end() ? rows_ : end->first_rank;
}

std::int64_t ReusePlan::rank_of(std::int64_t position) const {
  const auto after = std::partition_point(
      runs_.begin(), runs_.end(), [&](const Run& run) { return run.first_key <= position; });
  const Run& run = *(after - 1);
  return run.first_rank + (position - run.first_key) / run.reads;
}

}  // namespace shardscope::engine
