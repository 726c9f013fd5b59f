#include "ui/model/table_filter.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "layout/names.hpp"

namespace shardscope::ui {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

/// "12", "1.5K", "40M", "2B".
std::optional<double> number_of(std::string_view text) {
  double scale = 1;
  if (!text.empty()) {
    switch (std::tolower(static_cast<unsigned char>(text.back()))) {
      case 'k':
        scale = 1e3;
        break;
      case 'm':
        scale = 1e6;
        break;
      case 'b':
        scale = 1e9;
        break;
      default:
        break;
    }
    if (scale > 1) text.remove_suffix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value * scale;
}

std::optional<ClusterType> cluster_of(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return parse_name<ClusterType>(upper);
}

tl::unexpected<Error> unreadable(std::string_view term) {
  return fail({ErrorKind::usage, "the filter has a term that cannot be read", std::string(term),
               "a word, cl:RB, gpu:3, or rows dim hot uniq gib cost shards with > >= < <= = and a "
               "number (1.5K, 40M)",
               ""});
}

}  // namespace

Result<TableFilter> TableFilter::parse(std::string_view text) {
  TableFilter filter;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) return filter;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t,"), text.size());
    Result<Term> term = parse_term(text.substr(0, end));
    if (!term) return fail(term.error());
    filter.terms_.push_back(std::move(*term));
    text.remove_prefix(end);
  }
}

Result<TableFilter::Term> TableFilter::parse_term(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, What>, 7> kNumbers = {
      {{"rows", What::rows},
       {"dim", What::dim},
       {"hot", What::hot},
       {"uniq", What::uniq},
       {"gib", What::gib},
       {"cost", What::cost},
       {"shards", What::shards}}};
  if (const auto cluster = cluster_of(text)) {
    return Term{What::cluster, Compare::equal, static_cast<double>(*cluster), {}};
  }
  const std::string small = lower(text);
  if (small.starts_with("cl:")) {
    const auto cluster = cluster_of(text.substr(3));
    if (!cluster) return unreadable(text);
    return Term{What::cluster, Compare::equal, static_cast<double>(*cluster), {}};
  }
  if (small.starts_with("gpu:")) {
    const auto gpu = number_of(text.substr(4));
    if (!gpu) return unreadable(text);
    return Term{What::gpu, Compare::equal, *gpu, {}};
  }
  const std::size_t sign = small.find_first_of("<>=");
  if (sign == std::string::npos) return Term{What::name, Compare::equal, 0, small};
  Term term;
  const auto known = std::find_if(kNumbers.begin(), kNumbers.end(), [&](const auto& entry) {
    return entry.first == std::string_view(small).substr(0, sign);
  });
  if (known == kNumbers.end()) return unreadable(text);
  term.what = known->second;
  const bool or_equal = sign + 1 < small.size() && small[sign + 1] == '=';
  if (small[sign] == '=') {
    term.compare = Compare::equal;
  } else if (small[sign] == '<') {
    term.compare = or_equal ? Compare::less_equal : Compare::less;
  } else {
    term.compare = or_equal ? Compare::greater_equal : Compare::greater;
  }
  const auto value = number_of(text.substr(sign + (or_equal ? 2 : 1)));
  if (!value) return unreadable(text);
  term.number = *value;
  return term;
}

bool TableFilter::holds(const Term& term, const FilteredTable& table) {
  const auto compared = [&](double value) {
    switch (term.compare) {
      case Compare::less:
        return value < term.number;
      case Compare::less_equal:
        return value <= term.number;
      case Compare::equal:
        return value == term.number;
      case Compare::greater_equal:
        return value >= term.number;
      case Compare::greater:
        return value > term.number;
    }
    return false;
  };
  switch (term.what) {
    case What::name:
      return lower(table.name).find(term.word) != std::string::npos;
    case What::cluster:
      return static_cast<double>(table.cluster) == term.number;
    case What::gpu:
      return table.owners == nullptr || table.owners->empty() ||
             std::find(table.owners->begin(), table.owners->end(),
                       static_cast<std::int32_t>(term.number)) != table.owners->end();
    case What::rows:
      return compared(table.rows);
    case What::dim:
      return compared(table.dim);
    case What::hot:
      return compared(table.hot);
    case What::uniq:
      return compared(table.uniq_percent);
    case What::gib:
      return compared(table.gib);
    case What::cost:
      return compared(table.cost_ms);
    case What::shards:
      return compared(table.shards);
  }
  return false;
}

bool TableFilter::matches(const FilteredTable& table) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return holds(term, table); });
}

}  // namespace shardscope::ui
