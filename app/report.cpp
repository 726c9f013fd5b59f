#include "app/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

struct RankTotal {
  double work_ms = 0;
  double busy_ms = 0;
  double waiting_ms = 0;
  double intra_bytes = 0;
  double inter_bytes = 0;
};

RankTotal total_of(const StageProfile& profile, std::size_t rank) {
  RankTotal total;
  for (const StageCost& cost : profile.by_rank[rank]) {
    total.work_ms += cost.ms;
    total.busy_ms += cost.busy_ms;
    total.waiting_ms += cost.waiting_ms;
    total.intra_bytes += cost.intra_bytes;
    total.inter_bytes += cost.inter_bytes;
  }
  return total;
}

/// Sums of a stage over ranks.
StageCost sum_of(const StageProfile& profile, Stage stage) {
  StageCost sum;
  for (std::size_t rank = 0; rank < profile.by_rank.size(); ++rank) {
    const StageCost& cost = profile.at(rank, stage);
    sum.ms += cost.ms;
    sum.busy_ms += cost.busy_ms;
    sum.waiting_ms += cost.waiting_ms;
    sum.intra_bytes += cost.intra_bytes;
    sum.inter_bytes += cost.inter_bytes;
    sum.rows += cost.rows;
  }
  return sum;
}

bool occurs(const StageProfile& profile, Stage stage) {
  const StageCost sum = sum_of(profile, stage);
  return sum.ms > 0 || sum.busy_ms > 0 || sum.waiting_ms > 0;
}

std::vector<Stage> stages_of(const StageProfile& a, const StageProfile& b) {
  std::vector<Stage> stages;
  for (int index = 0; index < kStages; ++index) {
    const auto stage = static_cast<Stage>(index);
    if (occurs(a, stage) || occurs(b, stage)) stages.push_back(stage);
  }
  return stages;
}

std::string some_bytes(double bytes) {
  return bytes > 0 ? bytes_text(bytes) : "-";
}

std::string signed_ms(double ms) {
  return fmt::format("{}{}", ms > 0 ? "+" : ms < 0 ? "-" : "", ms_text(std::abs(ms)));
}

}  // namespace

std::string stage_table_text(const StageProfile& profile) {
  TextTable table({{"stage", Align::left},
                   {"max ms"},
                   {"mean ms"},
                   {"slowest rank"},
                   {"busy max ms"},
                   {"wait mean ms"},
                   {"sent intra"},
                   {"sent inter"},
                   {"rows"}});
  const double ranks = static_cast<double>(std::max<std::size_t>(profile.by_rank.size(), 1));
  for (const Stage stage : stages_of(profile, profile)) {
    const StageCost sum = sum_of(profile, stage);
    table.row({to_string(stage), ms_text(profile.ms_max(stage)), ms_text(profile.ms_mean(stage)),
               std::to_string(profile.slowest_rank(stage)), ms_text(profile.busy_ms_max(stage)),
               ms_text(sum.waiting_ms / ranks), some_bytes(sum.intra_bytes),
               some_bytes(sum.inter_bytes), sum.rows > 0 ? count_text(sum.rows) : "-"});
  }
  return table.text() + "Times are of one iteration; bytes and rows of all ranks together.\n";
}

std::string codec_table_text(const std::vector<CodecTotals>& codecs) {
  if (codecs.empty()) return "";
  TextTable table({{"compression", Align::left},
                   {"stage", Align::left},
                   {"cluster", Align::left},
                   {"before"},
                   {"after"},
                   {"ratio"},
                   {"encode ms"},
                   {"decode ms"}});
  for (const CodecTotals& one : codecs) {
    table.row({one.codec, to_string(one.stage), to_string(one.work),
               some_bytes(one.before_per_iteration()), some_bytes(one.after_per_iteration()),
               fmt::format("{:.2f}", one.ratio()), ms_text(one.encode_ms()),
               ms_text(one.decode_ms())});
  }
  return table.text() +
         "Bytes of all ranks in one iteration, headers counted; times of one rank.\n";
}

nlohmann::ordered_json compression_json(const std::vector<CodecTotals>& codecs) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const CodecTotals& one : codecs) {
    json.push_back({{"codec", one.codec},
                    {"stage", to_string(one.stage)},
                    {"cluster", to_string(one.work)},
                    {"iterations", one.iterations},
                    {"chunks", one.chunks},
                    {"bytes_before", one.before_per_iteration()},
                    {"bytes_after", one.after_per_iteration()},
                    {"ratio", one.ratio()},
                    {"encode_ms", one.encode_ms()},
                    {"decode_ms", one.decode_ms()}});
  }
  return json;
}

