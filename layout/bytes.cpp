#include "layout/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layout/dense_sizes.hpp"
#include "layout/memory.hpp"
#include "layout/messages.hpp"
#include "layout/routes.hpp"

namespace shardscope {

namespace {

void raise_lists(std::vector<std::vector<std::int64_t>>& into,
                 const std::vector<std::vector<std::int64_t>>& counts) {
  into.resize(std::max(into.size(), counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    into[i].resize(std::max(into[i].size(), counts[i].size()));
    for (std::size_t n = 0; n < counts[i].size(); ++n)
      into[i][n] = std::max(into[i][n], counts[i][n]);
  }
}

/// Adds up what every rank sends; bytes to itself do not travel.
class TrafficCounter {
 public:
  TrafficCounter(const Topology& topology, std::vector<RankTraffic>& traffic)
      : topology_(topology), traffic_(traffic) {}

  void send(Stage stage, Work work, std::int32_t from, std::int32_t to, std::int64_t bytes) {
    const LinkClass link = topology_.link(from, to);
    if (link == LinkClass::self) return;
    LinkBytes& sent = traffic_[static_cast<std::size_t>(from)]
                          .sent[static_cast<std::size_t>(stage)][static_cast<std::size_t>(work)];
    std::int64_t& sum = link == LinkClass::intra ? sent.intra : sent.inter;
    sum = saturating_add(sum, bytes);
  }

 private:
  const Topology& topology_;
  std::vector<RankTraffic>& traffic_;
};

void count_input_dist(TrafficCounter& counter, const Messages& messages, const Routes& routes,
                      std::int32_t ranks) {
  for (std::int32_t from = 0; from < ranks; ++from) {
    for (std::int32_t to = 0; to < ranks; ++to) {
      if (routes.rb_count_slots > 0) {
        counter.send(Stage::input_dist, Work::RB, from, to,
                     8 * std::int64_t{routes.rb_count_slots} + messages.rb_ids(from, to));
      }
      if (routes.ub_count_slots > 0) {
        counter.send(Stage::input_dist, Work::UB, from, to,
                     8 * std::int64_t{routes.ub_count_slots} + messages.ub_ids(from, to));
      }
    }
  }
}

void count_direct_vectors(TrafficCounter& counter, const Messages& messages, std::int32_t ranks) {
  for (std::int32_t consumer = 0; consumer < ranks; ++consumer) {
    for (std::int32_t owner = 0; owner < ranks; ++owner) {
      const std::int64_t rb = messages.rb_flat(consumer, owner);
      counter.send(Stage::network_forward, Work::RB, owner, consumer, rb);
      counter.send(Stage::network_backward, Work::RB, consumer, owner, rb);
      const std::int64_t ub = messages.ub_rows(consumer, owner);
      counter.send(Stage::network_forward, Work::UB, owner, consumer, ub);
      counter.send(Stage::network_backward, Work::UB, consumer, owner, ub);
    }
  }
}

void count_hierarchical_vectors(TrafficCounter& counter, const Messages& messages,
                                const Topology& topology) {
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    const std::int32_t domain = topology.domain_of(rank);
    for (std::int32_t rail = 0; rail < topology.fast_domain; ++rail) {
      const std::int32_t peer = domain * topology.fast_domain + rail;
      const std::int64_t bytes = messages.rb_domain(rank, rail);
      counter.send(Stage::network_forward, Work::RB, rank, peer, bytes);
      counter.send(Stage::network_backward, Work::RB, peer, rank, bytes);
    }
    for (std::int32_t other = 0; other < topology.domains(); ++other) {
      const std::int32_t peer = other * topology.fast_domain + topology.rail_of(rank);
      const std::int64_t bytes = messages.rb_rail(rank, other);
      counter.send(Stage::network_forward, Work::RB, peer, rank, bytes);
      counter.send(Stage::network_backward, Work::RB, rank, peer, bytes);
    }
  }
}

/// Peer p reduces the p-th of equal chunks, so it sends its inputs of all other chunks and then its
/// reduced chunk to all.
void count_all_reduce(TrafficCounter& counter, Work work, std::int64_t elements,
                      std::int32_t ranks) {
  if (elements <= 0) return;
  const auto chunk = [&](std::int32_t peer) {
    return elements / ranks + (peer < elements % ranks ? 1 : 0);
  };
  for (std::int32_t from = 0; from < ranks; ++from) {
    for (std::int32_t to = 0; to < ranks; ++to) {
      counter.send(Stage::allreduce, work, from, to,
                   saturating_multiply(chunk(to) + chunk(from), 4));
    }
  }
}

void count_square_sums(TrafficCounter& counter, const Workload& workload, const Layout& layout,
                       const BatchCounts& counts) {
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      if (!shares_square_sums(workload.tables[t], placement, row)) continue;
      const std::vector<std::int32_t> owners = owners_of_row(placement, row);
      const std::int64_t bytes =
          saturating_multiply(counts.unique[t][static_cast<std::size_t>(row)], 4);
      for (const std::int32_t from : owners) {
        for (const std::int32_t to : owners) {
          counter.send(Stage::update, work_of(placement.cluster), from, to, bytes);
        }
      }
    }
  }
}

