#include "storage/calibration_file.hpp"

#include <fmt/format.h>

#include "layout/json_parts.hpp"

namespace shardscope::storage {
namespace {

constexpr int kCalibrationVersion = 1;
constexpr std::int64_t kMostCalibratedRanks = std::int64_t{1} << 30;

/// Only what was measured: a constant of value 0 is left out.
JsonValue measured_fields(const JsonValue& all) {
  JsonValue::Object kept;
  for (const auto& [name, value] : *all.object()) {
    const JsonValue* number = value.find("value");
    const bool absent = number != nullptr && std::get_if<double>(&number->data) != nullptr &&
                        *std::get_if<double>(&number->data) == 0;
    if (!absent) kept.emplace_back(name, value);
  }
  return kept;
}

JsonValue::Array texts_value(const std::vector<std::string>& texts) {
  JsonValue::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

void read_texts(JsonFields& fields, const char* name, std::vector<std::string>& out) {
  const JsonValue::Array* items = fields.list(name, Need::optional);
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size() && !fields.errors().any(); ++i) {
    if (const std::string* text = (*items)[i].text()) {
      out.push_back(*text);
    } else {
      fields.errors().add(fields.item_path(name, i), "not a text", "a text in quotes");
    }
  }
}

void read_times(JsonFields& fields, std::vector<FittedTime>& out) {
  const JsonValue::Array* items = fields.list("times", Need::optional);
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size() && !fields.errors().any(); ++i) {
    JsonFields one(fields.errors(), (*items)[i], fields.item_path("times", i));
    FittedTime& time = out.emplace_back();
    one.text("what", time.what, Need::required);
    one.text("stage", time.stage, Need::required);
    one.number("measured_s", time.measured_s, Need::required, 0, kMostDouble);
    one.number("fitted_s", time.fitted_s, Need::required, 0, kMostDouble);
    one.finish();
  }
}

void read_collectives(JsonFields& fields, std::vector<CollectiveTime>& out) {
  const JsonValue::Array* items = fields.list("collectives", Need::optional);
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size() && !fields.errors().any(); ++i) {
    JsonFields one(fields.errors(), (*items)[i], fields.item_path("collectives", i));
    CollectiveTime& time = out.emplace_back();
    one.text("collective", time.collective, Need::required);
    one.number("message_bytes", time.message_bytes, Need::required, 0, kMostDouble);
    one.number("received_bytes", time.received_bytes, Need::required, 0, kMostDouble);
    one.number("seconds", time.seconds, Need::required, 0, kMostDouble);
    one.finish();
  }
}

/// What no machine can have.
void check_share(JsonErrors& errors, const std::string& path, const Quantity& share) {
  if (share.value <= 1) return;
  errors.add(path, fmt::format("{} is more than all of it", share.value), "a share from 0 to 1",
             "Calibrate again");
}

void check_calibration(JsonErrors& errors, const Calibration& calibration) {
  const Gpu& gpu = calibration.gpu;
  check_share(errors, "gpu.gemm_efficiency", gpu.gemm_efficiency);
  check_share(errors, "gpu.gather_efficiency", gpu.gather_efficiency);
  check_share(errors, "gpu.reduce_efficiency", gpu.reduce_efficiency);
  check_share(errors, "gpu.update_efficiency", gpu.update_efficiency);
  check_share(errors, "gpu.input_efficiency", gpu.input_efficiency);
  check_share(errors, "gpu.stream_efficiency", gpu.stream_efficiency);
  check_share(errors, "gpu.overlap_cost", gpu.overlap_cost);
  for (const auto& [name, link] :
       {std::pair{"intra", &calibration.intra}, {"inter", &calibration.inter}}) {
    check_share(errors, fmt::format("{}.efficiency", name), link->efficiency);
    double before = 0;
    for (const BandwidthPoint& point : link->by_size) {
      if (point.message_bytes > before && point.bytes_per_s > 0) {
        before = point.message_bytes;
        continue;
      }
      errors.add(
          fmt::format("{}.by_size", name),
          fmt::format("a point of {} bytes at {} bytes/s", point.message_bytes, point.bytes_per_s),
          "ascending message sizes with rates above 0");
      break;
    }
  }
}

JsonValue environment_value(const std::string& environment) {
  const Result<JsonValue> parsed = parse_json(environment, "environment");
  if (parsed && parsed->object() != nullptr) return *parsed;
  return JsonValue::Object{};
}

}  // namespace

std::string to_json(const CalibrationFile& file) {
  JsonValue::Array times, collectives;
  for (const FittedTime& time : file.times) {
    times.emplace_back(JsonValue::Object{{"what", time.what},
                                         {"stage", time.stage},
                                         {"measured_s", time.measured_s},
                                         {"fitted_s", time.fitted_s}});
  }
  for (const CollectiveTime& time : file.collectives) {
    collectives.emplace_back(JsonValue::Object{{"collective", time.collective},
                                               {"message_bytes", time.message_bytes},
                                               {"received_bytes", time.received_bytes},
                                               {"seconds", time.seconds}});
  }
  JsonValue::Object root{{"format", format_name("calibration", kCalibrationVersion)},
                         {"name", file.calibration.name},
                         {"backend", file.calibration.backend},
                         {"comm", file.comm},
                         {"topology", file.topology},
                         {"ranks", file.ranks},
                         {"interrupted", file.interrupted},
                         {"environment", environment_value(file.calibration.environment)},
                         {"gpu", measured_fields(gpu_value(file.calibration.gpu))},
                         {"intra", measured_fields(link_value(file.calibration.intra))},
                         {"inter", measured_fields(link_value(file.calibration.inter))},
                         {"missing", texts_value(file.missing)},
                         {"refused", texts_value(file.refused)},
                         {"times", std::move(times)},
                         {"collectives", std::move(collectives)}};
  return write_json(root);
}

Result<CalibrationFile> calibration_from_json(std::string_view text, const std::string& place) {
  const Result<JsonValue> root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  CalibrationFile file;
  read_format(fields, "calibration", kCalibrationVersion);
  fields.text("name", file.calibration.name, Need::required);
  fields.text("backend", file.calibration.backend, Need::required);
  fields.text("comm", file.comm, Need::optional);
  fields.text("topology", file.topology, Need::optional);
  fields.whole("ranks", file.ranks, Need::optional, 0, kMostCalibratedRanks);
  fields.flag("interrupted", file.interrupted);
  if (const JsonValue* environment = fields.take("environment", Need::optional)) {
    if (environment->object() == nullptr) errors.add("environment", "not an object", "{...}");
    file.calibration.environment = write_json_line(*environment);
  }
  read_gpu(fields, file.calibration.gpu);
  read_link(fields, "intra", file.calibration.intra);
  read_link(fields, "inter", file.calibration.inter);
  read_texts(fields, "missing", file.missing);
  read_texts(fields, "refused", file.refused);
  read_times(fields, file.times);
  read_collectives(fields, file.collectives);
  fields.finish();
  if (!errors.any()) check_calibration(errors, file.calibration);
  if (errors.any()) return fail(errors.first());
  return file;
}

}  // namespace shardscope::storage
