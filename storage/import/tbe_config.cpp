#include "storage/import/tbe_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "storage/import/hugectr/literal.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int64_t kMostTables = 1 << 16;
/// Of all configurations together.
constexpr std::size_t kMostTbeEntries = std::size_t{1} << 20;
constexpr double kMostTbeRows = 1e15;
constexpr double kMostNarrow = 2147483647;

std::optional<double> number_of(const JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&value->data)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&value->data)) return *real;
  return std::nullopt;
}

/// Entry `i` of a list, or the value itself; the other name's where the first is absent or null.
std::optional<double> entry_of(const JsonValue* list, const JsonValue* single, std::size_t i) {
  for (const JsonValue* value : {list, single}) {
    if (value == nullptr || value->is_null()) continue;
    const JsonValue::Array* items = value->array();
    if (items == nullptr) return number_of(value);
    if (i < items->size()) return number_of(&(*items)[i]);
    if (items->size() == 1) return number_of(&items->front());
  }
  return std::nullopt;
}

const JsonValue* field(const JsonValue* value, const char* name) {
  return value == nullptr ? nullptr : value->find(name);
}

std::optional<Table> table_with(std::optional<double> rows, std::optional<double> dim,
                                std::size_t index) {
  if (!rows || !dim || *rows < 1 || *rows > kMostTbeRows || *dim < 1 || *dim > kMostNarrow) {
    return std::nullopt;
  }
  Table table;
  table.name = fmt::format("t{}", index);
  table.rows = std::llround(*rows);
  table.dim = static_cast<std::int32_t>(std::llround(*dim));
  table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad);
  return table;
}

/// Zipf and heavy hitters of one feature.
IdDistribution ids_of(const JsonValue* parameters) {
  constexpr std::size_t kMostHitters = 100;
  IdDistribution ids;
  const double alpha = number_of(field(parameters, "zipf_s")).value_or(1.1);
  ids.alpha = alpha >= 0 && alpha <= 100 ? alpha : 1.1;
  const JsonValue* hitters = field(parameters, "heavy_hitters");
  if (hitters == nullptr || hitters->array() == nullptr) return ids;
  double sum = 0;
  for (const JsonValue& one : *hitters->array()) {
    const double share = number_of(&one).value_or(0);
    if (share <= 0 || sum + share > 1 || ids.heavy_hitters.size() >= kMostHitters) break;
    sum += share;
    ids.heavy_hitters.push_back(share);
  }
  if (!ids.heavy_hitters.empty()) ids.kind = IdDistributionKind::heavy_hitters;
  return ids;
}

class TbeConfig {
 public:
  TbeConfig(const JsonValue& root, ImportNotes& notes) : root_(root), notes_(notes) {}

