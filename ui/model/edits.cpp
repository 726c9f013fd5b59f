#include "ui/model/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace shardscope::ui {
namespace {

tl::unexpected<Error> cannot(std::string what, std::string expected, std::string cure) {
  return fail({ErrorKind::usage, std::move(what), "", std::move(expected), std::move(cure)});
}

std::size_t cell(const TablePlacement& placement, std::int32_t row, std::int32_t column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(placement.column_shards()) +
         static_cast<std::size_t>(column);
}

bool holds(const TablePlacement& placement, const ShardId& shard) {
  return placement.cluster != ClusterType::DP && shard.row >= 0 && shard.column >= 0 &&
         shard.row < placement.row_shards && shard.column < placement.column_shards();
}

tl::unexpected<Error> no_such_shard(const ShardId& shard) {
  return cannot("there is no shard " + to_string(shard), "a shard of an RB or UB table",
                "Replicated tables have no shards");
}

/// Inserts one row of the grid behind `row`, with its owners and tiers.
void repeat_row(TablePlacement& placement, std::int32_t row) {
  const auto columns = static_cast<std::ptrdiff_t>(placement.column_shards());
  const auto repeat = [&](auto& cells) {
    if (cells.empty()) return;
    const std::vector copy(cells.begin() + row * columns, cells.begin() + (row + 1) * columns);
    cells.insert(cells.begin() + (row + 1) * columns, copy.begin(), copy.end());
  };
  repeat(placement.owners);
  repeat(placement.tiers);
  ++placement.row_shards;
}

void erase_row(TablePlacement& placement, std::int32_t row) {
  const auto columns = static_cast<std::ptrdiff_t>(placement.column_shards());
  const auto erase = [&](auto& cells) {
    if (cells.empty()) return;
    cells.erase(cells.begin() + row * columns, cells.begin() + (row + 1) * columns);
  };
  erase(placement.owners);
  erase(placement.tiers);
  --placement.row_shards;
}

}  // namespace

std::string to_string(const ShardId& shard) {
  return fmt::format("({}, {}, {})", shard.table, shard.row, shard.column);
}

RowRange row_range(const Table& table, const TablePlacement& placement, std::int32_t row) {
  if (placement.mapping == RowMapping::block && !placement.row_cuts.empty()) {
    return {placement.row_cuts[static_cast<std::size_t>(row)],
            placement.row_cuts[static_cast<std::size_t>(row) + 1]};
  }
  return {0, table.rows};
}

Result<TablePlacement> move_shard(TablePlacement placement, const ShardId& shard, std::int32_t to) {
  if (!holds(placement, shard)) return no_such_shard(shard);
  placement.owners[cell(placement, shard.row, shard.column)] = to;
  return placement;
}

Result<TablePlacement> split_rows(const Table& table, TablePlacement placement,
                                  const ShardId& shard, std::int32_t parts, std::int32_t to) {
  if (!holds(placement, shard)) return no_such_shard(shard);
  if (parts < 2 || std::int64_t{placement.row_shards} * parts > table.rows) {
    return cannot(fmt::format("{} rows cannot be cut into {} shards", table.rows,
                              std::int64_t{placement.row_shards} * parts),
                  "2 parts or more, at least a row a shard", "Choose fewer parts");
  }
  if (placement.mapping == RowMapping::block) {
    const RowRange range = row_range(table, placement, shard.row);
    for (std::int32_t part = parts - 1; part >= 1; --part) {
      const std::int64_t bound = range.begin + (range.end - range.begin) * part / parts;
      auto cut = split_rows_at(table, std::move(placement), shard, bound, to);
      if (!cut) return cut;
      placement = std::move(*cut);
    }
    return placement;
  }
  // Row shard j of r becomes j, j + r, j + 2r, ...: the same rows in as many equal classes.
  const std::int32_t before = placement.row_shards;
  const std::vector<std::int32_t> owners = placement.owners;
  const std::vector<ShardTier> tiers = placement.tiers;
  placement.owners.clear();
  placement.tiers.clear();
  for (std::int32_t part = 0; part < parts; ++part) {
    placement.owners.insert(placement.owners.end(), owners.begin(), owners.end());
    placement.tiers.insert(placement.tiers.end(), tiers.begin(), tiers.end());
  }
  placement.row_shards = before * parts;
  for (std::int32_t part = 1; part < parts; ++part) {
    placement.owners[cell(placement, shard.row + before * part, shard.column)] = to;
  }
  return placement;
}

