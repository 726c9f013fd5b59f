#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "layout/check_report.hpp"
#include "layout/dense_sizes.hpp"
#include "layout/memory.hpp"

namespace shardscope {

namespace {

/// Beyond these nothing real is meant, and sizes stay far from the limits of 64 bits.
constexpr std::int32_t kWidestTable = 1 << 20;
constexpr std::int32_t kMostPoolings = 1 << 20;
constexpr std::int64_t kMostIdsOfAFeature = std::int64_t{1} << 36;
constexpr std::int32_t kMostStateWords = 1024;
constexpr std::int64_t kRowsOf32BitIds = std::int64_t{1} << 31;

void check_table(const Workload& workload, std::size_t t, Report& report) {
  const Table& table = workload.tables[t];
  if (table.rows < 1) {
    report.error("table.rows", at_table(t), table.rows,
                 fmt::format("table {} has {} rows", table.name, table.rows),
                 "Give it at least one row, or remove it and its features");
  }
  if (table.dim < 1 || table.dim > kWidestTable) {
    report.error("table.dim", at_table(t), table.dim,
                 fmt::format("table {} has dim {}", table.name, table.dim),
                 fmt::format("Use a dim from 1 to {}", kWidestTable));
  }
  const Optimizer& optimizer = table.optimizer;
  for (const std::int32_t words : {optimizer.words_per_element, optimizer.words_per_row}) {
    if (words >= 0 && words <= kMostStateWords) continue;
    report.error("table.state_words", at_table(t), words,
                 fmt::format("table {} has {} words of optimizer state", table.name, words),
                 fmt::format("Use 0 to {} words", kMostStateWords));
  }
  if (workload.key == KeyType::i32 && table.rows > kRowsOf32BitIds) {
    report.error("key.i32_too_small", at_table(t), table.rows - kRowsOf32BitIds,
                 fmt::format("table {} has {} rows, {} more than 32-bit ids can name", table.name,
                             table.rows, table.rows - kRowsOf32BitIds),
                 "Set the workload's key to i64");
  }
}

/// A layout finds tables by name; features are told apart by it in reports and exports.
void check_table_names(const Workload& workload, Report& report) {
  std::unordered_set<std::string> seen;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const std::string& name = workload.tables[t].name;
    if (name.empty()) {
      report.error("table.name", at_table(t), 0, fmt::format("table {} has no name", t), "Name it");
    } else if (!seen.insert(name).second) {
      report.error("table.name_twice", at_table(t), 0, fmt::format("two tables are named {}", name),
                   "Rename one of them");
    }
  }
}

void check_feature_names(const Workload& workload, Report& report) {
  std::unordered_set<std::string> seen;
  for (const Feature& feature : workload.features) {
    if (feature.name.empty() || seen.insert(feature.name).second) continue;
    report.warning("feature.name_twice", {feature.table, -1, -1, -1}, 0,
                   fmt::format("two features are named {}", feature.name), "Rename one of them");
  }
}

void check_unread(const Workload& workload, Report& report) {
  const auto readers = features_by_table(workload);
  for (std::size_t t = 0; t < readers.size(); ++t) {
    if (!readers[t].empty()) continue;
    report.warning("table.unread", at_table(t), 0,
                   fmt::format("no feature reads table {}", workload.tables[t].name),
                   "Add a feature or remove the table");
  }
}

bool references_are_valid(const Workload& workload) {
  for (const Feature& feature : workload.features) {
    if (feature.table < 0) return false;
    if (static_cast<std::size_t>(feature.table) >= workload.tables.size()) return false;
  }
  return true;
}

void check_dense(const Workload& workload, Report& report) {
  // The shape reads the tables of all features.
  if (!references_are_valid(workload)) return;
  const Result<DenseShape> shape = dense_shape(workload);
  if (shape) return;
  report.error("dense.shape", {}, 0, shape.error().what, shape.error().cure);
}

std::string name_of_feature(const Workload& workload, std::size_t f) {
  const Feature& feature = workload.features[f];
  return fmt::format("feature {}", feature.name.empty() ? std::to_string(f) : feature.name);
}

bool is_share(double value) {
  return std::isfinite(value) && value >= 0 && value <= 1;
}

/// One feature's rules; violations name its table.
class FeatureCheck {
 public:
  FeatureCheck(const Workload& workload, std::size_t f, Report& report)
      : workload_(workload),
        feature_(workload.features[f]),
        name_(name_of_feature(workload, f)),
        where_{feature_.table, -1, -1, -1},
        report_(report) {}