  std::optional<Workload> read(std::size_t index) {
    workload_.name = fmt::format("tbe-{}", index + 1);
    workload_.source = notes_.file();
    const JsonValue* specs = root_.find("embedding_specs");
    const bool listed = specs != nullptr && specs->array() != nullptr && !specs->array()->empty();
    find_first_features(listed);
    const double count = listed                     ? static_cast<double>(specs->array()->size())
                         : !first_features_.empty() ? static_cast<double>(first_features_.size())
                                                    : number_of(root_.find("T")).value_or(0);
    if (count < 1 || count > static_cast<double>(kMostTables)) {
      notes_.warn(0, "a configuration without tables is left out", "T >= 1");
      return std::nullopt;
    }
    for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
      const JsonValue* spec = listed ? &(*specs->array())[t] : nullptr;
      const std::size_t at = first_features_.empty() ? t : first_features_[t];
      const auto rows =
          listed ? entry_of(spec, nullptr, 0) : entry_of(root_.find("Es"), root_.find("E"), at);
      const auto dim =
          listed ? entry_of(spec, nullptr, 1) : entry_of(root_.find("Ds"), root_.find("D"), at);
      auto table = table_with(rows, dim, t);
      if (!table) {
        notes_.warn(0,
                    fmt::format("table {} has no rows or no dim; the configuration is left out", t),
                    "E and D, Es and Ds, or embedding_specs");
        return std::nullopt;
      }
      workload_.tables.push_back(std::move(*table));
    }
    read_features();
    note_assumptions();
    if (!listed) note_means();
    return std::move(workload_);
  }

 private:
  [[nodiscard]] const JsonValue::Array* list_of(const char* name) const {
    const JsonValue* value = root_.find(name);
    const JsonValue::Array* items = value == nullptr ? nullptr : value->array();
    return items == nullptr || items->empty() ? nullptr : items;
  }

  /// T, Es and Ds count features. Where several read a table its sizes are those of its first
  /// feature.
  void find_first_features(bool listed) {
    const JsonValue::Array* map = list_of("feature_table_map");
    if (listed || map == nullptr || map->size() > static_cast<std::size_t>(kMostTables)) return;
    std::vector<std::optional<std::size_t>> first(map->size());
    std::size_t tables = 0;
    for (std::size_t f = 0; f < map->size(); ++f) {
      const double table = number_of(&(*map)[f]).value_or(-1);
      if (table < 0 || table >= static_cast<double>(map->size())) continue;
      const auto index = static_cast<std::size_t>(table);
      tables = std::max(tables, index + 1);
      if (!first[index]) first[index] = f;
    }
    const JsonValue::Array* rows = list_of("Es");
    const bool by_table = rows != nullptr && rows->size() == tables;
    for (std::size_t t = 0; t < tables; ++t) {
      first_features_.push_back(by_table ? t : first[t].value_or(t));
    }
  }

  /// Sizes that the file gives as means only.
  void note_means() {
    const JsonValue* mixed = root_.find("mixed_dim");
    if (mixed != nullptr && *mixed == JsonValue(true) && list_of("Ds") == nullptr) {
      notes_.warn(0, workload_.name + ": the dims are mixed but not listed; their mean D is taken",
                  "Ds or embedding_specs");
    }
  }

  void read_features() {
    const JsonValue* map = root_.find("feature_table_map");
    const bool mapped = map != nullptr && map->array() != nullptr && !map->array()->empty();
    const std::size_t count = mapped ? map->array()->size() : workload_.tables.size();
    const JsonValue* batch = root_.find("batch_params");
    const JsonValue* pooling = root_.find("pooling_params");
    const JsonValue* list = root_.find("indices_params_list");
    const JsonValue* weighted = root_.find("weighted");
    const bool is_weighted = weighted != nullptr && std::holds_alternative<bool>(weighted->data) &&
                             std::get<bool>(weighted->data);
    double most_batch = 1;
    for (std::size_t f = 0; f < std::min(count, static_cast<std::size_t>(kMostTables)); ++f) {
      most_batch =
          std::max(most_batch, entry_of(field(batch, "Bs"), field(batch, "B"), f).value_or(1));
    }
    workload_.global_batch = std::llround(std::min(most_batch, 1e9));
    for (std::size_t f = 0; f < std::min(count, static_cast<std::size_t>(kMostTables)); ++f) {
      Feature feature;
      const double table =
          mapped ? number_of(&(*map->array())[f]).value_or(-1) : static_cast<double>(f);
      if (table < 0 || table >= static_cast<double>(workload_.tables.size())) {
        notes_.warn(0, fmt::format("feature {} reads no table and is left out", f),
                    "feature_table_map of table indices");
        continue;
      }
      feature.table = static_cast<std::int32_t>(table);
      feature.name = mapped ? fmt::format("f{}", f) : fmt::format("t{}", f);
      feature.weighted = is_weighted;
      const double bags = entry_of(field(batch, "Bs"), field(batch, "B"), f).value_or(most_batch);
      const double length = entry_of(field(pooling, "Ls"), field(pooling, "L"), f).value_or(1);
      if (bags < most_batch) ++smaller_batches_;
      feature.hotness = hotness_with_mean(length * bags / most_batch);
      const bool own = list != nullptr && list->array() != nullptr && f < list->array()->size();
      const JsonValue* parameters = own ? &(*list->array())[f] : root_.find("indices_params");
      feature.ids = ids_of(parameters);
      shift_ = std::max(shift_, number_of(field(parameters, "zipf_q")).value_or(1));
      const JsonValue* type = field(parameters, "index_dtype");
      if (type != nullptr && type->text() != nullptr && type->text()->ends_with("int64")) {
        workload_.key = KeyType::i64;
      }
      workload_.features.push_back(std::move(feature));
    }
  }

  void note_assumptions() {
    notes_.kept(fmt::format("{}: {} tables, {} features, {} bags a feature", workload_.name,
                            workload_.tables.size(), workload_.features.size(),
                            workload_.global_batch));
    notes_.warn(0, workload_.name +
                       ": weight precision and optimizer are not in the file; fp32 and "
                       "row-wise adagrad are taken");
    if (smaller_batches_ > 0) {
      notes_.warn(0,
                  fmt::format("{}: {} features have a smaller batch of their own; their bags are "
                              "shortened so that the ids of an iteration stay the same",
                              workload_.name, smaller_batches_));
    }
    for (const auto& [part, name, what] : {std::tuple{"pooling_params", "sigma_L", "bag lengths"},
                                           std::tuple{"batch_params", "sigma_B", "batches"}}) {
      const double sigma = number_of(field(root_.find(part), name)).value_or(0);
      if (sigma > 0) {
        notes_.warn(0, fmt::format("{}: {} vary ({} = {:.4g}); their means are taken",
                                   workload_.name, what, name, sigma));
      }
    }
    if (shift_ > 1) {
      notes_.warn(0, fmt::format("{}: Zipf's shift q = {:.4g} is taken as 1: the first rows become "
                                 "more popular than measured",
                                 workload_.name, shift_));
    }
  }

  const JsonValue& root_;
  ImportNotes& notes_;
  Workload workload_;
  std::vector<std::size_t> first_features_;  ///< by table; empty: a table a feature
  std::int64_t smaller_batches_ = 0;
  double shift_ = 1;
};