std::string stage_difference_text(const StageProfile& a, const StageProfile& b) {
  TextTable table({{"stage (slowest rank)", Align::left},
                   {"A ms"},
                   {"B ms"},
                   {"B - A"},
                   {"A rank"},
                   {"B rank"},
                   {"A inter"},
                   {"B inter"},
                   {"A intra"},
                   {"B intra"}});
  for (const Stage stage : stages_of(a, b)) {
    const StageCost sum_a = sum_of(a, stage);
    const StageCost sum_b = sum_of(b, stage);
    table.row({to_string(stage), ms_text(a.ms_max(stage)), ms_text(b.ms_max(stage)),
               signed_ms(b.ms_max(stage) - a.ms_max(stage)), std::to_string(a.slowest_rank(stage)),
               std::to_string(b.slowest_rank(stage)), some_bytes(sum_a.inter_bytes),
               some_bytes(sum_b.inter_bytes), some_bytes(sum_a.intra_bytes),
               some_bytes(sum_b.intra_bytes)});
  }
  return table.text();
}

std::string rank_difference_text(const StageProfile& a, const StageProfile& b) {
  TextTable table({{"rank"},
                   {"A ms"},
                   {"B ms"},
                   {"B - A"},
                   {"A waits"},
                   {"B waits"},
                   {"A inter"},
                   {"B inter"}});
  const std::size_t ranks = std::min(a.by_rank.size(), b.by_rank.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const RankTotal total_a = total_of(a, rank);
    const RankTotal total_b = total_of(b, rank);
    table.row({std::to_string(rank), ms_text(total_a.work_ms), ms_text(total_b.work_ms),
               signed_ms(total_b.work_ms - total_a.work_ms), ms_text(total_a.waiting_ms),
               ms_text(total_b.waiting_ms), some_bytes(total_a.inter_bytes),
               some_bytes(total_b.inter_bytes)});
  }
  return table.text();
}

std::string rank_bars_text(const StageProfile& profile, int width) {
  double longest = 0;
  for (std::size_t rank = 0; rank < profile.by_rank.size(); ++rank) {
    const RankTotal total = total_of(profile, rank);
    longest = std::max(longest, total.work_ms + total.waiting_ms);
  }
  TextTable table(
      {{"rank"}, {"work ms"}, {"wait ms"}, {"work █, waiting for peers ░", Align::left}});
  for (std::size_t rank = 0; rank < profile.by_rank.size(); ++rank) {
    const RankTotal total = total_of(profile, rank);
    const double scale = longest > 0 ? width / longest : 0;
    const int work = static_cast<int>(total.work_ms * scale + 0.5);
    const int both = static_cast<int>((total.work_ms + total.waiting_ms) * scale + 0.5);
    std::string line;
    for (int column = 0; column < both; ++column) line += column < work ? "█" : "░";
    table.row({std::to_string(rank), ms_text(total.work_ms), ms_text(total.waiting_ms), line});
  }
  return table.text();
}

nlohmann::ordered_json stages_json(const StageProfile& profile) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Stage stage : stages_of(profile, profile)) {
    const StageCost sum = sum_of(profile, stage);
    json[to_string(stage)] = {
        {"ms_max", profile.ms_max(stage)},
        {"ms_mean", profile.ms_mean(stage)},
        {"slowest_rank", profile.slowest_rank(stage)},
        {"busy_ms_max", profile.busy_ms_max(stage)},
        {"waiting_ms_mean", sum.waiting_ms / static_cast<double>(profile.by_rank.size())},
        {"intra_bytes", sum.intra_bytes},
        {"inter_bytes", sum.inter_bytes},
        {"rows", sum.rows}};
  }
  return json;
}

nlohmann::ordered_json ranks_json(const StageProfile& profile) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const std::vector<Stage> stages = stages_of(profile, profile);
  for (std::size_t rank = 0; rank < profile.by_rank.size(); ++rank) {
    nlohmann::ordered_json one = {{"rank", rank}, {"stages", nlohmann::ordered_json::object()}};
    for (const Stage stage : stages) {
      const StageCost& cost = profile.at(rank, stage);
      one["stages"][to_string(stage)] = {{"ms", cost.ms},
                                         {"busy_ms", cost.busy_ms},
                                         {"waiting_ms", cost.waiting_ms},
                                         {"rows", cost.rows},
                                         {"intra_bytes", cost.intra_bytes},
                                         {"inter_bytes", cost.inter_bytes}};
    }
    json.push_back(std::move(one));
  }
  return json;
}

nlohmann::ordered_json interval_json(const Interval& interval) {
  return {{"estimate", interval.estimate},
          {"low", interval.low},
          {"high", interval.high},
          {"confidence", interval.confidence}};
}

std::string percent_interval_text(const Interval& interval) {
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f}, {:.0f} %)", interval.estimate * 100,
                     interval.low * 100, interval.high * 100, interval.confidence * 100);
}

}  // namespace shardscope::app
