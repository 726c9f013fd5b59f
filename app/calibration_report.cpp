#include "app/calibration_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kTimesShown = 60;

struct ShownConstant {
  const char* name;
  Quantity Gpu::*member;
  double unit;
  const char* unit_name;
};

constexpr ShownConstant kShownConstants[] = {
    {"memory bandwidth", &Gpu::memory_bytes_per_s, 1e9, "GB/s"},
    {"gather efficiency", &Gpu::gather_efficiency, 1, ""},
    {"reduce efficiency", &Gpu::reduce_efficiency, 1, ""},
    {"sort traffic a key", &Gpu::sort_bytes_per_key, 1, "B"},
    {"update efficiency", &Gpu::update_efficiency, 1, ""},
    {"input efficiency", &Gpu::input_efficiency, 1, ""},
    {"stream efficiency", &Gpu::stream_efficiency, 1, ""},
    {"GEMM peak", &Gpu::gemm_flops_per_s, 1e9, "GFLOP/s"},
    {"GEMM efficiency", &Gpu::gemm_efficiency, 1, ""},
    {"kernel launch", &Gpu::launch_s, 1e-6, "us"},
};

std::string value_text(const Quantity& quantity, double unit) {
  return quantity.value > 0 ? fmt::format("{:.4g}", quantity.value / unit) : "-";
}

std::string constants_text(const storage::CalibrationFile& file, const Topology& before) {
  TextTable table({{"constant", Align::left},
                   {"measured"},
                   {"was"},
                   {"unit", Align::left},
                   {"origin before", Align::left}});
  int rows = 0;
  const auto add = [&](const std::string& name, const Quantity& now, const Quantity& then,
                       double unit, const char* unit_name) {
    if (now.value <= 0) return;
    ++rows;
    table.row({name, value_text(now, unit), value_text(then, unit), unit_name,
               then.value > 0 ? to_string(then.origin) : ""});
  };
  for (const ShownConstant& one : kShownConstants)
    add(one.name, file.calibration.gpu.*one.member, before.gpu.*one.member, one.unit,
        one.unit_name);
  for (const auto& [name, now, then] :
       {std::tuple{"intra", &file.calibration.intra, &before.intra},
        std::tuple{"inter", &file.calibration.inter, &before.inter}}) {
    add(fmt::format("{} latency", name), now->latency_s, then->latency_s, 1e-6, "us");
    add(fmt::format("{} peak", name), now->bytes_per_s, then->bytes_per_s, 1e9, "GB/s");
    add(fmt::format("{} efficiency", name), now->efficiency, then->efficiency, 1, "");
  }
  return rows > 0 ? table.text() : "no constant could be fitted\n";
}

std::string curve_text(const storage::CalibrationFile& file) {
  const bool inside = !file.calibration.intra.by_size.empty();
  const LinkModel& link = inside ? file.calibration.intra : file.calibration.inter;
  if (link.by_size.empty()) return {};
  TextTable table({{"message"}, {"GB/s a rank"}});
  for (const BandwidthPoint& point : link.by_size)
    table.row({bytes_text(point.message_bytes), fmt::format("{:.4g}", point.bytes_per_s / 1e9)});
  return fmt::format("\nAll-to-all {} fast domains\n{}", inside ? "inside" : "between",
                     table.text());
}

std::string times_text(const storage::CalibrationFile& file) {
  if (file.times.empty()) return {};
  TextTable table(
      {{"timed", Align::left}, {"stage", Align::left}, {"measured ms"}, {"fitted ms"}, {"error"}});
  for (std::size_t i = 0; i < file.times.size() && i < kTimesShown; ++i) {
    const FittedTime& time = file.times[i];
    table.row({time.what, time.stage, ms_text(time.measured_s * 1e3), ms_text(time.fitted_s * 1e3),
               time.measured_s > 0
                   ? fmt::format("{:+.0f} %", 100 * (time.fitted_s / time.measured_s - 1))
                   : ""});
  }
  std::string text = fmt::format("\n{}", table.text());
  if (file.times.size() > kTimesShown)
    text += fmt::format("and {} more; the file has all\n", file.times.size() - kTimesShown);
  return text;
}

}  // namespace

std::string calibration_text(const storage::CalibrationFile& file, const Topology& before) {
  std::string text = constants_text(file, before) + curve_text(file) + times_text(file);
  if (!file.refused.empty() || !file.missing.empty()) text += '\n';
  for (const std::string& one : file.refused) text += fmt::format("refused   {}\n", one);
  for (const std::string& one : file.missing) text += fmt::format("not seen  {}\n", one);
  return text;
}

nlohmann::ordered_json calibration_json(const storage::CalibrationFile& file) {
  return nlohmann::ordered_json::parse(storage::to_json(file));
}

}  // namespace shardscope::app