/// Arguments {name: value} of a benchmark's build or input.
const JsonValue* argument(const JsonValue& call, const char* name) {
  const JsonValue* args = call.find("args");
  if (args != nullptr && args->array() != nullptr) {
    for (const JsonValue& one : *args->array()) {
      const JsonValue* own = one.find("name");
      if (own != nullptr && own->text() != nullptr && *own->text() == name) {
        return one.find("value");
      }
    }
  }
  const JsonValue* kwargs = call.find("kwargs");
  const JsonValue* named = field(kwargs, name);
  return named == nullptr ? nullptr : named->find("value");
}

std::string text_argument(const JsonValue& call, const char* name) {
  const JsonValue* value = argument(call, name);
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}

OptimizerKind optimizer_named(const std::string& name) {
  if (name.find("row_wise_adagrad") != std::string::npos) return OptimizerKind::rowwise_adagrad;
  if (name.find("adagrad") != std::string::npos) return OptimizerKind::adagrad;
  if (name.find("adam") != std::string::npos) return OptimizerKind::adam;
  return OptimizerKind::sgd;
}

std::optional<Workload> operator_workload(const JsonValue& build, const JsonValue& input,
                                          std::size_t index, ImportNotes& notes) {
  Workload workload;
  workload.name = fmt::format("tbe-op-{}", index + 1);
  workload.source = notes.file();
  const double count = number_of(argument(build, "num_tables")).value_or(1);
  const double batch = number_of(argument(input, "batch_size")).value_or(0);
  if (count < 1 || count > static_cast<double>(kMostTables) || batch < 1 || batch > 1e9) {
    notes.warn(0, fmt::format("configuration {} has no tables or batch and is left out", index + 1),
               "num_tables and batch_size");
    return std::nullopt;
  }
  workload.global_batch = std::llround(batch);
  const double mode = number_of(argument(build, "pooling")).value_or(0);
  const JsonValue* weighted = argument(build, "weighted");
  const std::string precision = text_argument(build, "weights_precision");
  const OptimizerKind optimizer = optimizer_named(text_argument(build, "optimizer"));
  for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
    auto table = table_with(entry_of(argument(build, "rows"), nullptr, t),
                            entry_of(argument(build, "dim"), nullptr, t), t);
    if (!table) {
      notes.warn(0, fmt::format("configuration {}: table {} has no rows or dim", index + 1, t),
                 "rows and dim as numbers or lists");
      return std::nullopt;
    }
    table->dtype = precision == "fp16"   ? DType::fp16
                   : precision == "bf16" ? DType::bf16
                                         : DType::fp32;
    table->optimizer = make_optimizer(optimizer);
    Feature feature;
    feature.name = table->name;
    feature.table = static_cast<std::int32_t>(t);
    feature.pooling = mode == 1 ? Pooling::mean : mode == 2 ? Pooling::sequence : Pooling::sum;
    feature.weighted =
        weighted != nullptr && *weighted == JsonValue(true) && is_pooled(feature.pooling);
    feature.hotness =
        hotness_with_mean(entry_of(argument(input, "pooling_factor"), nullptr, t).value_or(1));
    workload.tables.push_back(std::move(*table));
    workload.features.push_back(std::move(feature));
  }
  notes.kept(fmt::format("{}: {} tables, batch {}", workload.name, workload.tables.size(),
                         workload.global_batch));
  return workload;
}

