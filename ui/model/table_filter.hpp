#pragma once
// The words a person types to narrow a list of tables: "rows>1M cl:RB gpu:3 hot>=10 cat".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"

namespace shardscope::ui {

/// What a filter looks at.
struct FilteredTable {
  std::string_view name;
  ClusterType cluster = ClusterType::RB;
  double rows = 0, dim = 0, hot = 0, uniq_percent = 0, gib = 0, cost_ms = 0, shards = 0;
  const std::vector<std::int32_t>* owners = nullptr;  ///< empty: every GPU
};

/// All terms must hold; words are parts of the name, whatever their case.
class TableFilter {
 public:
  TableFilter() = default;
  /// Errors name the term that cannot be read and what would have been accepted.
  [[nodiscard]] static Result<TableFilter> parse(std::string_view text);
  [[nodiscard]] bool matches(const FilteredTable& table) const;
  [[nodiscard]] bool empty() const { return terms_.empty(); }

 private:
  enum class What : std::uint8_t { name, cluster, gpu, rows, dim, hot, uniq, gib, cost, shards };
  enum class Compare : std::uint8_t { less, less_equal, equal, greater_equal, greater };
  struct Term {
    What what = What::name;
    Compare compare = Compare::equal;
    double number = 0;
    std::string word;
  };
  static Result<Term> parse_term(std::string_view text);
  static bool holds(const Term& term, const FilteredTable& table);

  std::vector<Term> terms_;
};

}  // namespace shardscope::ui
