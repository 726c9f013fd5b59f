#include "planner/split_search.hpp"

#include <algorithm>
#include <utility>

#include "planner/numpy_order.hpp"

namespace shardscope {

namespace {

/// Tables no narrower than this are cut by columns; others by rows.
constexpr double kNarrowestHalvable = 32;

bool is_odd(double width) {
  return static_cast<std::int64_t>(width) % 2 != 0;
}

struct Piece {
  std::int32_t table = 0;
  double hotness = 0;
  double width = 0;
};

/// One round's result.
struct Placed {
  std::int32_t stuck =
      -1;  ///< table of the shard that fits nowhere, or -1; its last try is in cost
  std::vector<std::vector<std::int32_t>> buckets;
  std::vector<double> cost;

  [[nodiscard]] double worst() const { return *std::max_element(cost.begin(), cost.end()); }
};

class SplitState {
 public:
  SplitState(const std::vector<SplitTable>& tables, const SplitRules& rules)
      : tables_(&tables), rules_(&rules), rows_(tables.size(), 1.0) {
    for (std::size_t t = 0; t < tables.size(); ++t) {
      width_.push_back(tables[t].width);
      pieces_.push_back({static_cast<std::int32_t>(t), tables[t].hotness, tables[t].width});
    }
    sort_pieces();
  }

  [[nodiscard]] Placed place() const {
    Placed placed;
    const auto buckets = static_cast<std::size_t>(rules_->buckets);
    placed.buckets.resize(buckets);
    placed.cost.assign(buckets, 0.0);
    for (const Piece& piece : pieces_) {
      bool done = false;
      std::vector<double> tried = placed.cost;
      NumpyArgsortFront cheapest(placed.cost);
      for (std::size_t b = 0; cheapest.next(b);) {
        std::vector<std::int32_t>& bucket = placed.buckets[b];
        if (std::find(bucket.begin(), bucket.end(), piece.table) != bucket.end()) continue;
        bucket.push_back(piece.table);
        tried = placed.cost;
        tried[b] = cost(bucket);
        done = memory(bucket) <= rules_->memory_cap;
        if (done) break;
        bucket.pop_back();
      }
      placed.cost = tried;
      if (!done) {
        placed.stuck = piece.table;
        break;
      }
    }
    return placed;
  }

  /// Every table on every bucket, cut by rows.
  [[nodiscard]] std::pair<Placed, bool> everywhere() const {
    SplitState state = *this;
    std::fill(state.rows_.begin(), state.rows_.end(), static_cast<double>(rules_->buckets));
    std::vector<std::int32_t> all;
    for (std::size_t t = 0; t < tables_->size(); ++t) all.push_back(static_cast<std::int32_t>(t));
    Placed placed;
    placed.buckets.assign(static_cast<std::size_t>(rules_->buckets), all);
    placed.cost.assign(placed.buckets.size(), state.cost(all));
    return {placed, state.memory(all) <= rules_->memory_cap};
  }

  void split_hottest(bool columns) {
    std::vector<double> keys;
    for (const Piece& piece : pieces_)
      keys.push_back(piece.width * piece.hotness + piece.width * rules_->split_exchange_weight);
    std::vector<std::size_t> order = numpy_argsort_descending(keys);
    if (!rules_->reorder_for_split)
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (const std::size_t at : order) {
      const std::int32_t table = pieces_[at].table;
      if (2 * shards(table) > rules_->buckets) continue;
      const double width = width_[index(table)];
      halve(table, columns && !is_odd(width) && width > kNarrowestHalvable);
      break;
    }
    sort_pieces();
  }

  /// False where the table already has too many shards.
  bool split_stuck(std::int32_t table, bool columns) {
    if (2 * shards(table) > rules_->buckets) return false;
    halve(table, columns && width_[index(table)] > kNarrowestHalvable);
    sort_pieces();
    return true;
  }

  [[nodiscard]] std::vector<std::int32_t> column_factors() const {
    std::vector<std::int32_t> factors;
    for (std::size_t t = 0; t < tables_->size(); ++t)
      factors.push_back(static_cast<std::int32_t>((*tables_)[t].width / width_[t]));
    return factors;
  }

 private:
  static std::size_t index(std::int32_t table) { return static_cast<std::size_t>(table); }

  [[nodiscard]] double columns_of(std::int32_t table) const {
    return (*tables_)[index(table)].width / width_[index(table)];
  }
  [[nodiscard]] double shards(std::int32_t table) const {
    return columns_of(table) * rows_[index(table)];
  }

