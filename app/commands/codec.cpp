#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/text_table.hpp"
#include "engine/codec/measure.hpp"

namespace shardscope::app {
namespace {

using engine::ChunkShape;
using engine::CodecKind;
using engine::CodecMeasurement;
using engine::CodecScratch;
using engine::CodecSpec;

/// Bandwidths of the slow links that compression is for.
constexpr double kSlowLinks[] = {1, 4};

/// Measuring of one codec's encoding, and of its decoding: alone, or beside all others.
constexpr double kSecondsAlone = 0.2;
constexpr double kSecondsOfMany = 0.05;

Result<std::vector<float>> read_values(const CodecOptions& options, const ChunkShape& shape) {
  constexpr const char* kExpected = "fp32 values, little-endian, row after row";
  std::error_code error;
  const auto kind = std::filesystem::status(options.file, error).type();
  if (kind == std::filesystem::file_type::not_found) {
    return fail({ErrorKind::usage, "there is no such file", options.file, kExpected, ""});
  }
  if (!error && kind != std::filesystem::file_type::regular) {
    return fail({ErrorKind::usage,
                 kind == std::filesystem::file_type::directory ? "this is a directory"
                                                               : "this is not a regular file",
                 options.file, kExpected, "Name a file"});
  }
  const auto bytes = std::filesystem::file_size(options.file, error);
  std::ifstream file(options.file, std::ios::binary);
  if (error || !file) {
    return fail({ErrorKind::usage, "the file cannot be read", options.file, kExpected, ""});
  }
  // Compared by division: rows x dim may be more than an integer holds.
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
  if (bytes % sizeof(float) != 0 || count % shape.dim != 0 || count / shape.dim != shape.rows) {
    return fail({ErrorKind::usage,
                 fmt::format("the file has {} bytes", grouped(static_cast<long long>(bytes))),
                 options.file, fmt::format("{} rows of {} fp32 values", shape.rows, shape.dim),
                 "Give the file's shape with --rows and --dim"});
  }
  std::vector<float> values(bytes / sizeof(float));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!file) {
    return fail({ErrorKind::runtime, "reading ended early", options.file, "", ""});
  }
  return values;
}

Result<std::vector<CodecSpec>> chosen_specs(const CodecOptions& options) {
  std::vector<CodecSpec> specs;
  CodecSlot slot{options.codec, options.bound, !options.absolute};
  if (options.codec != "all") {
    const auto spec = engine::codec_spec(slot);
    if (!spec) return tl::unexpected(spec.error());
    return std::vector<CodecSpec>{*spec};
  }
  for (const CodecKind kind : engine::kAllCodecs) {
    slot.name = std::string(engine::name_of(kind));
    const auto spec = engine::codec_spec(slot);
    if (!spec) return tl::unexpected(spec.error());
    specs.push_back(*spec);
  }
  return specs;
}

bool keeps_bound(const CodecMeasurement& one) {
  return one.max_error <= one.bound_abs && one.altered_non_finite == 0;
}

nlohmann::ordered_json measurement_json(const CodecMeasurement& one) {
  nlohmann::ordered_json json;
  json["codec"] = std::string(engine::name_of(one.spec.kind));
  json["rows"] = one.shape.rows;
  json["dim"] = one.shape.dim;
  json["bound"] = one.spec.bound;
  json["relative"] = one.spec.relative;
  json["bound_abs"] = one.bound_abs;
  json["guaranteed"] = engine::holds_bound(one.spec.kind);
  json["value_bytes"] = one.value_bytes();
  json["wire_bytes"] = one.wire_bytes();
  json["ratio"] = one.ratio();
  json["max_error"] = one.max_error;
  json["within_bound"] = keeps_bound(one);
  json["encode_gb_s"] = one.encode_gb_s();
  json["decode_gb_s"] = one.decode_gb_s();
  for (const double link : kSlowLinks) {
    json[fmt::format("speedup_at_{:g}_gb_s", link)] = one.speedup_at(link);
  }
  return json;
}

void print_table(const std::vector<CodecMeasurement>& measured, const CodecOptions& options) {
  const Console console = Console::of_stdout();
  const CodecMeasurement& first = measured.front();
  fmt::print("{} x {}, {}; largest error wanted {:.6g}{}\n", counted(first.shape.rows, "row"),
             first.shape.dim, bytes_text(static_cast<double>(first.value_bytes())), first.bound_abs,
             options.absolute ? "" : fmt::format(" ({:g} of the range)", options.bound));
  TextTable table({{"codec", Align::left},
                   {"ratio"},
                   {"bytes"},
                   {"largest error"},
                   {"bound", Align::left},
                   {"encode GB/s"},
                   {"decode GB/s"},
                   {"at 1 GB/s"},
                   {"at 4 GB/s"}});
  for (const CodecMeasurement& one : measured) {
    std::string bound = engine::is_lossless(one.spec.kind) ? "lossless" : "guaranteed";
    if (!engine::holds_bound(one.spec.kind)) bound = keeps_bound(one) ? "kept here" : "broken";
    if (bound == "broken") bound = console.yellow(bound);
    table.row({std::string(engine::name_of(one.spec.kind)), fmt::format("{:.2f}", one.ratio()),
               grouped(one.wire_bytes()), fmt::format("{:.4g}", one.max_error), bound,
               fmt::format("{:.2f}", one.encode_gb_s()), fmt::format("{:.2f}", one.decode_gb_s()),
               fmt::format("{:.2f}x", one.speedup_at(kSlowLinks[0])),
               fmt::format("{:.2f}x", one.speedup_at(kSlowLinks[1]))});
  }
  fmt::print("{}", table.text());
  fmt::print("{}\n", console.dim("measured on one core; at B GB/s: how much sooner the values "
                                 "arrive than uncompressed (below 1: later)"));
}

}  // namespace

Status codec(const CodecOptions& options) {
  const ChunkShape shape{options.rows, options.dim};
  const auto specs = chosen_specs(options);
  if (!specs) return tl::unexpected(specs.error());
  const auto values = read_values(options, shape);
  if (!values) return tl::unexpected(values.error());
  const auto scratch = CodecScratch::create(shape.values(), shape.rows);
  if (!scratch) return tl::unexpected(scratch.error());
  const double seconds = specs->size() == 1 ? kSecondsAlone : kSecondsOfMany;
  std::vector<CodecMeasurement> measured;
  for (const CodecSpec& spec : *specs) {
    measured.push_back(engine::measure_codec(spec, values->data(), shape, *scratch, seconds));
  }
  if (!options.json) {
    print_table(measured, options);
    return {};
  }
  if (options.codec != "all") {
    fmt::print("{}\n", measurement_json(measured.front()).dump(2));
    return {};
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CodecMeasurement& one : measured) all.push_back(measurement_json(one));
  fmt::print("{}\n", all.dump(2));
  return {};
}

}  // namespace shardscope::app
