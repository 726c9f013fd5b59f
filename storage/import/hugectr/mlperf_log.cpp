#include "storage/import/hugectr/mlperf_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profiler/median.hpp"
#include "storage/import/hugectr/literal.hpp"
#include "storage/import/torchrec/stats_columns.hpp"

namespace shardscope::storage {
namespace {

/// Events that describe the run, in the log's words.
constexpr std::string_view kWanted[] = {
    "global_batch_size",      "submission_org", "submission_platform", "submission_benchmark",
    "opt_base_learning_rate", "eval_accuracy",  "train_samples"};

class LogReader {
 public:
  explicit LogReader(ImportNotes& notes) : notes_(notes) {}

  void line(std::string_view text, std::int64_t number) {
    if (const std::size_t at = text.find(":::MLLOG"); at != std::string_view::npos) {
      event(text, text.find('{', at), number);
    } else if (const std::size_t time = text.find("Time("); time != std::string_view::npos) {
      iteration_time(text.substr(time));
    } else if (text.find("NVIDIA") != std::string_view::npos && device_.empty() &&
               text.find("Device ") != std::string_view::npos) {
      device_ = std::string(text.substr(text.find("NVIDIA")).substr(0, 60));
    }
  }

  HugectrPlan take(HugectrPlan plan) {
    if (!times_.empty()) {
      plan.facts.emplace_back("iter_ms", fmt::format("{:.4f}", median(times_)));
      plan.facts.emplace_back("iteration_times", std::to_string(times_.size()));
    }
    if (!throughput_.empty()) {
      plan.facts.emplace_back("throughput_samples_s", fmt::format("{:.0f}", median(throughput_)));
    }
    for (auto& fact : facts_) plan.facts.push_back(std::move(fact));
    plan.facts.emplace_back("tp_mlperf_platform", platform_);
    plan.global_batch = batch_;
    if (plan.device.empty()) plan.device = device_.empty() ? platform_ : device_;
    plan.model = "dcnv2";
    return plan;
  }

  [[nodiscard]] bool found() const { return !times_.empty() || !throughput_.empty() || batch_ > 0; }

 private:
  void event(std::string_view text, std::size_t open, std::int64_t number) {
    const auto literal = open == std::string_view::npos
                             ? Result<Literal>(fail(Error{}))
                             : parse_literal(text, open, notes_.place(number));
    if (!literal) return notes_.warn(number, "a damaged MLLOG event is left out", "a JSON object");
    const JsonValue* key = literal->value.find("key");
    const JsonValue* value = literal->value.find("value");
    if (key == nullptr || key->text() == nullptr || value == nullptr) return notes_.skip();
    const std::string& name = *key->text();
    if (name == "tracked_stats" || name == "throughput") {
      const JsonValue* rate = value->find("throughput");
      const auto number_value = stats_number(write_json_line(rate == nullptr ? *value : *rate));
      if (number_value && *number_value > 0) throughput_.push_back(*number_value);
      return;
    }
    if (std::find(std::begin(kWanted), std::end(kWanted), name) == std::end(kWanted)) {
      return notes_.skip();
    }
    const std::string shown = value->text() != nullptr ? *value->text() : write_json_line(*value);
    if (name == "global_batch_size") {
      batch_ = std::llround(std::min(stats_number(shown).value_or(0), 1e9));
    }
    if (name == "submission_platform") platform_ = shown;
    if (seen_.insert(name).second) facts_.emplace_back(name, shown);
  }

  /// "Time(1000 iters): 3.62s".
  void iteration_time(std::string_view text) {
    const std::vector<double> numbers = stats_numbers(text.substr(0, 80));
    constexpr double kMostMs = 1e7;
    if (numbers.size() < 2 || numbers[0] < 1) return;
    const double ms = numbers[1] * 1e3 / numbers[0];
    if (ms > 0 && ms < kMostMs) times_.push_back(ms);
  }

  ImportNotes& notes_;
  std::vector<double> times_;
  std::vector<double> throughput_;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::set<std::string> seen_;
  std::int64_t batch_ = 0;
  std::string platform_;
  std::string device_;
};

}  // namespace

Result<HugectrPlan> read_mlperf_log(std::string_view text, ImportNotes& notes) {
  LogReader reader(notes);
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at), number);
    at = end + 1;
  }
  HugectrPlan plan;
  if (text.find("shard_matrix") != std::string_view::npos) {
    auto plans = read_hugectr_plans(text, notes);
    if (plans && !plans->empty()) plan = std::move(plans->front());
    if (!plans) notes.warn(0, "the planner's lines are left out: " + plans.error().what);
  }
  if (!reader.found() && plan.ranks == 0) {
    return fail({ErrorKind::usage, "it has neither MLLOG events nor iteration times", notes.file(),
                 "\":::MLLOG {...}\" or \"Time(N iters): S s\" lines", ""});
  }
  if (plan.ranks == 0) notes.warn(0, "the log prints no shard_matrix", "shard_matrix:");
  return reader.take(std::move(plan));
}

}  // namespace shardscope::storage
