#include "layout/json.hpp"
#include "layout/json_parts.hpp"

namespace shardscope {

namespace {

/// A curve as a list of [x, y] pairs.
template <class Point>
void read_points(JsonFields& fields, const char* name, double Point::*x, double Point::*y,
                 std::vector<Point>& out) {
  const JsonValue::Array* points = fields.list(name, Need::optional);
  if (points == nullptr) return;
  for (std::size_t i = 0; i < points->size() && !fields.errors().any(); ++i) {
    const JsonValue::Array* pair = (*points)[i].array();
    const std::string path = fields.item_path(name, i);
    if (pair == nullptr || pair->size() != 2) {
      return fields.errors().add(path, "not a pair", "two numbers: [x, y]");
    }
    const auto first = fields.number_of((*pair)[0], path + "[0]", 0, kMostDouble);
    const auto second = fields.number_of((*pair)[1], path + "[1]", 0, kMostDouble);
    if (!first || !second) return;
    Point& point = out.emplace_back();
    point.*x = *first;
    point.*y = *second;
  }
}

template <class Point>
JsonValue points_value(const std::vector<Point>& points, double Point::*x, double Point::*y) {
  JsonValue::Array array;
  for (const Point& point : points) {
    array.emplace_back(JsonValue::Array{JsonValue(point.*x), JsonValue(point.*y)});
  }
  return array;
}

}  // namespace

Result<TableStats> table_stats_from_json(std::string_view text, const std::string& place) {
  const Result<JsonValue> root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  TableStats stats;
  read_format(fields, "table_stats", kTableStatsVersion);
  fields.text("table", stats.table, Need::required);
  fields.whole("samples", stats.samples, Need::required, 0, kMostInt64);
  fields.whole("keys", stats.keys, Need::required, 0, kMostInt64);
  fields.number("mean_bag_length", stats.mean_bag_length, Need::optional, 0, kMostDouble);
  fields.number("p50_bag_length", stats.p50_bag_length, Need::optional, 0, kMostDouble);
  fields.number("p99_bag_length", stats.p99_bag_length, Need::optional, 0, kMostDouble);
  fields.number("max_bag_length", stats.max_bag_length, Need::optional, 0, kMostDouble);
  fields.number("empty_bag_share", stats.empty_bag_share, Need::optional, 0, 1);
  read_points(fields, "unique", &UniquePoint::keys, &UniquePoint::unique, stats.unique);
  read_points(fields, "top_mass", &MassPoint::rows, &MassPoint::share, stats.top_mass);
  fields.whole("working_set_rows", stats.working_set_rows, Need::optional, 0, kMostInt64);
  fields.whole("untouched_rows", stats.untouched_rows, Need::optional, 0, kMostInt64);
  fields.whole("out_of_range", stats.out_of_range, Need::optional, 0, kMostInt64);
  fields.number_list("modulo_max_share", stats.modulo_max_share, Need::optional, 0, 1);
  fields.finish();
  if (errors.any()) return fail(errors.first());
  return stats;
}

std::string to_json(const TableStats& stats) {
  JsonValue::Object root{
      {"format", format_name("table_stats", kTableStatsVersion)},
      {"table", stats.table},
      {"samples", stats.samples},
      {"keys", stats.keys},
      {"mean_bag_length", stats.mean_bag_length},
      {"p50_bag_length", stats.p50_bag_length},
      {"p99_bag_length", stats.p99_bag_length},
      {"max_bag_length", stats.max_bag_length},
      {"empty_bag_share", stats.empty_bag_share},
      {"unique", points_value(stats.unique, &UniquePoint::keys, &UniquePoint::unique)},
      {"top_mass", points_value(stats.top_mass, &MassPoint::rows, &MassPoint::share)},
      {"working_set_rows", stats.working_set_rows},
      {"untouched_rows", stats.untouched_rows},
      {"out_of_range", stats.out_of_range},
      {"modulo_max_share", number_array(stats.modulo_max_share)}};
  return write_json(root);
}

}  // namespace shardscope
