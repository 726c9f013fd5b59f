#include <algorithm>

#include "layout/json.hpp"
#include "layout/json_parts.hpp"

namespace shardscope {

namespace {

constexpr std::int64_t kMostRanks = 1 << 20;

struct NamedSlot {
  const char* name;
  CodecSlot CodecSlots::*member;
};

constexpr NamedSlot kSlots[] = {
    {"forward_intra", &CodecSlots::forward_intra},
    {"forward_inter", &CodecSlots::forward_inter},
    {"backward_intra", &CodecSlots::backward_intra},
    {"backward_inter", &CodecSlots::backward_inter},
};

/// {"name", "bound", "relative"}, or the name alone.
void read_slot(JsonFields& fields, const char* name, CodecSlot& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  if (const std::string* text = value->text()) {
    out.name = *text;
    return;
  }
  JsonFields slot(fields.errors(), *value, fields.path_of(name));
  slot.text("name", out.name, Need::required);
  slot.number("bound", out.bound, Need::optional, 0, kMostDouble);
  slot.flag("relative", out.relative);
  slot.finish();
}

void read_slots(JsonFields& fields, const JsonValue& value, CodecSlots& out) {
  JsonFields slots(fields.errors(), value, fields.path_of("codecs"));
  for (const NamedSlot& one : kSlots) read_slot(slots, one.name, out.*one.member);
  slots.finish();
}

void read_clusters(JsonFields& fields, Layout& out) {
  const JsonValue* value = fields.take("clusters", Need::optional);
  if (value == nullptr) return;
  JsonFields clusters(fields.errors(), *value, fields.path_of("clusters"));
  for (std::size_t c = 0; c < out.clusters.size(); ++c) {
    const char* name = name_of(static_cast<ClusterType>(c));
    const JsonValue* one = clusters.take(name, Need::optional);
    if (one == nullptr) continue;
    JsonFields options(fields.errors(), *one, clusters.path_of(name));
    options.choice("exchange", out.clusters[c].exchange, Need::optional);
    options.flag("dedup", out.clusters[c].dedup);
    if (const JsonValue* codecs = options.take("codecs", Need::optional)) {
      read_slots(options, *codecs, out.clusters[c].codecs);
    }
    options.finish();
  }
  clusters.finish();
}

/// One entry a shard: the tier's name, or {"tier", "cache_load_factor"}.
void read_tiers(JsonFields& table, std::vector<ShardTier>& out) {
  const JsonValue::Array* tiers = table.list("tiers", Need::optional);
  if (tiers == nullptr) return;
  for (std::size_t i = 0; i < tiers->size() && !table.errors().any(); ++i) {
    const JsonValue& value = (*tiers)[i];
    const JsonValue named{JsonValue::Object{{"tier", value}}};
    JsonFields tier(table.errors(), value.text() != nullptr ? named : value,
                    table.item_path("tiers", i));
    ShardTier one;
    tier.choice("tier", one.tier, Need::required);
    tier.number("cache_load_factor", one.cache_load_factor, Need::optional, 0, 1);
    tier.finish();
    out.push_back(one);
  }
}

void read_placement(JsonFields& table, std::string& name, TablePlacement& out) {
  table.text("name", name, Need::required);
  table.choice("cluster", out.cluster, Need::required);
  table.choice("mapping", out.mapping, Need::optional);
  table.whole("row_shards", out.row_shards, Need::optional, 1, kMostInt32);
  table.whole_list("row_cuts", out.row_cuts, Need::optional, 0, kMostInt64);
  table.whole_list("column_cuts", out.column_cuts, Need::required, 0, kMostInt32);
  table.whole_list("owners", out.owners, Need::optional, 0, kMostRanks);
  read_tiers(table, out.tiers);
  if (table.has("exchange")) {
    Exchange exchange = Exchange::flat;
    table.choice("exchange", exchange, Need::optional);
    out.exchange = exchange;
  }
  if (const JsonValue* codecs = table.take("codecs", Need::optional)) {
    read_slots(table, *codecs, out.codecs.emplace());
  }
  table.finish();
}

JsonValue slots_value(const CodecSlots& slots) {
  JsonValue::Object object;
  for (const NamedSlot& one : kSlots) {
    const CodecSlot& slot = slots.*one.member;
    if (slot == CodecSlot{}) continue;
    object.emplace_back(
        one.name,
        JsonValue::Object{{"name", slot.name}, {"bound", slot.bound}, {"relative", slot.relative}});
  }
  return object;
}

JsonValue clusters_value(const Layout& layout) {
  JsonValue::Object object;
  for (std::size_t c = 0; c < layout.clusters.size(); ++c) {
    const ClusterOptions& options = layout.clusters[c];
    JsonValue::Object one{{"exchange", name_of(options.exchange)}, {"dedup", options.dedup}};
    if (!(options.codecs == CodecSlots{})) one.emplace_back("codecs", slots_value(options.codecs));
    object.emplace_back(name_of(static_cast<ClusterType>(c)), std::move(one));
  }
  return object;
}

JsonValue tiers_value(const std::vector<ShardTier>& tiers) {
  JsonValue::Array array;
  for (const ShardTier& tier : tiers) {
    if (tier == ShardTier{tier.tier}) {
      array.emplace_back(name_of(tier.tier));
    } else {
      array.emplace_back(JsonValue::Object{{"tier", name_of(tier.tier)},
                                           {"cache_load_factor", tier.cache_load_factor}});
    }
  }
  return array;
}

JsonValue placement_value(const std::string& name, const TablePlacement& placement) {
  JsonValue::Object object{{"name", name}, {"cluster", name_of(placement.cluster)}};
  put_unless(object, "row_shards", placement.row_shards, 1);
  if (placement.mapping != RowMapping::modulo) {
    object.emplace_back("mapping", name_of(placement.mapping));
  }
  if (!placement.row_cuts.empty()) object.emplace_back("row_cuts", whole_array(placement.row_cuts));
  object.emplace_back("column_cuts", whole_array(placement.column_cuts));
  if (!placement.owners.empty()) object.emplace_back("owners", whole_array(placement.owners));
  if (!placement.tiers.empty()) object.emplace_back("tiers", tiers_value(placement.tiers));
  if (placement.exchange) object.emplace_back("exchange", name_of(*placement.exchange));
  if (placement.codecs) object.emplace_back("codecs", slots_value(*placement.codecs));
  return object;
}

}  // namespace

Result<Layout> layout_from_json(std::string_view text, const std::string& place) {
  const Result<JsonValue> root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  Layout layout;
  read_format(fields, "layout", kLayoutVersion);
  fields.text("name", layout.name, Need::required);
  fields.text("parent", layout.parent, Need::optional);
  fields.text("note", layout.note, Need::optional);
  fields.whole("ranks", layout.ranks, Need::required, 1, kMostRanks);
  read_clusters(fields, layout);
  if (const JsonValue::Array* tables = fields.list("tables", Need::required)) {
    layout.tables.resize(tables->size());
    layout.table_names.resize(tables->size());
    for (std::size_t t = 0; t < tables->size() && !errors.any(); ++t) {
      JsonFields table(errors, (*tables)[t], fields.item_path("tables", t));
      read_placement(table, layout.table_names[t], layout.tables[t]);
    }
  }
  fields.finish();
  if (errors.any()) return fail(errors.first());
  return layout;
}

std::string to_json(const Layout& layout) {
  JsonValue::Object root{{"format", format_name("layout", kLayoutVersion)}, {"name", layout.name}};
  put_unless(root, "parent", layout.parent, std::string());
  put_unless(root, "note", layout.note, std::string());
  root.emplace_back("ranks", layout.ranks);
  root.emplace_back("clusters", clusters_value(layout));
  JsonValue::Array tables;
  for (std::size_t t = 0; t < std::min(layout.tables.size(), layout.table_names.size()); ++t) {
    tables.push_back(placement_value(layout.table_names[t], layout.tables[t]));
  }
  root.emplace_back("tables", std::move(tables));
  return write_json(root);
}

}  // namespace shardscope