  void run() {
    if (!check_table_reference()) return;
    const bool lengths_valid = check_lengths();
    if (lengths_valid) check_amount();
    check_pooling();
    check_ids();
  }

 private:
  void error(const char* rule, std::int64_t amount, std::string message, std::string cure) {
    report_.error(rule, where_, amount, name_ + " " + std::move(message), std::move(cure));
  }

  bool check_table_reference() {
    const bool found =
        feature_.table >= 0 && static_cast<std::size_t>(feature_.table) < workload_.tables.size();
    if (found) return true;
    where_.table = -1;
    error("feature.table", feature_.table,
          fmt::format("reads table {}, but there are {}", feature_.table, workload_.tables.size()),
          "Point it to a table of this workload");
    return false;
  }

  bool check_lengths() {
    const Hotness& hotness = feature_.hotness;
    if (feature_.num_poolings < 1 || feature_.num_poolings > kMostPoolings) {
      error("feature.num_poolings", feature_.num_poolings,
            fmt::format("has {} bags a sample", feature_.num_poolings),
            fmt::format("Use 1 to {}", kMostPoolings));
      return false;
    }
    if (hotness.minimum < 0 || hotness.maximum < hotness.minimum ||
        (hotness.kind == HotnessKind::fixed && hotness.maximum != hotness.minimum)) {
      error("feature.hotness", hotness.minimum,
            fmt::format("has bags of {} to {} ids", hotness.minimum, hotness.maximum),
            "Use lengths >= 0, minimum <= maximum, equal for a fixed length");
      return false;
    }
    return hotness.kind != HotnessKind::histogram || check_histogram();
  }

  bool check_histogram() {
    const Hotness& hotness = feature_.hotness;
    const auto bins = std::int64_t{hotness.maximum} - hotness.minimum + 1;
    double total = 0;
    bool valid = static_cast<std::int64_t>(hotness.weights.size()) == bins;
    for (const double weight : hotness.weights) {
      valid = valid && std::isfinite(weight) && weight >= 0;
      total += weight;
    }
    if (valid && total > 0 && std::isfinite(total)) return true;
    error("feature.hotness_weights", static_cast<std::int64_t>(hotness.weights.size()),
          fmt::format("has {} hotness weights for {} lengths, or none above 0",
                      hotness.weights.size(), bins),
          "Give one finite weight >= 0 a length, at least one above 0");
    return false;
  }

  /// Ids of one global batch, with an empty bag counted as one id.
  void check_amount() {
    const std::int64_t bags = saturating_multiply(workload_.global_batch, feature_.num_poolings);
    const std::int64_t ids =
        saturating_multiply(bags, std::max<std::int32_t>(feature_.hotness.maximum, 1));
    if (ids <= kMostIdsOfAFeature) return;
    error("feature.ids", ids, fmt::format("reads up to {} ids an iteration", ids),
          fmt::format("Lower the batch, num_poolings or hotness to at most {} ids",
                      kMostIdsOfAFeature));
  }