Result<TablePlacement> split_rows_at(const Table& table, TablePlacement placement,
                                     const ShardId& shard, std::int64_t bound, std::int32_t to) {
  if (!holds(placement, shard)) return no_such_shard(shard);
  if (placement.mapping == RowMapping::modulo) {
    if (placement.row_shards > 1) {
      return cannot("modulo rows are cut in equal parts only", "a table of one row shard",
                    "Split into equal parts, or choose block rows first");
    }
    placement.mapping = RowMapping::block;
    placement.row_cuts = {0, table.rows};
  }
  const RowRange range = row_range(table, placement, shard.row);
  if (bound <= range.begin || bound >= range.end) {
    return cannot(fmt::format("row {} does not cut {}:{}", bound, range.begin, range.end),
                  fmt::format("{} to {}", range.begin + 1, range.end - 1), "Choose another bound");
  }
  repeat_row(placement, shard.row);
  placement.row_cuts.insert(placement.row_cuts.begin() + shard.row + 1, bound);
  placement.owners[cell(placement, shard.row + 1, shard.column)] = to;
  return placement;
}

Result<TablePlacement> split_columns_at(const Table& table, TablePlacement placement,
                                        const ShardId& shard, std::int32_t bound, std::int32_t to) {
  if (!holds(placement, shard)) return no_such_shard(shard);
  const std::int32_t begin = placement.column_begin(shard.column);
  const std::int32_t end = begin + placement.width(shard.column);
  if (bound <= begin || bound >= end) {
    return cannot(fmt::format("column {} does not cut {}:{} of {}", bound, begin, end, table.name),
                  fmt::format("{} to {}", begin + 1, end - 1), "Choose another bound");
  }
  const std::int32_t columns = placement.column_shards();
  const auto widen = [&](auto& cells) {
    if (cells.empty()) return;
    std::remove_reference_t<decltype(cells)> wider;
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      for (std::int32_t column = 0; column < columns; ++column) {
        const auto& value = cells[static_cast<std::size_t>(row * columns + column)];
        wider.push_back(value);
        if (column == shard.column) wider.push_back(value);
      }
    }
    cells = std::move(wider);
  };
  widen(placement.owners);
  widen(placement.tiers);
  placement.column_cuts.insert(placement.column_cuts.begin() + shard.column + 1, bound);
  placement.owners[cell(placement, shard.row, shard.column + 1)] = to;
  return placement;
}

Result<TablePlacement> merge_shards(TablePlacement placement, const ShardId& shard,
                                    const ShardId& with) {
  if (!holds(placement, shard)) return no_such_shard(shard);
  if (!holds(placement, with)) return no_such_shard(with);
  const auto not_neighbours = [&] {
    return cannot(to_string(shard) + " and " + to_string(with) + " are no neighbours",
                  "two shards that differ in one cut", "Merge step by step");
  };
  if (shard.row == with.row && std::abs(shard.column - with.column) == 1) {
    const std::int32_t left = std::min(shard.column, with.column);
    const std::int32_t columns = placement.column_shards();
    std::vector<std::int32_t> owners;
    std::vector<ShardTier> tiers;
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      for (std::int32_t column = 0; column < columns; ++column) {
        // Of the pair, the cell in the column of `shard` stays.
        const std::int32_t dropped = left + left + 1 - shard.column;
        if (column == dropped) continue;
        owners.push_back(placement.owner(row, column));
        if (!placement.tiers.empty())
          tiers.push_back(placement.tiers[cell(placement, row, column)]);
      }
    }
    placement.column_cuts.erase(placement.column_cuts.begin() + left + 1);
    placement.owners = std::move(owners);
    placement.tiers = std::move(tiers);
    return placement;
  }
  if (shard.column != with.column) return not_neighbours();
  if (placement.mapping == RowMapping::block) {
    if (std::abs(shard.row - with.row) != 1) return not_neighbours();
    const std::int32_t upper = std::min(shard.row, with.row);
    erase_row(placement, with.row);
    placement.row_cuts.erase(placement.row_cuts.begin() + upper + 1);
    return placement;
  }
  // Classes j and j + r/2 of an even r are one class of r/2; the other pairs merge with them.
  const std::int32_t half = placement.row_shards / 2;
  if (placement.row_shards % 2 != 0 || std::abs(shard.row - with.row) != half) {
    return cannot("modulo shards merge in pairs that lie half the shards apart",
                  fmt::format("{} and {}", shard.row % std::max(1, half),
                              shard.row % std::max(1, half) + half),
                  "Merge the whole table instead");
  }
  const auto columns = placement.column_shards();
  const std::vector<std::int32_t> all = placement.owners;
  placement.row_shards = half;
  placement.owners.resize(static_cast<std::size_t>(half * columns));
  if (!placement.tiers.empty()) placement.tiers.resize(placement.owners.size());
  placement.owners[cell(placement, shard.row % half, shard.column)] =
      all[static_cast<std::size_t>(shard.row * columns + shard.column)];
  return placement;
}

