#pragma once
// Versioned JSON of the vocabulary, text in and text out (docs/formats.md). Errors name line and
// column for malformed text and the path (tables[3].rows) for a wrong or unknown field.

#include <string>
#include <string_view>

#include "layout/check.hpp"
#include "layout/layout.hpp"
#include "layout/memory.hpp"
#include "layout/result.hpp"
#include "layout/table_stats.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// "shardscope.workload/1", or a table list ({"tables": [{name, rows, dim, hotness}...]}, groups).
/// `place` is named in errors (usually the file).
[[nodiscard]] Result<Workload> workload_from_json(std::string_view text, const std::string& place);
[[nodiscard]] std::string to_json(const Workload& workload);

/// "shardscope.topology/1".
[[nodiscard]] Result<Topology> topology_from_json(std::string_view text, const std::string& place);
[[nodiscard]] std::string to_json(const Topology& topology);

/// "shardscope.layout/1".
[[nodiscard]] Result<Layout> layout_from_json(std::string_view text, const std::string& place);
[[nodiscard]] std::string to_json(const Layout& layout);

[[nodiscard]] std::string to_json(const TableStats& stats);
[[nodiscard]] Result<TableStats> table_stats_from_json(std::string_view text,
                                                       const std::string& place);

}  // namespace shardscope
