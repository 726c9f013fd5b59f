#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "layout/closest.hpp"
#include "layout/json.hpp"
#include "layout/json_parts.hpp"

namespace shardscope {

namespace {

constexpr std::int32_t kLongestHistogram = 1 << 20;

void read_hotness(JsonFields& fields, const char* name, Hotness& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  if (value->object() == nullptr) {
    const auto length = fields.whole_of(*value, fields.path_of(name), 0, kMostInt32);
    if (length) out = Hotness::fixed(static_cast<std::int32_t>(*length));
    return;
  }
  JsonFields hotness(fields.errors(), *value, fields.path_of(name));
  out = Hotness{};
  hotness.choice("kind", out.kind, Need::required);
  hotness.whole("minimum", out.minimum, Need::required, 0, kMostInt32);
  out.maximum = out.minimum;
  if (out.kind == HotnessKind::uniform) {
    hotness.whole("maximum", out.maximum, Need::required, out.minimum, kMostInt32);
  }
  if (out.kind == HotnessKind::histogram) {
    hotness.number_list("weights", out.weights, Need::required, 0, kMostDouble);
    const std::int64_t last = out.minimum + static_cast<std::int64_t>(out.weights.size()) - 1;
    if (out.weights.empty() || out.weights.size() > kLongestHistogram || last > kMostInt32) {
      fields.errors().add(hotness.path_of("weights"),
                          fmt::format("{} weights do not belong here", out.weights.size()),
                          fmt::format("1 to {} weights", kLongestHistogram));
    } else {
      out.maximum = static_cast<std::int32_t>(last);
    }
  }
  hotness.finish();
}

/// The last bin has no upper bound, which JSON writes as null.
void read_reuse(JsonFields& ids, std::vector<ReuseBin>& out) {
  const JsonValue::Array* bins = ids.list("reuse", Need::required);
  if (bins == nullptr) return;
  for (std::size_t i = 0; i < bins->size() && !ids.errors().any(); ++i) {
    JsonFields bin(ids.errors(), (*bins)[i], ids.item_path("reuse", i));
    ReuseBin one;
    const JsonValue* bound = bin.take("reuse_at_most", Need::required);
    if (bound != nullptr && bound->is_null()) {
      one.reuse_at_most = std::numeric_limits<double>::infinity();
    } else if (bound != nullptr) {
      const auto number = bin.number_of(*bound, bin.path_of("reuse_at_most"), 1, kMostDouble);
      if (number) one.reuse_at_most = *number;
    }
    bin.number("share_of_rows", one.share_of_rows, Need::required, 0, 1);
    bin.finish();
    out.push_back(one);
  }
}

void read_ids(JsonFields& fields, const char* name, IdDistribution& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  JsonFields ids(fields.errors(), *value, fields.path_of(name));
  ids.choice("kind", out.kind, Need::required);
  ids.number("alpha", out.alpha, Need::optional, 0, 100);
  ids.choice("order", out.order, Need::optional);
  if (out.kind == IdDistributionKind::heavy_hitters) {
    ids.number_list("heavy_hitters", out.heavy_hitters, Need::required, 0, 1);
  }
  if (out.kind == IdDistributionKind::reuse_histogram) read_reuse(ids, out.reuse);
  if (out.kind == IdDistributionKind::recorded) {
    ids.text("stream", out.stream, Need::required);
    ids.text("column", out.column, Need::required);
  }
  ids.finish();
}

void read_table(JsonFields& table, Table& out) {
  table.text("name", out.name, Need::required);
  table.whole("rows", out.rows, Need::required, 0, kMostInt64);
  table.whole("dim", out.dim, Need::required, 0, kMostInt32);
  table.choice("dtype", out.dtype, Need::optional);
  read_optimizer(table, "optimizer", out.optimizer);
  table.text("module_path", out.module_path, Need::optional);
  table.finish();
}

using TableIndex = std::unordered_map<std::string, std::int32_t>;

/// Index by name; -1 for a name that two tables have.
TableIndex index_tables(const std::vector<Table>& tables) {
  TableIndex index;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto [at, fresh] = index.emplace(tables[t].name, static_cast<std::int32_t>(t));
    if (!fresh) at->second = -1;
  }
  return index;
}

/// A table's name or its index.
void read_table_reference(JsonFields& feature, const TableIndex& index, std::int32_t& out) {
  const JsonValue* value = feature.take("table", Need::required);
  if (value == nullptr) return;
  const std::string* name = value->text();
  if (name == nullptr) {
    const auto number = feature.whole_of(*value, feature.path_of("table"), 0, kMostInt32);
    if (number) out = static_cast<std::int32_t>(*number);
    return;
  }
  const auto found = index.find(*name);
  if (found != index.end() && found->second >= 0) {
    out = found->second;
    return;
  }
  std::vector<std::string> names;
  for (const auto& [known, at] : index) names.emplace_back(known);
  std::sort(names.begin(), names.end());
  feature.errors().add(feature.path_of("table"),
                       found == index.end() ? fmt::format("there is no table \"{}\"", *name)
                                            : fmt::format("two tables are named \"{}\"", *name),
                       "the name of one table of this workload, or its index",
                       found == index.end() ? did_you_mean(*name, names) : "Rename one of them");
}

void read_feature(JsonFields& feature, const TableIndex& index, Feature& out) {
  feature.text("name", out.name, Need::required);
  read_table_reference(feature, index, out.table);
  feature.choice("pooling", out.pooling, Need::optional);
  read_hotness(feature, "hotness", out.hotness);
  feature.flag("weighted", out.weighted);
  feature.whole("num_poolings", out.num_poolings, Need::optional, 0, kMostInt32);
  read_ids(feature, "ids", out.ids);
  feature.finish();
}

void read_dense(JsonFields& fields, DensePart& out) {
  const JsonValue* value = fields.take("dense", Need::optional);
  if (value == nullptr) return;
  JsonFields dense(fields.errors(), *value, fields.path_of("dense"));
  dense.choice("interaction", out.interaction, Need::required);
  dense.whole("dense_features", out.dense_features, Need::optional, 0, kMostInt32);
  dense.whole_list("bottom_mlp", out.bottom_mlp, Need::optional, 0, kMostInt32);
  dense.whole_list("top_mlp", out.top_mlp, Need::optional, 0, kMostInt32);
  dense.whole("cross_layers", out.cross_layers, Need::optional, 0, kMostInt32);
  dense.whole("cross_rank", out.cross_rank, Need::optional, 0, kMostInt32);
  read_optimizer(dense, "optimizer", out.optimizer);
  dense.finish();
}

JsonValue hotness_value(const Hotness& hotness) {
  if (hotness.kind == HotnessKind::fixed) return hotness.minimum;
  JsonValue::Object object{{"kind", name_of(hotness.kind)}, {"minimum", hotness.minimum}};
  if (hotness.kind == HotnessKind::uniform) object.emplace_back("maximum", hotness.maximum);
  if (hotness.kind == HotnessKind::histogram) {
    object.emplace_back("weights", number_array(hotness.weights));
  }
  return object;
}

JsonValue ids_value(const IdDistribution& ids) {
  JsonValue::Object object{
      {"kind", name_of(ids.kind)}, {"alpha", ids.alpha}, {"order", name_of(ids.order)}};
  if (ids.kind == IdDistributionKind::heavy_hitters) {
    object.emplace_back("heavy_hitters", number_array(ids.heavy_hitters));
  }
  if (ids.kind == IdDistributionKind::reuse_histogram) {
    JsonValue::Array bins;
    for (const ReuseBin& bin : ids.reuse) {
      bins.emplace_back(JsonValue::Object{{"reuse_at_most", bin.reuse_at_most},
                                          {"share_of_rows", bin.share_of_rows}});
    }
    object.emplace_back("reuse", std::move(bins));
  }
  if (ids.kind == IdDistributionKind::recorded) {
    object.emplace_back("stream", ids.stream);
    object.emplace_back("column", ids.column);
  }
  return object;
}

JsonValue table_value(const Table& table) {
  JsonValue::Object object{{"name", table.name},
                           {"rows", table.rows},
                           {"dim", table.dim},
                           {"dtype", name_of(table.dtype)},
                           {"optimizer", optimizer_value(table.optimizer)}};
  put_unless(object, "module_path", table.module_path, std::string());
  return object;
}

JsonValue feature_value(const Feature& feature, const Workload& workload, const TableIndex& index) {
  JsonValue table = feature.table;
  const auto t = static_cast<std::size_t>(feature.table);
  if (t < workload.tables.size() && index.at(workload.tables[t].name) == feature.table) {
    table = workload.tables[t].name;
  }
  JsonValue::Object object{{"name", feature.name},
                           {"table", std::move(table)},
                           {"pooling", name_of(feature.pooling)},
                           {"hotness", hotness_value(feature.hotness)}};
  put_unless(object, "weighted", feature.weighted, false);
  put_unless(object, "num_poolings", feature.num_poolings, 1);
  object.emplace_back("ids", ids_value(feature.ids));
  return object;
}

JsonValue dense_value(const DensePart& dense) {
  return JsonValue::Object{
      {"interaction", name_of(dense.interaction)},    {"dense_features", dense.dense_features},
      {"bottom_mlp", whole_array(dense.bottom_mlp)},  {"top_mlp", whole_array(dense.top_mlp)},
      {"cross_layers", dense.cross_layers},           {"cross_rank", dense.cross_rank},
      {"optimizer", optimizer_value(dense.optimizer)}};
}

}  // namespace

