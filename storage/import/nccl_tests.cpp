#include "storage/import/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "profiler/median.hpp"
#include "storage/import/log_lines.hpp"

namespace shardscope::storage {
namespace {

constexpr double kLargestMessage = 1e15;  // bytes
constexpr double kLongestCall = 1e12;     // us
constexpr double kShortestCall = 1e-3;    // us; less is no time
constexpr std::int32_t kMostNcclRanks = 1 << 20;

/// Programs of nccl-tests; longer names before those that they contain.
constexpr std::array kCollectives = {"all_reduce", "reduce_scatter", "all_gather", "alltoall",
                                     "sendrecv",   "broadcast",      "hypercube",  "scatter",
                                     "gather",     "reduce"};

constexpr std::array kElementTypes = {
    "int8",   "uint8",    "int32",  "uint32", "int64",    "uint64",   "half", "float",
    "double", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2", "char", "int"};

std::optional<double> number_in(std::string_view word, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value > most) return std::nullopt;
  return value;
}

bool is_whole(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "sum", "none", "prod", ...: what stands between type and numbers.
bool is_word(std::string_view word) {
  return !word.empty() && word != "N/A" &&
         ((word.front() >= 'a' && word.front() <= 'z') ||
          (word.front() >= 'A' && word.front() <= 'Z'));
}

bool is_element_type(std::string_view word) {
  return std::find(kElementTypes.begin(), kElementTypes.end(), word) != kElementTypes.end();
}

/// The collective whose program's name stands in the text; with `program` only as NAME_perf.
std::string collective_in(std::string_view text, bool program) {
  for (const char* name : kCollectives) {
    const std::string wanted = program ? std::string(name) + "_perf" : std::string(name);
    if (text.find(wanted) != std::string_view::npos) return name;
  }
  return {};
}

/// One line of figures.
struct NcclRow {
  double bytes = 0;
  double us = 0;
  double ratio = 0;  ///< busbw / algbw; 0: not printed
  bool reduces = false;
};

/// size count type [redop] [root] time algbw busbw [wrong] ...; nothing where it is another line.
std::optional<NcclRow> row_of(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 3 < words.size(); ++i) {
    if (!is_whole(words[i]) || !is_whole(words[i + 1]) || !is_element_type(words[i + 2])) continue;
    std::size_t at = i + 3;
    NcclRow row;
    if (is_word(words[at])) {
      row.reduces = words[at] != "none";
      ++at;
    }
    // A root is whole (often -1) before an odd number of figures: four for each of two placements.
    const std::size_t rest = words.size() - at;
    const bool negative = rest > 0 && words[at].front() == '-';
    if (rest > 1 && (negative || (rest % 2 == 1 && is_whole(words[at])))) ++at;
    const auto bytes = number_in(words[i], kLargestMessage);
    const auto us = at < words.size() ? number_in(words[at], kLongestCall) : std::nullopt;
    if (!bytes || !us) return NcclRow{};
    row.bytes = *bytes;
    row.us = *us;
    if (at + 2 < words.size()) {
      const auto rate = number_in(words[at + 1], 1e9), bus = number_in(words[at + 2], 1e9);
      if (rate && bus && *rate > 0) row.ratio = *bus / *rate;
    }
    return row;
  }
  return std::nullopt;
}

/// Collects lines into tests.
class NcclReader {
 public:
  NcclReader(std::int32_t ranks, std::string_view name, ImportNotes& notes)
      : default_ranks_(ranks), name_(collective_in(name, false)), notes_(notes) {}

  void line(std::string_view text, std::int64_t number) {
    if (const std::string named = collective_in(text, true); !named.empty()) {
      finish();
      collective_ = named;
      start_devices_ = true;
    }
    const std::vector<std::string_view> words = words_of(text);
    if (words.empty()) return;
    if (text.find('#') != std::string_view::npos) return comment(text, words);
    const auto row = row_of(words);
    if (!row) return notes_.skip();
    if (row->us < kShortestCall) {
      if (row->bytes > 0) {
        notes_.warn(number, "a line of figures without a time is left out",
                    "size count type redop root time algbw busbw");
      }
      return;
    }
    if (row->bytes > 0) rows_.push_back(*row);
  }

  std::vector<NcclTest> take() {
    finish();
    return std::move(tests_);
  }

