#include "ui/model/table_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <vector>

#include "layout/codec_bytes.hpp"

namespace shardscope::ui {
namespace {

/// GPUs by load, which grows with what is put on them.
class LoadQueue {
 public:
  explicit LoadQueue(const Document& document) : load_(document.current().load_s) {
    load_.resize(static_cast<std::size_t>(document.topology().ranks()));
  }
  std::int32_t take(double seconds) {
    const auto least = std::min_element(load_.begin(), load_.end());
    *least += seconds;
    return static_cast<std::int32_t>(least - load_.begin());
  }

 private:
  std::vector<double> load_;
};

double mean_load(const Document& document) {
  const double mean = document.current().mean_load_s;
  return mean > 0 ? mean / 8 : 1e-6;
}

tl::unexpected<Error> cannot_cut(const std::string& what, const std::string& expected) {
  return fail({ErrorKind::usage, what, "", expected, "Choose another bound"});
}

std::vector<std::int32_t> equal_columns(std::int32_t dim, std::int32_t parts) {
  std::vector<std::int32_t> cuts(static_cast<std::size_t>(parts) + 1);
  const std::int32_t granules = dim / kColumnGranule;
  for (std::int32_t part = 0; part < parts; ++part) {
    cuts[static_cast<std::size_t>(part)] = granules * part / parts * kColumnGranule;
  }
  cuts.back() = dim;
  return cuts;
}

}  // namespace

Layout set_tables_cluster(const Document& document, const std::set<std::int32_t>& tables,
                          ClusterType cluster) {
  Layout layout = document.layout();
  LoadQueue queue(document);
  const double each = mean_load(document);
  for (const std::int32_t t : tables) {
    TablePlacement& placement = layout.tables[static_cast<std::size_t>(t)];
    if (placement.cluster == cluster) continue;
    const std::int32_t to = placement.cluster == ClusterType::DP ? queue.take(each) : 0;
    placement = set_cluster(document.workload().tables[static_cast<std::size_t>(t)],
                            std::move(placement), cluster, to);
  }
  return layout;
}

Result<Layout> set_tables_cut(const Document& document, const std::set<std::int32_t>& tables,
                              std::int32_t rows, std::int32_t columns) {
  Layout layout = document.layout();
  LoadQueue queue(document);
  for (const std::int32_t t : tables) {
    TablePlacement& placement = layout.tables[static_cast<std::size_t>(t)];
    const Table& table = document.workload().tables[static_cast<std::size_t>(t)];
    if (placement.cluster == ClusterType::DP) continue;
    if (rows < 1 || columns < 1 || rows > table.rows || columns > table.dim / kColumnGranule) {
      return fail({ErrorKind::usage,
                   fmt::format("{} ({} rows × {}) cannot be cut into {} × {}", table.name,
                               table.rows, table.dim, rows, columns),
                   "", "at least a row and 4 columns a shard", "Choose fewer parts"});
    }
    const std::size_t cells = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    placement.mapping = RowMapping::modulo;
    placement.row_cuts.clear();
    placement.row_shards = rows;
    placement.column_cuts = equal_columns(table.dim, columns);
    placement.tiers.clear();
    const double each = mean_load(document) / static_cast<double>(cells);
    placement.owners.resize(std::min(placement.owners.size(), cells));
    while (placement.owners.size() < cells) placement.owners.push_back(queue.take(each));
  }
  return layout;
}

Layout set_tables_exchange(const Document& document, const std::set<std::int32_t>& tables,
                           std::optional<Exchange> exchange) {
  Layout layout = document.layout();
  for (const std::int32_t t : tables) {
    layout.tables[static_cast<std::size_t>(t)].exchange = exchange;
  }
  return layout;
}

std::string_view title_of(CodecPlace place) {
  constexpr std::array<std::string_view, kCodecPlaces> kTitles = {
      "forward, inside", "forward, between", "backward, inside", "backward, between"};
  return kTitles[static_cast<std::size_t>(place)];
}

CodecSlot& slot_at(CodecSlots& slots, CodecPlace place) {
  return const_cast<CodecSlot&>(slot_at(std::as_const(slots), place));
}

const CodecSlot& slot_at(const CodecSlots& slots, CodecPlace place) {
  const bool forward = place == CodecPlace::forward_intra || place == CodecPlace::forward_inter;
  const bool inside = place == CodecPlace::forward_intra || place == CodecPlace::backward_intra;
  return codec_slot(slots, forward ? Direction::forward : Direction::backward,
                    inside ? LinkClass::intra : LinkClass::inter);
}

Layout set_tables_codec(const Document& document, const std::set<std::int32_t>& tables,
                        CodecPlace place, const CodecSlot& slot) {
  Layout layout = document.layout();
  for (const std::int32_t t : tables) {
    CodecSlots slots = layout.codecs_of(static_cast<std::size_t>(t));
    slot_at(slots, place) = slot;
    layout.tables[static_cast<std::size_t>(t)].codecs = slots;
  }
  return layout;
}

Layout clear_tables_codecs(const Document& document, const std::set<std::int32_t>& tables) {
  Layout layout = document.layout();
  for (const std::int32_t t : tables) layout.tables[static_cast<std::size_t>(t)].codecs.reset();
  return layout;
}

std::string codec_text(const CodecSlot& slot) {
  if (slot.bound == 0) return slot.name;
  return fmt::format("{} {:g} {}", slot.name, slot.bound, slot.relative ? "rel" : "abs");
}

Result<CodecSlot> parse_codec(const std::string& text) {
  const auto wrong = [&](const char* what) {
    return fail({ErrorKind::usage, fmt::format("'{}' {}", text, what), "",
                 "NAME [BOUND [rel|abs]], e.g. dedup-huffman 0.03 rel", ""});
  };
  std::istringstream in(text);
  CodecSlot slot;
  if (!(in >> slot.name)) return wrong("names no codec");
  std::string word;
  if (in >> word) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), slot.bound);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(slot.bound) ||
        slot.bound < 0) {
      return wrong("has no bound");
    }
  }
  if (in >> word) {
    if (word != "rel" && word != "abs") return wrong("is neither rel nor abs");
    slot.relative = word == "rel";
  }
  if (in >> word) return wrong("goes on too long");
  return slot;
}