/// {"OperatorName": {"config": [{"build": [...], "input": [...]}]}}: every build with every input.
void read_operators(const JsonValue& root, ImportNotes& notes, std::vector<Workload>& out) {
  constexpr std::size_t kMostWorkloads = 1024;
  const JsonValue::Object* operators = root.object();
  std::size_t tables = 0;
  for (std::size_t o = 0; operators != nullptr && o < operators->size(); ++o) {
    const JsonValue* configs = (*operators)[o].second.find("config");
    if (configs == nullptr || configs->array() == nullptr) continue;
    for (const JsonValue& config : *configs->array()) {
      const JsonValue* builds = config.find("build");
      const JsonValue* inputs = config.find("input");
      if (builds == nullptr || inputs == nullptr || builds->array() == nullptr ||
          inputs->array() == nullptr) {
        notes.warn(0, "a configuration without build and input is left out", "both lists");
        continue;
      }
      for (const JsonValue& build : *builds->array()) {
        for (const JsonValue& input : *inputs->array()) {
          if (out.size() >= kMostWorkloads || tables > kMostTbeEntries) {
            return notes.warn(0, "the rest of the configurations is left out",
                              "at most 1024 with a million tables together");
          }
          auto workload = operator_workload(build, input, out.size(), notes);
          if (!workload) continue;
          tables += workload->tables.size();
          out.push_back(std::move(*workload));
        }
      }
    }
  }
}

bool is_data_config(const JsonValue& value) {
  return value.find("T") != nullptr || value.find("embedding_specs") != nullptr;
}

}  // namespace

Hotness hotness_with_mean(double mean) {
  constexpr double kMost = 1e9;
  mean = std::isfinite(mean) ? std::clamp(mean, 0.0, kMost) : 0;
  const double low = std::floor(mean);
  const double rest = mean - low;
  const auto minimum = static_cast<std::int32_t>(low);
  if (rest < 1e-9) return Hotness::fixed(minimum);
  return {HotnessKind::histogram, minimum, minimum + 1, {1 - rest, rest}};
}

Result<std::vector<Workload>> read_tbe_configs(std::string_view text, ImportNotes& notes) {
  std::vector<Workload> out;
  // Reporters append configurations: several roots may follow each other.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_of("{[", at);
    if (begin == std::string_view::npos) break;
    const Result<Literal> root = parse_literal(text, begin, notes.file());
    if (!root) {
      if (out.empty()) return fail(root.error());
      notes.warn(static_cast<std::int64_t>(line_of(text, begin)),
                 "the rest of the file is left out: " + root.error().what, root.error().expected);
      break;
    }
    std::vector<const JsonValue*> values = {&root->value};
    if (const JsonValue::Array* items = root->value.array()) {
      values.clear();
      for (const JsonValue& item : *items) values.push_back(&item);
    }
    for (const JsonValue* value : values) {
      if (!is_data_config(*value)) {
        read_operators(*value, notes, out);
      } else if (auto workload = TbeConfig(*value, notes).read(out.size())) {
        out.push_back(std::move(*workload));
      }
    }
    at = root->end;
  }
  if (!out.empty()) return out;
  return fail({ErrorKind::usage, "it has no table-batched-embedding configuration", notes.file(),
               "TBEDataConfig JSON (T, E, D, batch_params, ...) or an operator list with config",
               ""});
}

}  // namespace shardscope::storage
