#include "planner/load_fields.hpp"

#include <algorithm>

namespace shardscope {

namespace {

/// Calls visit(field, scope) for every number of a LayoutLoads with one entry, in a fixed order.
template <class Loads, class Visit>
void for_each_field(Loads& loads, Visit visit) {
  const auto owner = [&](auto& load) {
    for (auto* value : {&load.gather_bytes, &load.keys, &load.reduce_bytes, &load.update_bytes,
                        &load.pieces, &load.id_lists, &load.ids_bytes, &load.flat_elements,
                        &load.domain_elements, &load.square_intra_bytes, &load.square_inter_bytes})
      visit(*value, FieldScope::rank);
    for (auto& value : load.flat_bytes) visit(value, FieldScope::rank);
    for (auto& value : load.domain_bytes) visit(value, FieldScope::rank);
    for (auto& value : load.codec_s) visit(value, FieldScope::rank);
    for (auto& value : load.domain_codec_s) visit(value, FieldScope::rank);
  };
  const auto consumer = [&](auto& load) {
    for (auto* value : {&load.keys, &load.outputs, &load.vectors, &load.lists, &load.split_keys,
                        &load.dedup_keys})
      visit(*value, FieldScope::all);
    for (auto& value : load.codec_s) visit(value, FieldScope::all);
  };
  owner(loads.rb.front());
  owner(loads.ub.front());
  auto& domain = loads.domains.front();
  visit(domain.rail_elements, FieldScope::domain);
  for (auto& value : domain.rail_bytes) visit(value, FieldScope::domain);
  for (auto& value : domain.codec_s) visit(value, FieldScope::domain);
  consumer(loads.rb_consumer);
  consumer(loads.ub_consumer);
  for (auto* value : {&loads.dp.gather_bytes, &loads.dp.keys, &loads.dp.reduce_bytes,
                      &loads.dp.update_bytes, &loads.dp.pieces, &loads.dp.allreduce_elements})
    visit(*value, FieldScope::all);
  for (auto& value : loads.tables) visit(value, FieldScope::all);
  visit(loads.flat_tables, FieldScope::all);
  visit(loads.hierarchical_tables, FieldScope::all);
}

LayoutLoads one_entry() {
  LayoutLoads loads;
  loads.rb.resize(1);
  loads.ub.resize(1);
  loads.domains.resize(1);
  return loads;
}

std::vector<FieldScope> scopes() {
  std::vector<FieldScope> result;
  LayoutLoads loads = one_entry();
  for_each_field(loads, [&](double&, FieldScope scope) { result.push_back(scope); });
  return result;
}

}  // namespace

std::size_t load_field_count() {
  static const std::size_t count = scopes().size();
  return count;
}

FieldScope load_field_scope(std::size_t field) {
  static const std::vector<FieldScope> all = scopes();
  return all[field];
}

double dot(const LoadFields& prices, const LoadFields& sums) {
  double sum = 0;
  for (std::size_t i = 0; i < prices.size(); ++i) sum += prices[i] * sums[i];
  return sum;
}

LoadFields to_fields(const LayoutLoads& loads) {
  LoadFields fields(load_field_count(), 0.0);
  LayoutLoads entry = loads;
  const std::size_t entries = std::max(loads.rb.size(), loads.domains.size());
  for (std::size_t n = 0; n < entries; ++n) {
    entry.rb.front() = n < loads.rb.size() ? loads.rb[n] : OwnerLoad{};
    entry.ub.front() = n < loads.ub.size() ? loads.ub[n] : OwnerLoad{};
    entry.domains.front() = n < loads.domains.size() ? loads.domains[n] : DomainLoad{};
    std::size_t at = 0;
    for_each_field(entry, [&](const double& value, FieldScope scope) {
      if (n == 0 || scope != FieldScope::all) fields[at] += value;
      ++at;
    });
  }
  return fields;
}

LayoutLoads mean_loads(const LoadFields& fields, const Topology& topology) {
  LayoutLoads loads = one_entry();
  std::size_t at = 0;
  for_each_field(loads, [&](double& value, FieldScope scope) {
    const double parts = scope == FieldScope::rank     ? topology.ranks()
                         : scope == FieldScope::domain ? topology.domains()
                                                       : 1;
    value = fields[at++] / parts;
  });
  return loads;
}

}  // namespace shardscope
