#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "layout/json_parts.hpp"

namespace shardscope {

namespace {

/// Fields that table lists carry for people, or for other programs: accepted, not interpreted.
constexpr const char* kInformation[] = {"also",
                                        "licence",
                                        "license",
                                        "note",
                                        "derived",
                                        "summary",
                                        "measured_ms_dgx_a100",
                                        "planner_defaults",
                                        "plan_table_ids_per_rank",
                                        "dp_tables",
                                        "hotness_per_rank",
                                        "rank_kernel_times"};
constexpr const char* kTableInformation[] = {"group", "sharding", "ranks"};

constexpr std::int64_t kMostTables = 1 << 16;
constexpr std::size_t kMostFeatures = std::size_t{1} << 22;

/// What all tables of a list share.
struct ListDefaults {
  Optimizer optimizer;
  Pooling pooling = Pooling::sum;
  double alpha = 1.1;
};

Feature feature_of(std::string name, std::size_t table, std::int32_t hotness,
                   const ListDefaults& defaults) {
  Feature feature;
  feature.name = std::move(name);
  feature.table = static_cast<std::int32_t>(table);
  feature.pooling = defaults.pooling;
  feature.hotness = Hotness::fixed(hotness);
  feature.ids.alpha = defaults.alpha;
  return feature;
}

/// One table and the features that read it: "features" lists their hotness, else there is one.
void add_table(JsonFields& entry, const ListDefaults& defaults, std::string name, Workload& out) {
  Table table;
  table.optimizer = defaults.optimizer;
  table.name = std::move(name);
  entry.whole("rows", table.rows, Need::required, 0, kMostInt64);
  entry.whole("dim", table.dim, Need::required, 0, kMostInt32);
  std::int32_t hotness = 1;
  entry.whole("hotness", hotness, Need::required, 0, kMostInt32);
  std::vector<std::int32_t> shared;
  entry.whole_list("features", shared, Need::optional, 0, kMostInt32);
  for (const char* ignored : kTableInformation) entry.ignore(ignored);
  entry.ignore("num_tables");
  entry.finish();
  const std::size_t index = out.tables.size();
  if (out.features.size() + shared.size() > kMostFeatures) {
    return entry.errors().add("", "the tables have too many features",
                              fmt::format("at most {}", kMostFeatures));
  }
  if (shared.size() <= 1) {
    const std::int32_t length = shared.empty() ? hotness : shared.front();
    out.features.push_back(feature_of(table.name, index, length, defaults));
  }
  for (std::size_t i = 0; shared.size() > 1 && i < shared.size(); ++i) {
    out.features.push_back(
        feature_of(fmt::format("{}.{}", table.name, i), index, shared[i], defaults));
  }
  out.tables.push_back(std::move(table));
}

void read_tables(JsonFields& fields, const ListDefaults& defaults, Workload& out) {
  const JsonValue::Array* tables = fields.list("tables", Need::required);
  if (tables == nullptr) return;
  for (std::size_t t = 0; t < tables->size() && !fields.errors().any(); ++t) {
    JsonFields entry(fields.errors(), (*tables)[t], fields.item_path("tables", t));
    std::string name;
    entry.text("name", name, Need::required);
    add_table(entry, defaults, std::move(name), out);
  }
}

/// Groups of equal tables, named t0, t1, ... through all groups.
void read_groups(JsonFields& fields, const ListDefaults& defaults, Workload& out) {
  const JsonValue::Array* groups = fields.list("groups", Need::required);
  if (groups == nullptr) return;
  for (std::size_t g = 0; g < groups->size() && !fields.errors().any(); ++g) {
    JsonFields group(fields.errors(), (*groups)[g], fields.item_path("groups", g));
    std::int64_t count = 0;
    const auto room = kMostTables - static_cast<std::int64_t>(out.tables.size());
    group.whole("num_tables", count, Need::required, 0, room);
    for (std::int64_t i = 0; i < count && !fields.errors().any(); ++i) {
      JsonFields entry(fields.errors(), (*groups)[g], fields.item_path("groups", g));
      add_table(entry, defaults, fmt::format("t{}", out.tables.size()), out);
    }
  }
}

/// Layer widths as a list, or as the text "512-256-128".
void read_widths(JsonFields& fields, const char* name, std::vector<std::int32_t>& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  const std::string* text = value->text();
  if (text == nullptr) return fields.whole_list(name, out, Need::optional, 1, kMostInt32);
  const char* at = text->data();
  const char* end = at + text->size();
  while (true) {
    std::int32_t width = 0;
    const auto [next, error] = std::from_chars(at, end, width);
    const bool separated = next == end || *next == '-';
    if (error != std::errc() || width < 1 || !separated) {
      return fields.errors().add(fields.path_of(name),
                                 fmt::format("\"{}\" does not belong here", *text),
                                 "layer widths like \"512-256-128\" or [512, 256, 128]");
    }
    out.push_back(width);
    if (next == end) return;
    at = next + 1;
  }
}

/// dot needs the bottom MLP's output and every pooled vector equally wide.
bool dot_is_possible(const Workload& workload) {
  if (workload.dense.bottom_mlp.empty()) return false;
  return std::all_of(workload.tables.begin(), workload.tables.end(), [&](const Table& table) {
    return table.dim == workload.dense.bottom_mlp.back();
  });
}

void read_dcn(JsonFields& fields, DensePart& dense) {
  const JsonValue* value = fields.take("dcn", Need::optional);
  if (value == nullptr) return;
  JsonFields dcn(fields.errors(), *value, fields.path_of("dcn"));
  dense.interaction = Interaction::dcnv2;
  dcn.whole("layers", dense.cross_layers, Need::required, 1, kMostInt32);
  dcn.whole("low_rank_dim", dense.cross_rank, Need::required, 1, kMostInt32);
  dcn.finish();
}

/// "bottom_mlp" and "top_mlp" with "dcn" or DLRM's dot (concat where widths differ), or "mlp":
/// one MLP over everything side by side, its last layer to one logit left out.
void read_dense_part(JsonFields& fields, Workload& out) {
  DensePart& dense = out.dense;
  const JsonValue* bottom = fields.peek("bottom_mlp");
  fields.whole("dense_features", dense.dense_features, Need::optional, 0, kMostInt32);
  read_widths(fields, "bottom_mlp", dense.bottom_mlp);
  read_widths(fields, "top_mlp", dense.top_mlp);
  // In DLRM's own text form the first width of the bottom MLP is the number of dense inputs.
  if (bottom != nullptr && bottom->text() != nullptr && !fields.has("dense_features") &&
      !dense.bottom_mlp.empty()) {
    dense.dense_features = dense.bottom_mlp.front();
    dense.bottom_mlp.erase(dense.bottom_mlp.begin());
  }
  std::vector<std::int32_t> single;
  read_widths(fields, "mlp", single);
  read_dcn(fields, dense);
  if (!single.empty()) {
    dense.interaction = Interaction::concat;
    dense.top_mlp = single;
    dense.top_mlp.push_back(1);
  } else if (!dense.top_mlp.empty() && dense.interaction == Interaction::none) {
    dense.interaction = dot_is_possible(out) ? Interaction::dot : Interaction::concat;
  }
}

/// A number, or a list of the batches that were run: then the first. Absent: 0, which a check
/// reports, or "batch_per_rank" times "world_size".
void read_batch(JsonFields& fields, Workload& out) {
  const JsonValue* value = fields.take("global_batch", Need::optional);
  std::int64_t per_rank = 0;
  std::int64_t ranks = 0;
  fields.whole("batch_per_rank", per_rank, Need::optional, 0, kMostInt32);
  fields.whole("world_size", ranks, Need::optional, 0, kMostInt32);
  out.global_batch = per_rank * ranks;
  if (value == nullptr) return;
  const JsonValue::Array* batches = value->array();
  const JsonValue& first = batches != nullptr && !batches->empty() ? batches->front() : *value;
  const auto batch = fields.whole_of(first, fields.path_of("global_batch"), 0, kMostInt64);
  if (batch) out.global_batch = *batch;
}

}  // namespace

void read_table_list(JsonFields& fields, Workload& out) {
  const bool grouped = !fields.has("tables") && fields.has("groups");
  if (!grouped && !fields.has("tables")) {
    return fields.errors().add("", "neither a workload nor a table list",
                               "\"format\": \"shardscope.workload/1\", or a list \"tables\" or "
                               "\"groups\"");
  }
  ListDefaults defaults;
  fields.text("name", out.name, Need::required);
  fields.text("source", out.source, Need::optional);
  read_optimizer(fields, "optimizer", defaults.optimizer);
  fields.choice("combiner", defaults.pooling, Need::optional);
  fields.number("alpha", defaults.alpha, Need::optional, 0, 100);
  out.dense.optimizer = defaults.optimizer;
  read_batch(fields, out);
  if (grouped) {
    read_groups(fields, defaults, out);
  } else {
    fields.ignore("groups");
    read_tables(fields, defaults, out);
  }
  read_dense_part(fields, out);
  for (const char* ignored : kInformation) fields.ignore(ignored);
  fields.finish();
}

}  // namespace shardscope