  void check_pooling() {
    if (feature_.pooling == Pooling::concat &&
        (feature_.hotness.kind != HotnessKind::fixed || feature_.hotness.minimum < 1)) {
      error("concat.fixed_hotness", feature_.hotness.minimum,
            "is concatenated but its bags differ in length or are empty",
            "Give it a fixed hotness >= 1, or use sequence");
    }
    if (feature_.weighted && !is_pooled(feature_.pooling)) {
      error("feature.weighted", 0, "carries weights but is not pooled",
            "Pool it with sum or mean, or drop the weights");
    }
  }

  void check_ids() {
    const IdDistribution& ids = feature_.ids;
    if (!std::isfinite(ids.alpha) || ids.alpha < 0 || ids.alpha > 100) {
      error("ids.alpha", 0, fmt::format("has a Zipf exponent of {}", ids.alpha),
            "Use 0 (uniform) to 100");
    }
    if (ids.kind == IdDistributionKind::heavy_hitters) check_heavy_hitters();
    if (ids.kind == IdDistributionKind::reuse_histogram) check_reuse();
    if (ids.kind == IdDistributionKind::recorded && ids.stream.empty()) {
      error("ids.stream", 0, "reads a recorded stream without a name", "Name the file");
    }
  }

  void check_heavy_hitters() {
    const std::vector<double>& shares = feature_.ids.heavy_hitters;
    double total = 0;
    bool valid = true;
    for (const double share : shares) {
      valid = valid && is_share(share);
      total += share;
    }
    const std::int64_t rows = workload_.tables[static_cast<std::size_t>(feature_.table)].rows;
    // A table capped to fewer rows takes its ids modulo the rows.
    const bool fit = workload_.rows_cap > 0 || static_cast<std::int64_t>(shares.size()) <= rows;
    if (valid && fit && total <= 1 + 1e-9) return;
    error("ids.heavy_hitters", static_cast<std::int64_t>(shares.size()),
          fmt::format("has {} heavy hitters with {} of all ids, for {} rows", shares.size(), total,
                      rows),
          "Give at most one probability a row, each 0 to 1, together at most 1");
  }

  void check_reuse() {
    const std::vector<ReuseBin>& bins = feature_.ids.reuse;
    double before = 0;
    double total = 0;
    bool valid = !bins.empty();
    for (const ReuseBin& bin : bins) {
      valid = valid && bin.reuse_at_most > before && is_share(bin.share_of_rows);
      before = bin.reuse_at_most;
      total += bin.share_of_rows;
    }
    constexpr double kRounding = 0.02;  // published histograms are rounded to three digits
    if (valid && std::abs(total - 1) <= kRounding) return;
    error("ids.reuse", static_cast<std::int64_t>(bins.size()),
          fmt::format("has a reuse histogram of {} bins that holds {} of all rows", bins.size(),
                      total),
          "Give ascending bounds and shares that add up to 1");
  }

  const Workload& workload_;
  const Feature& feature_;
  std::string name_;
  Where where_;
  Report& report_;
};

}  // namespace

void check_workload_rules(const Workload& workload, Report& report) {
  if (workload.tables.empty()) {
    report.error("workload.no_tables", {}, 0, "the workload has no tables", "Add a table");
  }
  if (workload.global_batch < 1) {
    report.error("batch.zero", {}, workload.global_batch,
                 fmt::format("the global batch has {} samples", workload.global_batch),
                 "Set global_batch, or give --batch");
  }
  if (workload.rows_cap < 0) {
    report.error("workload.rows_cap", {}, workload.rows_cap,
                 fmt::format("rows_cap is {}", workload.rows_cap), "Use 0 for no cap");
  }
  check_table_names(workload, report);
  check_feature_names(workload, report);
  for (std::size_t t = 0; t < workload.tables.size(); ++t) check_table(workload, t, report);
  check_unread(workload, report);
  check_dense(workload, report);
}

void check_feature_rules(const Workload& workload, Report& report) {
  for (std::size_t f = 0; f < workload.features.size(); ++f) {
    FeatureCheck(workload, f, report).run();
  }
}

}  // namespace shardscope
