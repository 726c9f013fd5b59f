#include "layout/check.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "layout/check_report.hpp"

namespace shardscope {

namespace {

/// Rules of the shards, table by table; true when all of them can be walked.
bool check_tables(const CheckInput& input, Report& report) {
  bool walkable = true;
  for (std::size_t t = 0; t < input.layout.tables.size(); ++t) {
    const bool valid = check_geometry(input, t, report);
    walkable = walkable && valid;
    check_clusters(input, t, report);
  }
  return walkable;
}

void check_batch(const CheckInput& input, Report& report) {
  const std::int64_t batch = input.workload.global_batch;
  const std::int32_t ranks = input.topology.ranks();
  if (batch < 1 || batch >= ranks) return;
  report.warning("batch.below_ranks", {}, ranks - batch,
                 fmt::format("a global batch of {} samples leaves {} of {} ranks without any",
                             batch, ranks - batch, ranks),
                 fmt::format("Use a batch of at least {}", ranks));
}

}  // namespace

bool Report::has_errors_since(std::size_t mark) const {
  return std::any_of(violations_.begin() + static_cast<std::ptrdiff_t>(mark), violations_.end(),
                     [](const Violation& one) { return one.severity == Severity::error; });
}

void Report::add(const char* rule, Severity severity, Where where, std::int64_t amount,
                 std::string message, std::string cure) {
  Kind& kind = kinds_[{rule, where.table}];
  ++kind.count;
  if (kind.count > kMostOfAKind + 1) {
    ++violations_[kind.more].amount;
    return;
  }
  if (kind.count == kMostOfAKind + 1) {
    kind.more = violations_.size();
    where = {where.table, -1, -1, -1};
    amount = 1;
    message = "the same holds more often than is listed; the amount is the number of others";
  }
  violations_.push_back({rule, severity, where.table, where.row, where.column, where.rank, amount,
                         std::move(message), std::move(cure)});
}

bool CheckInput::all_pooled(std::size_t t) const {
  return std::all_of(readers[t].begin(), readers[t].end(),
                     [&](std::int32_t f) { return is_pooled(feature(f).pooling); });
}

bool CheckInput::any_pooled(std::size_t t) const {
  return std::any_of(readers[t].begin(), readers[t].end(),
                     [&](std::int32_t f) { return is_pooled(feature(f).pooling); });
}

ShardTier CheckInput::tier(std::size_t t, std::size_t cell) const {
  const std::vector<ShardTier>& tiers = placement(t).tiers;
  return cell < tiers.size() ? tiers[cell] : ShardTier{};
}

std::vector<Violation> check_workload(const Workload& workload) {
  Report report;
  check_workload_rules(workload, report);
  check_feature_rules(workload, report);
  return report.take();
}

std::vector<Violation> check_topology(const Topology& topology) {
  Report report;
  check_topology_rules(topology, report);
  return report.take();
}

std::vector<Violation> check(const Workload& workload, const Topology& topology,
                             const Layout& layout, Executor executor) {
  Report report;
  check_workload_rules(workload, report);
  check_feature_rules(workload, report);
  const bool workload_valid = !report.has_errors_since(0);
  const std::size_t mark = report.size();
  check_topology_rules(topology, report);
  const bool topology_valid = !report.has_errors_since(mark);
  const CheckInput input{workload, topology, layout, features_by_table(workload)};
  if (!topology_valid || !check_agreement(input, report)) return report.take();
  const bool walkable = check_tables(input, report);
  check_batch(input, report);
  if (!walkable || !workload_valid) return report.take();
  switch (executor) {
    case Executor::engine:
      check_engine(input, report);
      break;
    case Executor::hugectr:
      check_hugectr(input, report);
      break;
    case Executor::torchrec:
      check_torchrec(input, report);
      break;
  }
  check_memory(input, executor, report);
  return report.take();
}

bool has_errors(const std::vector<Violation>& violations) {
  return std::any_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.severity == Severity::error;
  });
}

const char* to_string(Severity value) {
  return value == Severity::error ? "error" : "warning";
}

}  // namespace shardscope
