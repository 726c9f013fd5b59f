#include "app/service/record_json.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "layout/json_reader.hpp"
#include "layout/json_value.hpp"

namespace shardscope::app {
namespace {

template <class Fields, class Record>
void comparison_numbers(Fields& whole, Record& record) {
  whole("run_a", record.run_a);
  whole("run_b", record.run_b);
  whole("blocks", record.blocks);
  whole("looks", record.looks);
  whole("dropped_iterations", record.dropped_iterations);
}

storage::CurvePoint point_of(JsonErrors& errors, const JsonValue& value, const std::string& path) {
  storage::CurvePoint point;
  JsonFields json(errors, value, path);
  json.text("split", point.split, Need::required);
  json.whole("iteration", point.iteration, Need::required, 0, kMostInt64);
  json.whole("samples", point.samples, Need::required, 0, kMostInt64);
  json.whole("time_ns", point.time_ns, Need::required, 0, kMostInt64);
  json.number_or_nan("loss", point.loss);
  json.number_or_nan("auc", point.auc);
  json.finish();
  return point;
}

/// Calls whole(name, number) with every number of a record but stage and cluster.
template <class Whole, class Work>
void codec_work_numbers(const Whole& whole, Work& work) {
  whole("iteration", work.iteration);
  whole("rank", work.rank);
  whole("start_ns", work.start_ns);
  whole("encode_ns", work.encode_ns);
  whole("decode_ns", work.decode_ns);
  whole("chunks", work.chunks);
  whole("bytes_before", work.bytes_before);
  whole("bytes_after", work.bytes_after);
}

CodecWork codec_work_of(JsonErrors& errors, const JsonValue& value, const std::string& path) {
  CodecWork work;
  JsonFields json(errors, value, path);
  json.text("codec", work.codec, Need::required);
  std::int32_t stage = 0;
  std::int32_t cluster = 0;
  json.whole("stage", stage, Need::required, 0, kStages - 1);
  json.whole("work", cluster, Need::required, 0, kWorks - 1);
  work.stage = static_cast<Stage>(stage);
  work.work = static_cast<Work>(cluster);
  codec_work_numbers(
      [&](const char* name, auto& number) {
        using Number = std::remove_reference_t<decltype(number)>;
        json.whole(name, number, Need::required, 0,
                   std::int64_t{std::numeric_limits<Number>::max()});
      },
      work);
  json.finish();
  return work;
}

}  // namespace

std::string to_json(const storage::ComparisonRecord& comparison) {
  JsonValue::Object object = {{"label_a", comparison.label_a},
                              {"label_b", comparison.label_b},
                              {"mode", comparison.mode},
                              {"ratio", comparison.ratio},
                              {"low", comparison.low},
                              {"high", comparison.high},
                              {"confidence", comparison.confidence},
                              {"a_ms", comparison.a_ms},
                              {"b_ms", comparison.b_ms},
                              {"reason", comparison.reason},
                              {"stages", comparison.stages_json},
                              {"sentence", comparison.sentence}};
  const auto whole = [&](const char* name, std::int64_t value) {
    object.emplace_back(name, value);
  };
  comparison_numbers(whole, comparison);
  return write_json_line(JsonValue(std::move(object)));
}

Result<storage::ComparisonRecord> comparison_from_json(const std::string& text) {
  const Result<JsonValue> root = parse_json(text, "comparison");
  if (!root) return fail(root.error());
  JsonErrors errors("comparison");
  storage::ComparisonRecord record;
  JsonFields json(errors, *root, "");
  json.text("label_a", record.label_a, Need::required);
  json.text("label_b", record.label_b, Need::required);
  json.text("mode", record.mode, Need::required);
  json.text("reason", record.reason, Need::required);
  json.text("stages", record.stages_json, Need::required);
  json.text("sentence", record.sentence, Need::required);
  json.number_or_nan("ratio", record.ratio);
  json.number_or_nan("low", record.low);
  json.number_or_nan("high", record.high);
  json.number_or_nan("confidence", record.confidence);
  json.number_or_nan("a_ms", record.a_ms);
  json.number_or_nan("b_ms", record.b_ms);
  const auto whole = [&](const char* name, std::int64_t& value) {
    json.whole(name, value, Need::required, 0, kMostInt64);
  };
  comparison_numbers(whole, record);
  json.finish();
  if (errors.any()) return fail(errors.first());
  return record;
}

std::string curve_to_json(std::int64_t run, std::span<const storage::CurvePoint> points) {
  JsonValue::Array list;
  for (const storage::CurvePoint& point : points) {
    list.push_back(JsonValue::Object{{"split", point.split},
                                     {"iteration", point.iteration},
                                     {"samples", point.samples},
                                     {"time_ns", point.time_ns},
                                     {"loss", point.loss},
                                     {"auc", point.auc}});
  }
  return write_json_line(JsonValue::Object{{"run", run}, {"points", std::move(list)}});
}

Result<CurvePart> curve_from_json(const std::string& text) {
  const Result<JsonValue> root = parse_json(text, "curve");
  if (!root) return fail(root.error());
  JsonErrors errors("curve");
  CurvePart part;
  JsonFields json(errors, *root, "");
  json.whole("run", part.run, Need::required, 1, kMostInt64);
  if (const JsonValue::Array* points = json.list("points", Need::required)) {
    for (std::size_t i = 0; i < points->size() && !errors.any(); ++i) {
      part.points.push_back(point_of(errors, (*points)[i], json.item_path("points", i)));
    }
  }
  json.finish();
  if (errors.any()) return fail(errors.first());
  return part;
}

std::string codec_work_to_json(std::int64_t run, std::span<const CodecWork> works) {
  JsonValue::Array list;
  for (const CodecWork& work : works) {
    JsonValue::Object object = {{"codec", work.codec},
                                {"stage", static_cast<std::int64_t>(work.stage)},
                                {"work", static_cast<std::int64_t>(work.work)}};
    codec_work_numbers(
        [&](const char* name, std::int64_t number) {
          object.emplace_back(name, std::max<std::int64_t>(number, 0));
        },
        work);
    list.push_back(JsonValue(std::move(object)));
  }
  return write_json_line(JsonValue::Object{{"run", run}, {"works", std::move(list)}});
}

Result<CodecWorkPart> codec_work_from_json(const std::string& text) {
  const Result<JsonValue> root = parse_json(text, "codec_work");
  if (!root) return fail(root.error());
  JsonErrors errors("codec_work");
  CodecWorkPart part;
  JsonFields json(errors, *root, "");
  json.whole("run", part.run, Need::required, 1, kMostInt64);
  if (const JsonValue::Array* works = json.list("works", Need::required)) {
    for (std::size_t i = 0; i < works->size() && !errors.any(); ++i) {
      part.works.push_back(codec_work_of(errors, (*works)[i], json.item_path("works", i)));
    }
  }
  json.finish();
  if (errors.any()) return fail(errors.first());
  return part;
}

}  // namespace shardscope::app
