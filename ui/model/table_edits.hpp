#pragma once
// Edits of many tables in one step, and choices that tables have beside their cut: exchange, codec.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ui/model/document.hpp"

namespace shardscope::ui {

/// All tables to one cluster; tables that come from DP go whole to the GPUs with the least load.
[[nodiscard]] Layout set_tables_cluster(const Document& document,
                                        const std::set<std::int32_t>& tables, ClusterType cluster);

/// Every RB or UB table of the set into rows x columns equal shards, the widths multiples of the
/// column granule; new owners are the GPUs with the least load. Error: a table that is too small.
[[nodiscard]] Result<Layout> set_tables_cut(const Document& document,
                                            const std::set<std::int32_t>& tables, std::int32_t rows,
                                            std::int32_t columns);

/// Nothing: what the cluster has.
[[nodiscard]] Layout set_tables_exchange(const Document& document,
                                         const std::set<std::int32_t>& tables,
                                         std::optional<Exchange> exchange);

/// The four places a codec stands in.
enum class CodecPlace : std::uint8_t {
  forward_intra,
  forward_inter,
  backward_intra,
  backward_inter,
};
inline constexpr int kCodecPlaces = 4;
[[nodiscard]] std::string_view title_of(CodecPlace place);
[[nodiscard]] CodecSlot& slot_at(CodecSlots& slots, CodecPlace place);
[[nodiscard]] const CodecSlot& slot_at(const CodecSlots& slots, CodecPlace place);

[[nodiscard]] Layout set_tables_codec(const Document& document,
                                      const std::set<std::int32_t>& tables, CodecPlace place,
                                      const CodecSlot& slot);
/// What the cluster has, again.
[[nodiscard]] Layout clear_tables_codecs(const Document& document,
                                         const std::set<std::int32_t>& tables);

/// "raw", "dedup-huffman 0.03 rel", "fixed 0.001 abs"; read back by parse_codec().
[[nodiscard]] std::string codec_text(const CodecSlot& slot);
[[nodiscard]] Result<CodecSlot> parse_codec(const std::string& text);

/// The row or column cut `index` (1-based: the first inner one) of a table at another bound.
/// Errors: modulo rows, a bound beyond its neighbours, columns off the granule.
[[nodiscard]] Result<TablePlacement> move_row_cut(TablePlacement placement, std::size_t index,
                                                  std::int64_t bound);
[[nodiscard]] Result<TablePlacement> move_column_cut(TablePlacement placement, std::size_t index,
                                                     std::int32_t bound);

}  // namespace shardscope::ui
