#pragma once
// The current layout as text for whoever trains it.

#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::ui {

enum class ExportFormat : std::uint8_t {
  shardscope,
  hugectr,
  hugectr_json,
  torchrec,
  torchrec_loader
};
inline constexpr std::size_t kExportFormats = 5;

struct ExportText {
  std::string file_name;             ///< proposed
  std::string text;                  ///< empty where it was refused
  std::string refusal;               ///< why, with the cure
  std::vector<std::string> changes;  ///< what the framework will do differently
};

[[nodiscard]] const char* title_of(ExportFormat format);
[[nodiscard]] ExportText export_layout(const Workload& workload, const Topology& topology,
                                       const Layout& layout, ExportFormat format);

}  // namespace shardscope::ui
