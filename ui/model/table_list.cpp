#include "ui/model/table_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kOwnersListed = 4;

double sort_key(const TableRow& row, TableColumn column) {
  switch (column) {
    case TableColumn::table:
      return row.table;
    case TableColumn::rows:
      return row.rows;
    case TableColumn::hot:
      return row.hot;
    case TableColumn::uniq:
      return row.uniq;
    case TableColumn::gib:
      return row.bytes;
    case TableColumn::cost:
      return row.cost_s;
    case TableColumn::shards:
      return row.shards;
  }
  return 0;
}

FilteredTable filtered(const TableRow& row) {
  return {row.name,
          row.cluster,
          row.rows,
          0,
          row.hot,
          row.uniq * 100,
          row.bytes / kGiB,
          row.cost_s * 1e3,
          static_cast<double>(row.shards),
          &row.owners};
}

/// Groups from the costliest kind of wire to none.
constexpr std::array kGroupOrder = {ClusterType::RB, ClusterType::UB, ClusterType::DP};

}  // namespace

std::string owners_text(const std::vector<std::int32_t>& owners, std::int32_t ranks,
                        std::string_view word) {
  if (owners.size() == 1) return fmt::format("{} {}", word, owners[0]);
  if (static_cast<std::int32_t>(owners.size()) == ranks) return fmt::format("all {}", ranks);
  if (owners.size() > kOwnersListed) return fmt::format("{} {}s", owners.size(), word);
  return fmt::format("{}", fmt::join(owners, " "));
}

void TableList::update(const Document& document) {
  if (version_ == document.version()) return;
  version_ = document.version();
  const Layout& layout = *document.shown().layout;
  const std::vector<Table>& tables = document.workload().tables;
  rows_.clear();
  groups_ = {};
  largest_cost_s_ = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    const TableFacts& facts = document.costs().facts(t);
    TableRow row;
    row.table = static_cast<std::int32_t>(t);
    row.cluster = placement.cluster;
    row.name = tables[t].name;
    row.rows = static_cast<double>(tables[t].rows);
    row.hot = facts.keys;
    row.uniq = facts.batch_keys > 0 ? facts.batch_unique / facts.batch_keys : 0;
    row.bytes = table_bytes(tables[t]);
    row.cost_s = load_seconds(document.costs().table(layout, t));
    if (placement.cluster == ClusterType::DP) {
      row.shards = 1;
      row.where = fmt::format("×{}", layout.ranks);
    } else {
      row.owners = placement.owners;
      row.shards = static_cast<std::int32_t>(row.owners.size());
      std::sort(row.owners.begin(), row.owners.end());
      row.owners.erase(std::unique(row.owners.begin(), row.owners.end()), row.owners.end());
      row.where = owners_text(row.owners, layout.ranks, gpu_word(document.topology()));
    }
    TableGroup& group = groups_[static_cast<std::size_t>(row.cluster)];
    ++group.tables;
    group.cost_s += row.cost_s;
    largest_cost_s_ = std::max(largest_cost_s_, row.cost_s);
    rows_.push_back(std::move(row));
  }
}

const std::vector<TableLine>& TableList::lines(const TableSort& sort, const TableFilter& filter,
                                               bool grouped,
                                               const std::array<bool, kClusterTypes>& closed) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (filter.matches(filtered(rows_[i]))) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double left = sort_key(rows_[a], sort.column);
    const double right = sort_key(rows_[b], sort.column);
    return sort.descending ? left > right : left < right;
  });
  lines_.clear();
  if (!grouped) {
    for (const std::size_t i : order) lines_.push_back({false, rows_[i].cluster, i});
    return lines_;
  }
  for (const ClusterType cluster : kGroupOrder) {
    if (group(cluster).tables == 0) continue;
    lines_.push_back({true, cluster, 0});
    if (closed[static_cast<std::size_t>(cluster)]) continue;
    for (const std::size_t i : order) {
      if (rows_[i].cluster == cluster) lines_.push_back({false, cluster, i});
    }
  }
  return lines_;
}

std::string TableList::text() const {
  std::string result = "table\tcluster\trows\thot\tuniq\tbytes\tcost ms\tshards\n";
  for (const TableLine& line : lines_) {
    if (line.heading) continue;
    const TableRow& row = rows_[line.row];
    result += fmt::format("{}\t{}\t{:.0f}\t{:g}\t{:.4f}\t{:.0f}\t{:.4f}\t{}\n", row.name,
                          shardscope::to_string(row.cluster), row.rows, row.hot, row.uniq,
                          row.bytes, row.cost_s * 1e3, row.where);
  }
  return result;
}

}  // namespace shardscope::ui