void read_workload(JsonFields& fields, Workload& out) {
  JsonErrors& errors = fields.errors();
  read_format(fields, "workload", kWorkloadVersion);
  fields.text("name", out.name, Need::required);
  fields.text("source", out.source, Need::optional);
  fields.whole("global_batch", out.global_batch, Need::required, 0, kMostInt64);
  fields.choice("key", out.key, Need::optional);
  fields.choice("wire", out.wire, Need::optional);
  fields.whole("rows_cap", out.rows_cap, Need::optional, 0, kMostInt64);
  if (const JsonValue::Array* tables = fields.list("tables", Need::required)) {
    out.tables.resize(tables->size());
    for (std::size_t t = 0; t < tables->size() && !errors.any(); ++t) {
      JsonFields table(errors, (*tables)[t], fields.item_path("tables", t));
      read_table(table, out.tables[t]);
    }
  }
  if (const JsonValue::Array* features = fields.list("features", Need::required)) {
    const TableIndex index = index_tables(out.tables);
    out.features.resize(features->size());
    for (std::size_t f = 0; f < features->size() && !errors.any(); ++f) {
      JsonFields feature(errors, (*features)[f], fields.item_path("features", f));
      read_feature(feature, index, out.features[f]);
    }
  }
  read_dense(fields, out.dense);
  fields.finish();
}

Result<Workload> workload_from_json(std::string_view text, const std::string& place) {
  const Result<JsonValue> root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  Workload workload;
  if (fields.has("format")) {
    read_workload(fields, workload);
  } else {
    read_table_list(fields, workload);
  }
  if (errors.any()) return fail(errors.first());
  return workload;
}

std::string to_json(const Workload& workload) {
  JsonValue::Object root{{"format", format_name("workload", kWorkloadVersion)},
                         {"name", workload.name},
                         {"source", workload.source},
                         {"global_batch", workload.global_batch},
                         {"key", name_of(workload.key)},
                         {"wire", name_of(workload.wire)}};
  put_unless(root, "rows_cap", workload.rows_cap, std::int64_t{0});
  JsonValue::Array tables;
  for (const Table& table : workload.tables) tables.push_back(table_value(table));
  root.emplace_back("tables", std::move(tables));
  const TableIndex index = index_tables(workload.tables);
  JsonValue::Array features;
  for (const Feature& feature : workload.features) {
    features.push_back(feature_value(feature, workload, index));
  }
  root.emplace_back("features", std::move(features));
  root.emplace_back("dense", dense_value(workload.dense));
  return write_json(root);
}

}  // namespace shardscope
