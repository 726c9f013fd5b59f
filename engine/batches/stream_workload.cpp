#include "engine/batches/stream_workload.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/stream.hpp"
#include "engine/batches/row_set.hpp"

namespace shardscope::engine {
namespace {

constexpr std::size_t kShortestHistory = 8;
constexpr std::int64_t kRowsPerText = 4;
constexpr std::int64_t kLargestBatch = 8192;

/// Columns of one proposed feature.
struct Group {
  ColumnRange columns;
  bool history = false;
};

std::int64_t position_of(const IdColumn& column) {
  return parse_integer(column.name()).value_or(0);
}

/// Whether two single-id columns stand side by side and mostly hold the same id.
bool alike(const IdColumn& left, const IdColumn& right) {
  if (position_of(left) + 1 != position_of(right)) return false;
  std::int64_t same = 0;
  for (std::int64_t sample = 0; sample < left.samples(); ++sample) {
    same += left.id(sample) == right.id(sample) ? 1 : 0;
  }
  return 2 * same >= left.samples();
}

/// Runs of alike columns of at least kShortestHistory, as half-open ranges.
std::vector<std::pair<std::size_t, std::size_t>> alike_runs(const RecordedStream& stream) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  const std::size_t columns = stream.columns.size();
  for (std::size_t first = 0; first < columns;) {
    std::size_t end = first + 1;
    while (end < columns && alike(stream.columns[end - 1], stream.columns[end])) ++end;
    if (end - first >= kShortestHistory) runs.emplace_back(first, end);
    first = end;
  }
  return runs;
}

/// Length of a history: the most common distance from one run's start to the next (the shortest of
/// equally common ones). A run may end early, where recent ids differ more, and two may join.
std::size_t history_length(const std::vector<std::pair<std::size_t, std::size_t>>& runs) {
  std::map<std::size_t, int> distances;
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) ++distances[runs[i + 1].first - runs[i].first];
  std::size_t best = runs.front().second - runs.front().first;
  int times = 0;
  for (const auto& [distance, count] : distances) {
    if (count > times) {
      best = distance;
      times = count;
    }
  }
  return best;
}

std::vector<Group> group_sequences(const RecordedStream& stream) {
  const auto runs = alike_runs(stream);
  const std::size_t columns = stream.columns.size();
  const std::size_t length = runs.empty() ? 1 : history_length(runs);
  const std::size_t first = runs.empty() ? columns : runs.front().first;
  const std::size_t last_end = runs.empty() ? columns : runs.back().second;
  std::vector<Group> groups;
  for (std::size_t at = 0; at < columns;) {
    const std::size_t end = at + length;
    const bool history = at >= first && at < last_end && end <= columns &&
                         position_of(stream.columns[end - 1]) - position_of(stream.columns[at]) ==
                             static_cast<std::int64_t>(length - 1);
    groups.push_back({{at, history ? end - 1 : at}, history});
    at = history ? end : at + 1;
  }
  return groups;
}

std::vector<Group> group_columns(const RecordedStream& stream) {
  if (stream.format == StreamFormat::sequence_csv) return group_sequences(stream);
  std::vector<Group> groups;
  for (std::size_t i = 0; i < stream.columns.size(); ++i) groups.push_back({{i, i}, false});
  return groups;
}

std::int64_t largest_id(const RecordedStream& stream, ColumnRange columns) {
  std::int64_t largest = 0;
  for (std::size_t c = columns.first; c <= columns.last; ++c) {
    const IdColumn& column = stream.columns[c];
    for (std::int64_t i = 0; i < column.ids(); ++i) largest = std::max(largest, column.id(i));
  }
  return largest;
}

std::int64_t rows_for(const RecordedStream& stream, ColumnRange columns) {
  const IdColumn& column = stream.columns[columns.first];
  if (!column.hashed()) {
    const std::int64_t largest = largest_id(stream, columns);
    return largest < std::numeric_limits<std::int64_t>::max() ? largest + 1 : largest;
  }
  RowSet distinct(std::int64_t{1} << 32, column.ids());
  for (std::int64_t i = 0; i < column.ids(); ++i) distinct.insert(column.id(i));
  return static_cast<std::int64_t>(std::bit_ceil(
      static_cast<std::uint64_t>(std::max<std::int64_t>(kRowsPerText * distinct.size(), 1))));
}

