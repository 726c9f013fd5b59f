#include "layout/table_order.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shardscope {

void put_in_order_of(const Workload& workload, Layout& layout) {
  std::map<std::string, std::size_t> place_of;
  for (std::size_t t = 0; t < layout.table_names.size(); ++t) place_of[layout.table_names[t]] = t;
  if (place_of.size() != workload.tables.size() || layout.tables.size() != place_of.size() ||
      layout.table_names.size() != place_of.size()) {
    return;
  }
  std::vector<TablePlacement> ordered;
  std::vector<std::string> names;
  for (const Table& table : workload.tables) {
    const auto place = place_of.find(table.name);
    if (place == place_of.end()) return;
    ordered.push_back(layout.tables[place->second]);
    names.push_back(table.name);
  }
  layout.tables = std::move(ordered);
  layout.table_names = std::move(names);
}

}  // namespace shardscope
