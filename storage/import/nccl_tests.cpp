#include "storage/import/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "storage/import/stats_columns.hpp"

namespace shardscope::storage {
namespace {

constexpr double kMostRate = 1e14;

/// Rates of a message size, gathered by the power of two around it.
class CurveBuilder {
 public:
  void add(double message_bytes, double bytes_per_s) {
    const bool sound = message_bytes >= 1 && bytes_per_s > 0 && bytes_per_s < kMostRate;
    if (!sound) return;
    ++samples_;
    auto& [sizes, rates] = by_power_[static_cast<int>(std::lround(std::log2(message_bytes)))];
    sizes += message_bytes;
    rates.push_back(bytes_per_s);
  }

  [[nodiscard]] ExchangeCurve take() {
    ExchangeCurve curve;
    curve.samples = samples_;
    for (auto& [power, entry] : by_power_) {
      auto& [sizes, rates] = entry;
      const double mean = sizes / static_cast<double>(rates.size());
      const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
      std::nth_element(rates.begin(), middle, rates.end());
      curve.by_size.push_back({mean, *middle});
    }
    return curve;
  }

 private:
  std::map<int, std::pair<double, std::vector<double>>> by_power_;
  std::int64_t samples_ = 0;
};

}  // namespace

Result<ExchangeCurve> read_nccl_tests(std::string_view text, std::int32_t ranks,
                                      ImportNotes& notes) {
  CurveBuilder builder;
  std::vector<std::vector<double>> lines;
  std::int32_t listed = 0;
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t hash = line.find('#');
    if (hash != std::string_view::npos) {
      if (line.find("Rank", hash) != std::string_view::npos &&
          line.find("Pid", hash) != std::string_view::npos) {
        ++listed;
      }
      continue;
    }
    const std::vector<std::string_view> words = stats_words(line);
    const bool data =
        words.size() >= 8 && words[0].find_first_not_of("0123456789") == std::string_view::npos;
    if (!data) {
      if (!words.empty()) notes.skip();
      continue;
    }
    // size, count, type, redop, root, time, ...
    const auto size = stats_number(words[0]);
    const auto time = stats_number(words[5]);
    if (!size || !time || *time <= 0) {
      notes.warn(number, "a line without size and time is left out",
                 "size count type redop root time");
      continue;
    }
    lines.push_back({*size, *time});
  }
  const std::int32_t n = listed > 1 ? listed : ranks;
  if (lines.empty() || n < 2) {
    return fail(
        {ErrorKind::usage,
         lines.empty() ? "it has no table of nccl-tests" : "it does not tell how many ranks ran",
         notes.file(), "lines \"size count type redop root time algbw busbw\"",
         "Use alltoall_perf's whole output, or give --topology"});
  }
  for (const std::vector<double>& line : lines) {
    const double message = line[0] / n;
    builder.add(message, message * (n - 1) / (line[1] * 1e-6));
  }
  ExchangeCurve curve = builder.take();
  curve.ranks = n;
  notes.kept(fmt::format("{} sizes between {} ranks", curve.by_size.size(), n));
  return curve;
}

ExchangeCurve exchange_curve(const ImportedTrace& trace) {
  CurveBuilder builder;
  const double world = std::max(trace.world_size, 2);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    for (std::size_t w = 0; w < trace.ranks[r].work.size(); ++w) {
      const WorkPlace& place = trace.places[r][w];
      if (!place.collective || place.stage == Stage::allreduce || place.sent_bytes <= 0) continue;
      const GpuWork& work = trace.ranks[r].work[w];
      const auto ns = static_cast<double>(work.end_ns - work.start_ns - place.waiting_ns);
      const double message = static_cast<double>(place.sent_bytes) / world;
      if (ns > 0) builder.add(message, message * (world - 1) / (ns * 1e-9));
    }
  }
  ExchangeCurve curve = builder.take();
  curve.ranks = trace.world_size;
  return curve;
}

}  // namespace shardscope::storage