Result<TablePlacement> move_row_cut(TablePlacement placement, std::size_t index,
                                    std::int64_t bound) {
  if (placement.mapping != RowMapping::block) {
    return cannot_cut("modulo rows are equal classes without bounds", "block rows");
  }
  if (index == 0 || index + 1 >= placement.row_cuts.size()) {
    return cannot_cut("there is no such cut", "an inner bound");
  }
  const std::int64_t low = placement.row_cuts[index - 1] + 1;
  const std::int64_t high = placement.row_cuts[index + 1] - 1;
  if (bound < low || bound > high) {
    return cannot_cut(fmt::format("row {} lies beyond the next cut", bound),
                      fmt::format("{} to {}", low, high));
  }
  placement.row_cuts[index] = bound;
  return placement;
}

Result<TablePlacement> move_column_cut(TablePlacement placement, std::size_t index,
                                       std::int32_t bound) {
  if (index == 0 || index + 1 >= placement.column_cuts.size()) {
    return cannot_cut("there is no such cut", "an inner bound");
  }
  const std::int32_t low = placement.column_cuts[index - 1] + 1;
  const std::int32_t high = placement.column_cuts[index + 1] - 1;
  if (bound < low || bound > high || bound % kColumnGranule != 0) {
    return cannot_cut(fmt::format("column {} cannot be a cut", bound),
                      fmt::format("{} to {}, a multiple of {}", low, high, kColumnGranule));
  }
  placement.column_cuts[index] = bound;
  return placement;
}

}  // namespace shardscope::ui
