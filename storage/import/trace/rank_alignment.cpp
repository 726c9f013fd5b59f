#include "storage/import/trace/rank_alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/median.hpp"

namespace shardscope::storage {
namespace {

/// The number behind "rank", "rank-", "rank_" or "worker" in a file's name; -1 without.
std::int32_t rank_in_name(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  std::transform(base.begin(), base.end(), base.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const std::string_view word : {"rank", "worker"}) {
    std::size_t at = base.find(word);
    if (at == std::string::npos) continue;
    at += word.size();
    while (at < base.size() && (base[at] == '-' || base[at] == '_' || base[at] == '.')) ++at;
    std::int32_t rank = -1;
    const auto [end, error] = std::from_chars(base.data() + at, base.data() + base.size(), rank);
    if (error == std::errc() && rank >= 0 && rank < 65536) return rank;
  }
  return -1;
}

std::int64_t first_work_ns(const RankTrace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const GpuWork& work : trace.work) first = std::min(first, work.start_ns);
  return first;
}

/// A profiler that traces in cycles writes a file a cycle: each rank's latest stands for it.
void keep_latest(std::vector<RankTrace>& ranks, ImportNotes& notes) {
  std::map<std::int32_t, std::size_t> latest;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].rank < 0 || ranks[r].world_size < 2) return;
    const auto [entry, fresh] = latest.emplace(ranks[r].rank, r);
    if (!fresh && first_work_ns(ranks[r]) >= first_work_ns(ranks[entry->second])) {
      entry->second = r;
    }
  }
  if (latest.size() == ranks.size()) return;
  notes.warn(0,
             fmt::format("{} files are of ranks that another file is of: the latest of each rank "
                         "is kept",
                         ranks.size() - latest.size()),
             "one file a rank; name those of another cycle alone");
  std::vector<RankTrace> kept;
  for (const auto& [rank, index] : latest) kept.push_back(std::move(ranks[index]));
  ranks = std::move(kept);
}

/// "report_10" after "report_2": numbers inside names by their size, where names differ in nothing
/// else.
void order_by_names(std::vector<RankTrace>& ranks) {
  const auto is_digit = [](char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
  };
  const auto parts = [&](const std::string& file) {
    std::pair<std::string, std::vector<std::string>> found;
    for (std::size_t i = 0; i < file.size(); ++i) {
      const bool digit = is_digit(file[i]);
      if (digit && (i == 0 || !is_digit(file[i - 1]))) {
        found.first += '0';
        found.second.emplace_back();
      }
      if (!digit) found.first += file[i];
      if (digit && (file[i] != '0' || !found.second.back().empty())) found.second.back() += file[i];
    }
    return found;
  };
  const auto first = parts(ranks.front().file);
  for (const RankTrace& trace : ranks) {
    if (parts(trace.file).first != first.first) return;
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](const RankTrace& a, const RankTrace& b) {
    const auto left = parts(a.file).second;
    const auto right = parts(b.file).second;
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                        [](const std::string& x, const std::string& y) {
                                          return x.size() != y.size() ? x.size() < y.size() : x < y;
                                        });
  });
}

/// Class of a collective for matching ranks: its name up to the protocol.
std::string collective_class(const std::string& name) {
  for (const char* piece : {"AllReduce", "SendRecv", "AllToAll", "Alltoall", "ReduceScatter",
                            "AllGather", "Broadcast", "Reduce"}) {
    if (name.find(piece) != std::string::npos) return piece;
  }
  return "other";
}

}  // namespace

MatchedCollectives match_collectives(const std::vector<RankTrace>& ranks,
                                     const std::vector<std::vector<WorkPlace>>& places) {
  using Key = std::pair<std::int32_t, std::string>;  // iteration, class
  std::vector<std::map<Key, std::vector<std::size_t>>> lists(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t w = 0; w < ranks[r].work.size(); ++w) {
      if (!places[r][w].collective) continue;
      const std::string& name = ranks[r].names.text(ranks[r].work[w].name);
      lists[r][{places[r][w].iteration, collective_class(name)}].push_back(w);
    }
    for (auto& [key, list] : lists[r]) {
      std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
        return ranks[r].work[a].start_ns < ranks[r].work[b].start_ns;
      });
    }
  }
  MatchedCollectives matches;
  for (const auto& [key, first] : lists.front()) {
    bool everywhere = ranks.size() > 1;
    for (const auto& list : lists) {
      const auto found = list.find(key);
      everywhere = everywhere && found != list.end() && found->second.size() == first.size();
    }
    for (std::size_t k = 0; everywhere && k < first.size(); ++k) {
      matches.emplace_back();
      for (const auto& list : lists) matches.back().push_back(list.at(key)[k]);
    }
  }
  return matches;
}

/// Collectives end together: the median difference of their ends is the clocks' difference.
void align_clocks(std::vector<RankTrace>& ranks, const MatchedCollectives& matches,
                  std::vector<TraceRank>& totals, ImportNotes& notes) {
  constexpr std::int64_t kWorthTelling = 1'000'000;
  for (std::size_t r = 1; r < ranks.size() && !matches.empty(); ++r) {
    std::vector<std::int64_t> differences;
    for (const std::vector<std::size_t>& match : matches) {
      differences.push_back(ranks[r].work[match[r]].end_ns - ranks[0].work[match[0]].end_ns);
    }
    totals[r].offset_ns = median(std::move(differences));
    if (std::abs(totals[r].offset_ns) > kWorthTelling) {
      notes.kept(fmt::format(
          "rank {}'s clock is {:+.3f} ms off rank {}'s; aligned by {} collectives", ranks[r].rank,
          static_cast<double>(totals[r].offset_ns) / 1e6, ranks[0].rank, matches.size()));
    }
    const auto shift = [&](auto& list) {
      for (auto& one : list) {
        one.start_ns -= totals[r].offset_ns;
        if constexpr (requires { one.end_ns; }) one.end_ns -= totals[r].offset_ns;
      }
    };
    shift(ranks[r].work);
    shift(ranks[r].calls);
    shift(ranks[r].ranges);
    shift(ranks[r].collectives);
    shift(ranks[r].lookups);
  }
}

void find_waiting(const std::vector<RankTrace>& ranks, const MatchedCollectives& matches,
                  std::vector<std::vector<WorkPlace>>& places) {
  for (const std::vector<std::size_t>& match : matches) {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      last = std::max(last, ranks[r].work[match[r]].start_ns);
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const GpuWork& work = ranks[r].work[match[r]];
      places[r][match[r]].waiting_ns =
          std::clamp<std::int64_t>(last - work.start_ns, 0, work.end_ns - work.start_ns);
    }
  }
}

void number_ranks(std::vector<RankTrace>& ranks, ImportNotes& notes) {
  for (RankTrace& trace : ranks) {
    if (trace.rank < 0) trace.rank = rank_in_name(trace.file);
  }
  keep_latest(ranks, notes);
  std::map<std::int32_t, int> used;
  for (const RankTrace& trace : ranks) ++used[trace.rank];
  if (ranks.size() == 1 && ranks.front().rank < 0) ranks.front().rank = 0;
  const bool sound = std::all_of(used.begin(), used.end(), [](const auto& entry) {
    return entry.first >= 0 && entry.second == 1;
  });
  if (!sound && ranks.size() > 1) {
    notes.warn(0, "the traces do not name their ranks (or twice the same): numbered in their order",
               "distributedInfo with \"rank\", or rank-N in the file's name");
    order_by_names(ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].rank = static_cast<std::int32_t>(r);
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
}

}  // namespace shardscope::storage