/// Fills expected_counts table by table.
class Expectation {
 public:
  Expectation(const Workload& workload, const Layout& layout)
      : workload_(workload), layout_(layout), ranks_(layout.ranks) {
    counts_.ids.resize(workload.features.size());
    counts_.requests.resize(workload.tables.size());
    counts_.unique.resize(workload.tables.size());
  }

  void open(std::size_t table) {
    const auto row_shards = static_cast<std::size_t>(this->row_shards(table));
    counts_.unique[table].resize(row_shards);
    if (layout_.tables[table].cluster != ClusterType::UB) return;
    counts_.requests[table].resize(static_cast<std::size_t>(ranks_) * row_shards);
  }

  void add(std::size_t f) {
    const Feature& feature = workload_.features[f];
    const auto t = static_cast<std::size_t>(feature.table);
    const std::int32_t row_shards = this->row_shards(t);
    counts_.ids[f].resize(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(row_shards));
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      const double ids =
          static_cast<double>(bags_of_rank(workload_, f, rank, ranks_)) * feature.hotness.mean();
      for (std::int32_t row = 0; row < row_shards; ++row) {
        const auto count = static_cast<std::int64_t>(std::ceil(ids * share(t, row)));
        const auto at = static_cast<std::size_t>(rank * row_shards + row);
        counts_.ids[f][at] = count;
        counts_.unique[t][static_cast<std::size_t>(row)] += count;
        if (!counts_.requests[t].empty()) counts_.requests[t][at] += count;
      }
    }
  }

  /// Nothing is distinct more often than there are rows.
  void limit(std::size_t table) {
    const std::int32_t row_shards = this->row_shards(table);
    for (std::int32_t row = 0; row < row_shards; ++row) {
      std::int64_t& unique = counts_.unique[table][static_cast<std::size_t>(row)];
      unique = std::min(unique, rows(table, row));
      if (counts_.requests[table].empty() || !layout_.options(ClusterType::UB).dedup) continue;
      for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        std::int64_t& asked =
            counts_.requests[table][static_cast<std::size_t>(rank * row_shards + row)];
        asked = std::min(asked, rows(table, row));
      }
    }
  }

  [[nodiscard]] BatchCounts take() { return std::move(counts_); }

 private:
  [[nodiscard]] std::int32_t row_shards(std::size_t table) const {
    const TablePlacement& placement = layout_.tables[table];
    return placement.cluster == ClusterType::DP ? 1 : placement.row_shards;
  }
  [[nodiscard]] std::int64_t rows(std::size_t table, std::int32_t row) const {
    const TablePlacement& placement = layout_.tables[table];
    const std::int64_t all = workload_.tables[table].rows;
    return placement.cluster == ClusterType::DP ? all : placement.rows_in(row, all);
  }
  [[nodiscard]] double share(std::size_t table, std::int32_t row) const {
    const auto all = static_cast<double>(workload_.tables[table].rows);
    return all > 0 ? static_cast<double>(rows(table, row)) / all : 0;
  }

  const Workload& workload_;
  const Layout& layout_;
  std::int32_t ranks_;
  BatchCounts counts_;
};

}  // namespace

void raise_to(BatchCounts& into, const BatchCounts& counts) {
  raise_lists(into.ids, counts.ids);
  raise_lists(into.requests, counts.requests);
  raise_lists(into.unique, counts.unique);
}

BatchCounts expected_counts(const Workload& workload, const Layout& layout) {
  Expectation expectation(workload, layout);
  for (std::size_t t = 0; t < workload.tables.size(); ++t) expectation.open(t);
  for (std::size_t f = 0; f < workload.features.size(); ++f) expectation.add(f);
  for (std::size_t t = 0; t < workload.tables.size(); ++t) expectation.limit(t);
  return expectation.take();
}

std::int64_t dp_gradient_elements(const Workload& workload, const Layout& layout) {
  std::int64_t elements = 0;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    if (layout.tables[t].cluster != ClusterType::DP) continue;
    const Table& table = workload.tables[t];
    elements =
        saturating_add(elements, saturating_multiply(table.rows, std::int64_t{table.dim} + 1));
  }
  return elements;
}

LinkBytes RankTraffic::total() const {
  LinkBytes sum;
  for (const auto& works : sent) {
    for (const LinkBytes& bytes : works) {
      sum.intra = saturating_add(sum.intra, bytes.intra);
      sum.inter = saturating_add(sum.inter, bytes.inter);
    }
  }
  return sum;
}

std::vector<RankTraffic> traffic_of(const Workload& workload, const Topology& topology,
                                    const Layout& layout, const BatchCounts& counts) {
  const std::int32_t ranks = topology.ranks();
  std::vector<RankTraffic> traffic(static_cast<std::size_t>(ranks));
  const Routes routes = routes_of(workload, topology, layout);
  const Messages messages(workload, topology, layout, routes, counts);
  TrafficCounter counter(topology, traffic);
  count_input_dist(counter, messages, routes, ranks);
  count_direct_vectors(counter, messages, ranks);
  count_hierarchical_vectors(counter, messages, topology);
  count_square_sums(counter, workload, layout, counts);
  count_all_reduce(counter, Work::DP, dp_gradient_elements(workload, layout), ranks);
  count_all_reduce(counter, Work::dense, dense_sizes(workload, 0).parameters, ranks);
  return traffic;
}

}  // namespace shardscope