  [[nodiscard]] double cost(const std::vector<std::int32_t>& bucket) const {
    std::vector<double> lookup, exchange;
    for (const std::int32_t table : bucket) {
      const double width = rules_->widths_count ? width_[index(table)] : 1;
      lookup.push_back((*tables_)[index(table)].hotness * width / rows_[index(table)]);
      exchange.push_back(rules_->exchange_weight * width);
    }
    const double exchanged = rules_->widths_count
                                 ? numpy_sum(exchange)
                                 : rules_->exchange_weight * static_cast<double>(bucket.size());
    return rules_->lookup_weight * numpy_sum(lookup) + exchanged;
  }
  [[nodiscard]] double memory(const std::vector<std::int32_t>& bucket) const {
    std::vector<double> terms;
    for (const std::int32_t table : bucket)
      terms.push_back((*tables_)[index(table)].memory / columns_of(table) / rows_[index(table)]);
    return numpy_sum(terms);
  }

  void halve(std::int32_t table, bool columns) {
    const std::size_t t = index(table);
    if (columns) {
      width_[t] /= 2;
    } else {
      rows_[t] *= 2;
    }
    std::erase_if(pieces_, [&](const Piece& piece) { return piece.table == table; });
    const Piece half{table, (*tables_)[t].hotness / rows_[t], width_[t]};
    pieces_.insert(pieces_.end(), static_cast<std::size_t>(shards(table)), half);
  }

  void sort_pieces() {
    std::vector<double> keys;
    for (const Piece& piece : pieces_) {
      const double width = rules_->widths_count ? piece.width : 1;
      keys.push_back(rules_->order_lookup_weight * width * piece.hotness +
                     rules_->order_exchange_weight * width);
    }
    std::vector<Piece> sorted;
    for (const std::size_t at : numpy_argsort_descending(keys)) sorted.push_back(pieces_[at]);
    pieces_ = std::move(sorted);
  }

  const std::vector<SplitTable>* tables_;
  const SplitRules* rules_;
  std::vector<double> rows_;   ///< row shards by table
  std::vector<double> width_;  ///< of a shard, by table
  std::vector<Piece> pieces_;
};

/// Rows or columns for the next halving: the one that places cheaper; where only one can be
/// placed, the other (as the original does).
bool prefers_columns(const Placed& rows, const Placed& columns) {
  if (rows.stuck < 0 && columns.stuck < 0) return rows.worst() > columns.worst();
  return rows.stuck < 0;
}

void split_after_success(SplitState& state, const SplitRules& rules) {
  if (!rules.columns) {
    state.split_hottest(false);
    return;
  }
  SplitState by_rows = state, by_columns = state;
  by_rows.split_hottest(false);
  by_columns.split_hottest(true);
  state.split_hottest(prefers_columns(by_rows.place(), by_columns.place()));
}

bool split_after_failure(SplitState& state, const SplitRules& rules, std::int32_t table) {
  if (!rules.columns) return state.split_stuck(table, rules.oom_splits_columns);
  SplitState by_rows = state, by_columns = state;
  const bool can = by_rows.split_stuck(table, false);
  by_columns.split_stuck(table, true);
  if (!can) return false;  // both ways double the shards: one can exactly when the other can
  // Costs of what could be placed decide, complete or not.
  const bool columns = by_rows.place().worst() > by_columns.place().worst();
  return state.split_stuck(table, columns);
}

}  // namespace

SplitResult split_search(const std::vector<SplitTable>& tables, const SplitRules& rules) {
  SplitResult result;
  SplitState state(tables, rules);
  const auto keep = [&](const Placed& placed, std::vector<std::int32_t> factors) {
    const double worst = placed.worst();
    if (result.feasible && worst >= result.cost) return;
    result.feasible = true;
    result.cost = worst;
    result.bucket_cost = placed.cost;
    result.buckets = placed.buckets;
    result.column_factors = std::move(factors);
  };
  const auto [uniform, fits] = state.everywhere();
  if (!fits) return result;
  keep(uniform, std::vector<std::int32_t>(tables.size(), 1));
  for (int round = 0; round < rules.rounds; ++round) {
    const Placed placed = state.place();
    if (placed.stuck < 0) {
      keep(placed, state.column_factors());
      split_after_success(state, rules);
    } else if (!split_after_failure(state, rules, placed.stuck)) {
      break;
    }
  }
  return result;
}

}  // namespace shardscope