TablePlacement merge_all(const Table& table, const TablePlacement& placement, std::int32_t to) {
  TablePlacement whole = table_wise(
      table, to, placement.cluster == ClusterType::DP ? ClusterType::RB : placement.cluster);
  whole.exchange = placement.exchange;
  whole.codecs = placement.codecs;
  return whole;
}

TablePlacement set_cluster(const Table& table, TablePlacement placement, ClusterType cluster,
                           std::int32_t to) {
  if (cluster == placement.cluster) return placement;
  if (cluster == ClusterType::DP) return data_parallel(table);
  if (placement.cluster == ClusterType::DP) return table_wise(table, to, cluster);
  placement.cluster = cluster;
  placement.exchange.reset();
  return placement;
}

std::string shard_text(const Table& table, const TablePlacement& placement, const ShardId& shard) {
  if (placement.cluster == ClusterType::DP) return fmt::format("({}) on every GPU", shard.table);
  const RowRange rows = row_range(table, placement, shard.row);
  const std::int32_t begin = placement.column_begin(shard.column);
  return fmt::format("({},{},{}) rows {}:{} cols {}:{} @{}", shard.table, shard.row, shard.column,
                     rows.begin, rows.end, begin, begin + placement.width(shard.column),
                     placement.owner(shard.row, shard.column));
}

Result<TablePlacement> apply_shard_text(const Table& table, const TablePlacement& placement,
                                        const ShardId& shard, const std::string& text,
                                        std::int32_t ranks) {
  static const std::regex kForm(
      R"(\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)\s*)"
      R"(rows\s+(\d{1,15}):(\d{1,15})\s+cols\s+(\d{1,9}):(\d{1,9})\s+@(\d{1,9})\s*)");
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) {
    return cannot("this line cannot be read", shard_text(table, placement, shard),
                  "Keep its form: (i,j,k) rows A:B cols C:D @GPU");
  }
  const auto number = [&](std::size_t i) { return std::stoll(parts[i].str()); };
  if (ShardId{static_cast<std::int32_t>(number(1)), static_cast<std::int32_t>(number(2)),
              static_cast<std::int32_t>(number(3))} != shard) {
    return cannot("the line names another shard", to_string(shard), "Select that shard first");
  }
  if (!holds(placement, shard)) return no_such_shard(shard);
  const std::int64_t owner = number(8);
  if (owner >= ranks) {
    return cannot(fmt::format("there is no owner {}", owner), fmt::format("0 to {}", ranks - 1),
                  "Choose one of them");
  }
  TablePlacement result = placement;
  const std::int32_t was = placement.owner(shard.row, shard.column);
  const auto to = static_cast<std::int32_t>(owner);
  const RowRange rows = row_range(table, placement, shard.row);
  const std::int64_t row_end = number(5);
  ShardId kept = shard;
  if (number(4) != rows.begin) {
    return cannot("a cut moves at its upper bound", fmt::format("rows {}:", rows.begin),
                  "Edit the shard before this one");
  }
  if (row_end != rows.end) {
    auto cut = split_rows_at(table, std::move(result), shard, row_end, was);
    if (!cut) return cut;
    result = std::move(*cut);
  }
  const std::int32_t begin = placement.column_begin(shard.column);
  const std::int64_t column_end = number(7);
  if (number(6) != begin || column_end > table.dim) {
    return cannot("a cut moves at its upper bound",
                  fmt::format("cols {}: at most {}", begin, table.dim),
                  "Edit the shard before this one");
  }
  if (column_end != begin + placement.width(shard.column)) {
    auto cut = split_columns_at(table, std::move(result), kept,
                                static_cast<std::int32_t>(column_end), was);
    if (!cut) return cut;
    result = std::move(*cut);
  }
  return move_shard(std::move(result), kept, to);
}

}  // namespace shardscope::ui
