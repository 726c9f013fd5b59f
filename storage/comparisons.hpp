#pragma once
// Results of comparing two layouts.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// What a comparison found, as it is shown again later.
struct ComparisonRecord {
  std::int64_t id = 0;     ///< given by save_comparison
  std::int64_t run_a = 0;  ///< 0: not recorded
  std::int64_t run_b = 0;
  std::string label_a;
  std::string label_b;
  std::string mode;  ///< measured | emulated | simulated
  double ratio = 0;  ///< throughput of B / throughput of A
  double low = 0;    ///< interval of the ratio
  double high = 0;
  double confidence = 0.95;  ///< of the interval, 0..1
  double a_ms = 0;           ///< per iteration
  double b_ms = 0;
  std::int64_t blocks = 0;              ///< of each layout
  std::int64_t looks = 0;               ///< at which stopping was asked
  std::int64_t dropped_iterations = 0;  ///< still settling after a switch
  std::string reason;                   ///< target | budget | interrupted
  std::string stages_json;              ///< differences by stage and rank
  std::string sentence;                 ///< which is faster and why
  std::int64_t created_utc_ns = 0;      ///< given by save_comparison

  friend bool operator==(const ComparisonRecord&, const ComparisonRecord&) = default;
};

/// Stores it and returns its id.
[[nodiscard]] Result<std::int64_t> save_comparison(const Session& session,
                                                   const ComparisonRecord& comparison);

/// All, oldest first.
[[nodiscard]] Result<std::vector<ComparisonRecord>> list_comparisons(const Session& session);

}  // namespace shardscope::storage