Hotness hotness_of(const RecordedStream& stream, ColumnRange columns) {
  std::map<std::int64_t, std::int64_t> bags;
  for (std::int64_t sample = 0; sample < stream.samples; ++sample) {
    std::int64_t length = 0;
    for (std::size_t c = columns.first; c <= columns.last; ++c) {
      length += stream.columns[c].begin(sample + 1) - stream.columns[c].begin(sample);
    }
    ++bags[length];
  }
  const auto low = static_cast<std::int32_t>(bags.begin()->first);
  const auto high = static_cast<std::int32_t>(bags.rbegin()->first);
  if (low == high) return Hotness::fixed(low);
  Hotness hotness{HotnessKind::histogram, low, high, {}};
  hotness.weights.assign(static_cast<std::size_t>(high - low) + 1, 0);
  for (const auto& [length, count] : bags) {
    hotness.weights[static_cast<std::size_t>(length - low)] = static_cast<double>(count);
  }
  return hotness;
}

std::string column_text(const RecordedStream& stream, const Group& group) {
  const std::string& first = stream.columns[group.columns.first].name();
  if (group.columns.first == group.columns.last) return first;
  return fmt::format("{}-{}", first, stream.columns[group.columns.last].name());
}

std::string feature_name(const RecordedStream& stream, const Group& group) {
  const std::string column = column_text(stream, group);
  switch (stream.format) {
    case StreamFormat::slot_lines:
      return "slot_" + column;
    case StreamFormat::field_csv:
      return "field_" + column;
    case StreamFormat::sequence_csv:
      return (group.history ? "history_" : "column_") + column;
    default:
      return column;
  }
}

void add_feature(const RecordedStream& stream, const std::string& spec, const Group& group,
                 std::int32_t dim, Workload& workload) {
  Table table;
  table.name = feature_name(stream, group);
  table.rows = rows_for(stream, group.columns);
  table.dim = dim;
  table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad, 0.05);
  if (table.rows > std::int64_t{1} << 31) workload.key = KeyType::i64;
  Feature feature;
  feature.name = table.name;
  feature.table = static_cast<std::int32_t>(workload.tables.size());
  feature.pooling = group.history ? Pooling::sequence : Pooling::sum;
  feature.hotness = hotness_of(stream, group.columns);
  feature.ids.kind = IdDistributionKind::recorded;
  feature.ids.stream = spec;
  feature.ids.column = column_text(stream, group);
  workload.tables.push_back(std::move(table));
  workload.features.push_back(std::move(feature));
}

DensePart dense_for(const RecordedStream& stream, std::int32_t dim) {
  DensePart dense;
  if (stream.labels.empty()) return dense;
  dense.dense_features = static_cast<std::int32_t>(stream.dense_names.size());
  if (dense.dense_features > 0) dense.bottom_mlp = {4 * dim, dim};
  dense.interaction = dense.dense_features > 0 ? Interaction::dot : Interaction::concat;
  dense.top_mlp = {8 * dim, 4 * dim, 1};
  dense.optimizer = make_optimizer(OptimizerKind::adagrad, 0.01);
  return dense;
}

}  // namespace

Result<Workload> workload_from_stream(const std::string& spec,
                                      const StreamWorkloadOptions& options) {
  const auto stream = read_stream(spec);
  if (!stream) return fail(stream.error());
  Workload workload;
  workload.name = std::filesystem::path(stream->path).stem().string();
  workload.source = fmt::format("proposed from {} ({}, {} samples)", stream->path,
                                to_string(stream->format), stream->samples);
  for (const Group& group : group_columns(*stream)) {
    if (group.history && largest_id(*stream, group.columns) <= 1) continue;
    add_feature(*stream, spec, group, options.dim, workload);
  }
  if (workload.features.empty()) {
    return fail({ErrorKind::usage, "the stream holds no ids", stream->path,
                 "at least one column of categories", "Choose another file"});
  }
  workload.global_batch = options.global_batch;
  if (workload.global_batch <= 0) {
    const auto quarter = static_cast<std::uint64_t>(std::max<std::int64_t>(stream->samples / 4, 1));
    workload.global_batch =
        std::min(static_cast<std::int64_t>(std::bit_floor(quarter)), kLargestBatch);
  }
  workload.dense = dense_for(*stream, options.dim);
  return workload;
}

}  // namespace shardscope::engine
