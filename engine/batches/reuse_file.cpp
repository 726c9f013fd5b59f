#include "engine/batches/reuse_file.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/reuse_plan.hpp"
#include "layout/json_reader.hpp"

namespace shardscope::engine {
namespace {

constexpr double kRounding = 0.0005;
constexpr double kPreciseShare = 0.01;

/// Bounds of "(low,high]".
std::optional<std::pair<double, double>> bounds_of(std::string_view bin) {
  const std::size_t comma = bin.find(',');
  if (comma == std::string_view::npos || bin.front() != '(' || bin.back() != ']') return {};
  const auto low = parse_number(bin.substr(1, comma - 1));
  const std::string_view high = bin.substr(comma + 1, bin.size() - comma - 2);
  const auto until =
      high == "inf" ? std::optional(std::numeric_limits<double>::infinity()) : parse_number(high);
  if (!low || !until || !(*low < *until)) return {};
  return std::pair(*low, *until);
}

/// A histogram by upper bound. Where the bin below is left out, nothing lies in it.
std::map<double, double> read_histogram(JsonFields& batch, const char* name) {
  std::map<double, double> shares;
  const JsonValue* value = batch.take(name, Need::required);
  if (value == nullptr) return shares;
  if (value->object() == nullptr) {
    batch.errors().add(batch.path_of(name), value->kind(), "an object of shares by bin");
    return shares;
  }
  for (const auto& [bin, share] : *value->object()) {
    const std::string path = batch.path_of(name) + "." + bin;
    const auto bounds = bounds_of(bin);
    if (!bounds) batch.errors().add(path, "the bin's name is not understood", "as \"(4,8]\"");
    const auto number = batch.number_of(share, path, 0, 1);
    if (batch.errors().any()) break;
    shares[bounds->second] = *number;
    if (bounds->first > 0) shares.try_emplace(bounds->first, 0);
  }
  return shares;
}

/// Mean reads of a row in the bin (low, high].
double mean_reads_in(double low, double high) {
  const auto classes = reuse_classes({{low, 0.0}, {high, 1.0}}, "");
  double mean = 0;
  if (!classes) return mean;
  for (const ReuseClass& one : *classes) mean += one.share_of_rows * static_cast<double>(one.reads);
  return mean;
}

ReuseBatch read_batch(JsonFields& fields) {
  ReuseBatch batch;
  fields.text("file", batch.file, Need::required);
  fields.number("avg_reuse", batch.mean_reads, Need::required, 1, kMostDouble);
  const auto rows = read_histogram(fields, "unique_rows_frac_by_reuse");
  const auto reads = read_histogram(fields, "index_frac_by_reuse");
  double low = 0;
  for (const auto& [high, published] : rows) {
    double share = published;
    const auto of_reads = reads.find(high);
    if (published < kPreciseShare && low >= 1 && of_reads != reads.end()) {
      share = std::clamp(of_reads->second * batch.mean_reads / mean_reads_in(low, high),
                         std::max(published - kRounding, 0.0), published + kRounding);
    }
    batch.bins.push_back({high, share});
    low = high;
  }
  return batch;
}

}  // namespace

Result<std::vector<ReuseBatch>> reuse_batches_from_json(std::string_view text,
                                                        const std::string& place) {
  const auto root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  std::vector<ReuseBatch> batches;
  if (const JsonValue::Array* items = fields.list("batches", Need::required)) {
    for (std::size_t i = 0; i < items->size() && !errors.any(); ++i) {
      JsonFields item(errors, (*items)[i], fields.item_path("batches", i));
      batches.push_back(read_batch(item));
    }
  }
  if (errors.any()) return fail(errors.first());
  if (batches.empty()) {
    return fail({ErrorKind::usage, "the file lists no batches", place, "at least one in batches",
                 "Choose another file"});
  }
  return batches;
}

}  // namespace shardscope::engine
