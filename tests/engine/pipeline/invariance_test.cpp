// The law of the engine: a layout must not change what is learned. Random cases against the
// single-rank reference. SHARDSCOPE_CASES sets their number, SHARDSCOPE_SEED the first one.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "run_case.hpp"

namespace shardscope::engine {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kDefaultCases = 150;
#else
constexpr std::int64_t kDefaultCases = 500;
#endif

/// Below this many cases the coverage table is only printed.
constexpr std::int64_t kCoverageCases = 150;
constexpr int kCoverageAtLeast = 25;

std::int64_t number_from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

/// Cases by what they have.
using Coverage = std::map<std::string, int>;

Coverage empty_coverage() {
  Coverage coverage;
  for (const char* name : {"cluster DP",        "cluster RB",
                           "cluster UB",        "pooling sum",
                           "pooling mean",      "pooling concat",
                           "pooling sequence",  "optimizer sgd",
                           "optimizer adagrad", "optimizer rowwise_adagrad",
                           "optimizer adam",    "mapping modulo",
                           "mapping block",     "unequal columns",
                           "unequal rows",      "schedule serial",
                           "schedule intra",    "schedule inter",
                           "hosts 2x2",         "hosts 2x4",
                           "hosts 3x2",         "hosts 1xN",
                           "empty rank",        "shared table",
                           "written to peers"}) {
    coverage[name] = 0;
  }
  return coverage;
}

bool unequal(const auto& cuts) {
  for (std::size_t i = 2; i < cuts.size(); ++i) {
    if (cuts[i] - cuts[i - 1] != cuts[1] - cuts[0]) return true;
  }
  return false;
}

void count_tables(const PipelineCase& value, std::map<std::string, bool>& has) {
  std::vector<bool> owns(static_cast<std::size_t>(value.topology.ranks()));
  for (std::size_t t = 0; t < value.layout.tables.size(); ++t) {
    const TablePlacement& placement = value.layout.tables[t];
    has[std::string("cluster ") + to_string(placement.cluster)] = true;
    has[std::string("optimizer ") + to_string(value.workload.tables[t].optimizer.kind)] = true;
    if (placement.cluster == ClusterType::DP) continue;
    has["written to peers"] |= placement.cluster == ClusterType::RB &&
                               value.layout.exchange_of(t) == Exchange::hierarchical &&
                               value.comm == CommKind::threads && value.topology.fast_domain > 1;
    for (const std::int32_t owner : placement.owners) owns[static_cast<std::size_t>(owner)] = true;
    if (placement.row_shards > 1) {
      has[std::string("mapping ") + to_string(placement.mapping)] = true;
    }
    has["unequal columns"] |= unequal(placement.column_cuts);
    has["unequal rows"] |= unequal(placement.row_cuts);
  }
  has["empty rank"] = std::find(owns.begin(), owns.end(), false) != owns.end();
}

void count_case(const PipelineCase& value, Coverage& coverage) {
  std::map<std::string, bool> has;
  count_tables(value, has);
  std::vector<int> readers(value.workload.tables.size());
  for (const Feature& feature : value.workload.features) {
    has[std::string("pooling ") + to_string(feature.pooling)] = true;
    has["shared table"] |= ++readers[static_cast<std::size_t>(feature.table)] > 1;
  }
  has[std::string("schedule ") + to_string(value.schedule)] = true;
  const std::string hosts = std::to_string(value.topology.hosts);
  has["hosts " + hosts + "x" +
      (value.topology.hosts == 1 ? "N" : std::to_string(value.topology.gpus_per_host))] = true;
  for (const auto& [name, present] : has) coverage[name] += present ? 1 : 0;
}

TEST(Invariance, EveryLayoutLearnsWhatOneRankLearns) {
  const std::int64_t cases = number_from_environment("SHARDSCOPE_CASES", kDefaultCases);
  const std::int64_t seed = number_from_environment("SHARDSCOPE_SEED", 1);
  std::cout << "seed " << seed << ", " << cases << " cases\n";
  Coverage coverage = empty_coverage();
  for (std::int64_t n = 0; n < cases; ++n) {
    const PipelineCase value = make_case(static_cast<std::uint64_t>(seed), n);
    count_case(value, coverage);
    const auto wrong = run_case(value);
    if (!wrong) continue;
    const PipelineCase small =
        shrink_case(value, [](const PipelineCase& next) { return run_case(next).has_value(); });
    FAIL() << "case " << n << " of seed " << seed << ": " << *wrong
           << "\nsmallest: " << run_case(small).value_or("(passes when repeated)") << "\n"
           << to_json(small);
  }
  for (const auto& [name, count] : coverage) {
    std::cout << "  " << name << ": " << count << "\n";
    if (cases >= kCoverageCases) {
      EXPECT_GE(count, kCoverageAtLeast) << name;
    }
  }
}

/// True if some of the first cases fails under the fault.
bool is_noticed(Fault fault) {
  for (std::int64_t n = 0; n < 60; ++n) {
    if (run_case(make_case(7, n), fault)) return true;
  }
  return false;
}

TEST(Invariance, NoticesALostDuplicate) {
  EXPECT_TRUE(is_noticed(Fault::lost_duplicate));
}
TEST(Invariance, NoticesAWrongOwner) {
  EXPECT_TRUE(is_noticed(Fault::wrong_owner));
}
TEST(Invariance, NoticesAMissingRank) {
  EXPECT_TRUE(is_noticed(Fault::missing_rank));
}
TEST(Invariance, NoticesAHierarchicalExchangeThatIsFlat) {
  EXPECT_TRUE(is_noticed(Fault::hierarchical_calls_flat));
}
TEST(Invariance, NoticesAUbThatSendsEverything) {
  EXPECT_TRUE(is_noticed(Fault::ub_sends_everything));
}
TEST(Invariance, NoticesAMissingWait) {
  EXPECT_TRUE(is_noticed(Fault::missing_wait));
}

}  // namespace
}  // namespace shardscope::engine