 private:
  void comment(std::string_view text, const std::vector<std::string_view>& words) {
    // "#  Rank  0 Group  0 Pid  123 on  host device  0 [0x07] NAME"
    const bool device =
        text.find("Rank") != std::string_view::npos && text.find("Pid") != std::string_view::npos;
    if (!device) {
      if (text.find("nGpus") != std::string_view::npos) start_devices_ = true;
      return;
    }
    if (start_devices_ || !rows_.empty()) {
      finish();
      listed_ = 0;
      hosts_.clear();
      start_devices_ = false;
    }
    if (listed_ < kMostNcclRanks) ++listed_;
    const auto on = std::find(words.begin(), words.end(), std::string_view("on"));
    if (on != words.end() && on + 1 != words.end()) hosts_.emplace(*(on + 1));
  }

  /// The collective from what the bus bandwidth is of the other; alltoall where that is ambiguous.
  [[nodiscard]] std::string guessed(std::int32_t ranks) const {
    double ratio = 0;
    bool reduces = false;
    for (const NcclRow& row : rows_) {
      reduces |= row.reduces;
      ratio = std::max(ratio, row.ratio);
    }
    const double all = 2.0 * (ranks - 1) / ranks;
    if (!reduces) return "alltoall";
    // Large sizes only: small ones are printed with too few digits.
    return std::abs(ratio - all) < std::abs(ratio - all / 2) ? "all_reduce" : "reduce_scatter";
  }

  void finish() {
    if (rows_.empty()) return;
    NcclTest test;
    test.ranks = listed_ > 1 ? listed_ : default_ranks_;
    test.hosts = static_cast<std::int32_t>(hosts_.size());
    test.collective = !collective_.empty() ? collective_ : name_;
    if (test.ranks < 2) {
      notes_.warn(0,
                  fmt::format("{} lines are left out: it is not told how many ranks took part",
                              rows_.size()),
                  "the list of ranks above the table, or --topology");
      rows_.clear();
      collective_.clear();
      return;
    }
    if (test.collective.empty()) {
      test.collective = guessed(test.ranks);
      notes_.warn(0, "the output does not name its collective; it is taken as " + test.collective,
                  "the line that started it (alltoall_perf ...)");
    }
    std::map<double, std::vector<double>> by_size;
    for (const NcclRow& row : rows_) by_size[row.bytes].push_back(row.us);
    for (auto& [bytes, times] : by_size) {
      test.times.push_back(time_of(test, bytes, median(std::move(times)) * 1e-6));
    }
    tests_.push_back(std::move(test));
    rows_.clear();
    collective_.clear();
  }

  /// nccl-tests' "size" is what a rank sends to all peers together (all-to-all), or the whole
  /// buffer.
  static CollectiveTime time_of(const NcclTest& test, double bytes, double seconds) {
    const double n = test.ranks;
    CollectiveTime time{test.collective, bytes, bytes, seconds};
    if (test.collective == "all_reduce") {
      time.received_bytes = 2 * bytes * (n - 1) / n;
    } else if (test.collective == "alltoall" || test.collective == "all_gather" ||
               test.collective == "reduce_scatter") {
      time.message_bytes = bytes / n;
      time.received_bytes = bytes * (n - 1) / n;
    }
    return time;
  }

  std::int32_t default_ranks_;
  std::string name_;
  ImportNotes& notes_;
  std::string collective_;
  std::int32_t listed_ = 0;
  std::set<std::string, std::less<>> hosts_;
  bool start_devices_ = true;
  std::vector<NcclRow> rows_;
  std::vector<NcclTest> tests_;
};

}  // namespace

Result<std::vector<NcclTest>> read_nccl_tests(std::string_view text, std::int32_t ranks,
                                              std::string_view name, ImportNotes& notes) {
  NcclReader reader(ranks, name, notes);
  std::int64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(text.substr(at, end - at), number);
    at = end + 1;
  }
  std::vector<NcclTest> tests = reader.take();
  if (tests.empty()) {
    const bool unknown_ranks = notes.warning_count() > 0;
    return fail({ErrorKind::usage,
                 unknown_ranks ? "no line of nccl-tests' figures can be used"
                               : "it has no line of nccl-tests' figures",
                 notes.file(), "size count type redop root time algbw busbw ...",
                 unknown_ranks ? "Give the machine with --topology, so that the ranks are known"
                               : "Use the whole output of alltoall_perf and its likes"});
  }
  for (const NcclTest& test : tests) {
    notes.kept(fmt::format("{} at {} sizes between {} ranks{}", test.collective, test.times.size(),
                           test.ranks,
                           test.hosts > 1 ? fmt::format(" on {} hosts", test.hosts) : ""));
  }
  return tests;
}

}  // namespace shardscope::storage
