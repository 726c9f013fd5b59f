#include "app/codec_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "app/console.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kCodedShown = 8;
constexpr std::size_t kRefusedShown = 4;

const char* hop_text(LinkClass hop) {
  return hop == LinkClass::inter ? "between domains" : "inside domains";
}

const char* direction_text(Direction direction) {
  return direction == Direction::forward ? "forward" : "backward";
}

/// "forward between domains: 20 tables coded (18 dedup-fixed, 2 fixed), 6 raw".
std::string counts_text(const std::vector<CodecAccount>& accounts) {
  std::string text;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const LinkClass hop : {LinkClass::inter, LinkClass::intra}) {
      std::map<std::string, int> codecs;
      int coded = 0, raw = 0;
      for (const CodecAccount& one : accounts) {
        if (one.direction != direction || one.hop != hop) continue;
        one.in_place ? ++coded : ++raw;
        if (one.in_place) ++codecs[one.codec];
      }
      if (coded + raw == 0) continue;
      std::string names;
      for (const auto& [name, count] : codecs)
        names += fmt::format("{}{} {}", names.empty() ? " (" : ", ", count, name);
      text += fmt::format("  {} {}: {} table{} coded{}{}, {} raw\n", direction_text(direction),
                          hop_text(hop), coded, coded == 1 ? "" : "s", names,
                          names.empty() ? "" : ")", raw);
    }
  }
  return text;
}

void add_rows(const Inputs& inputs, const std::vector<CodecAccount>& accounts, bool in_place,
              std::size_t most, TextTable& table) {
  const Console console = Console::of_stdout();
  std::size_t shown = 0;
  for (const CodecAccount& one : accounts) {
    if (one.in_place != in_place || shown == most) continue;
    ++shown;
    table.row({inputs.workload.tables[static_cast<std::size_t>(one.table)].name,
               direction_text(one.direction), hop_text(one.hop),
               in_place ? console.green(one.codec) : "raw, not " + one.codec,
               fmt::format("{:+.1f}", -one.saves_s * 1e6), bytes_text(one.chunk_bytes),
               one.formula()});
  }
}

}  // namespace

std::string codec_accounts_text(const Inputs& inputs, const std::vector<CodecAccount>& accounts) {
  if (accounts.empty()) return {};
  TextTable table({{"table", Align::left},
                   {"direction", Align::left},
                   {"hop", Align::left},
                   {"codec", Align::left},
                   {"us an iteration"},
                   {"chunk"},
                   {"speedup of the exchange, break-even", Align::left}});
  add_rows(inputs, accounts, true, kCodedShown, table);
  add_rows(inputs, accounts, false, kRefusedShown, table);
  std::string rest;
  const std::size_t most = kCodedShown + kRefusedShown;
  if (accounts.size() > most)
    rest = fmt::format("  {} exchanges in all; --json lists them\n", accounts.size());
  return fmt::format(
      "Codecs\n{}{}{}  Speedup: 1 / (1/ratio + link/encode + link/decode), GB/s; rates of one core "
      "of this machine.\n",
      counts_text(accounts), table.text(2), rest);
}

nlohmann::ordered_json codec_accounts_json(const Inputs& inputs,
                                           const std::vector<CodecAccount>& accounts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const CodecAccount& one : accounts)
    json.push_back({{"table", inputs.workload.tables[static_cast<std::size_t>(one.table)].name},
                    {"direction", direction_text(one.direction)},
                    {"hop", one.hop == LinkClass::inter ? "inter" : "intra"},
                    {"codec", one.codec},
                    {"in_place", one.in_place},
                    {"ratio", one.ratio},
                    {"chunk_bytes", one.chunk_bytes},
                    {"link_gb_s", one.link_bytes_per_s / 1e9},
                    {"encode_gb_s", one.encode_bytes_per_s / 1e9},
                    {"decode_gb_s", one.decode_bytes_per_s / 1e9},
                    {"speedup", one.speedup},
                    {"break_even_gb_s", one.break_even_bytes_per_s / 1e9},
                    {"saves_ms", one.saves_s * 1e3},
                    {"formula", one.formula()}});
  return json;
}

}  // namespace shardscope::app
