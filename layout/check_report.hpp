#pragma once
// Collects violations. Private to check*.cpp.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "layout/check.hpp"

namespace shardscope {

/// What a rule is about; -1 where an index does not apply.
struct Where {
  std::int32_t table = -1;
  std::int32_t row = -1;
  std::int32_t column = -1;
  std::int32_t rank = -1;
};

/// A rule broken more than kMostOfAKind times by one table is told once more, with the number of
/// the others as its amount.
class Report {
 public:
  static constexpr int kMostOfAKind = 50;

  void error(const char* rule, Where where, std::int64_t amount, std::string message,
             std::string cure) {
    add(rule, Severity::error, where, amount, std::move(message), std::move(cure));
  }
  void warning(const char* rule, Where where, std::int64_t amount, std::string message,
               std::string cure) {
    add(rule, Severity::warning, where, amount, std::move(message), std::move(cure));
  }

  /// True when an error was reported since `mark` violations were there.
  [[nodiscard]] bool has_errors_since(std::size_t mark) const;
  [[nodiscard]] std::size_t size() const { return violations_.size(); }
  [[nodiscard]] std::vector<Violation> take() { return std::move(violations_); }

 private:
  void add(const char* rule, Severity severity, Where where, std::int64_t amount,
           std::string message, std::string cure);

  struct Kind {
    int count = 0;
    std::size_t more = 0;  ///< index of the violation that counts the others
  };

  std::vector<Violation> violations_;
  std::map<std::pair<std::string, std::int32_t>, Kind> kinds_;
};

/// Everything the rules read. `readers` are the features of each table.
struct CheckInput {
  const Workload& workload;
  const Topology& topology;
  const Layout& layout;
  std::vector<std::vector<std::int32_t>> readers;

  [[nodiscard]] const Table& table(std::size_t t) const { return workload.tables[t]; }
  [[nodiscard]] const TablePlacement& placement(std::size_t t) const { return layout.tables[t]; }
  [[nodiscard]] const Feature& feature(std::int32_t f) const {
    return workload.features[static_cast<std::size_t>(f)];
  }
  /// Every feature of the table pools / none does.
  [[nodiscard]] bool all_pooled(std::size_t t) const;
  [[nodiscard]] bool any_pooled(std::size_t t) const;
  /// The shards' tier, also for DP.
  [[nodiscard]] ShardTier tier(std::size_t t, std::size_t cell) const;
};

/// Where of a whole table.
[[nodiscard]] inline Where at_table(std::size_t table) {
  return {static_cast<std::int32_t>(table), -1, -1, -1};
}

void check_workload_rules(const Workload& workload, Report& report);
void check_feature_rules(const Workload& workload, Report& report);
void check_topology_rules(const Topology& topology, Report& report);

/// Tables, names and ranks of the three parts agree. False: nothing else can be checked.
[[nodiscard]] bool check_agreement(const CheckInput& input, Report& report);
/// Cuts, grid and owners of one table. False: its shards cannot be walked.
[[nodiscard]] bool check_geometry(const CheckInput& input, std::size_t table, Report& report);
/// Cluster rules that hold for every executor.
void check_clusters(const CheckInput& input, std::size_t table, Report& report);

/// Rules of one executor; geometry is valid.
void check_engine(const CheckInput& input, Report& report);
void check_hugectr(const CheckInput& input, Report& report);
void check_torchrec(const CheckInput& input, Report& report);
void check_memory(const CheckInput& input, Executor executor, Report& report);

}  // namespace shardscope
