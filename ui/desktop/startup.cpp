#include "ui/desktop/startup.hpp"

#include <array>
#include <fstream>
#include <string_view>

#include "ui/desktop/open.hpp"

namespace shardscope::ui {

Status open_as_asked(Desktop& desktop, const GuiOptions& options) {
  if (!options.session.empty()) return desktop.open_session(options.session);
  if (options.workload.empty()) return {};
  const std::string first = options.reference.empty() ? options.layout : options.reference;
  if (Status opened = desktop.open_model(options.workload, options.topology, first); !opened) {
    return opened;
  }
  if (options.reference.empty()) return {};
  Result<Layout> layout =
      open_layout(options.layout, desktop.document->workload(), desktop.document->topology());
  if (!layout) return fail(layout.error());
  desktop.document->apply(std::move(*layout), "Open " + options.layout);
  return {};
}

void open_dropped(Desktop& desktop, const std::string& path) {
  std::array<char, 16> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (std::string_view(head.data(), 15) == "SQLite format 3") {
    if (Status opened = desktop.open_session(path); !opened) desktop.tell(opened.error());
    return;
  }
  const Result<std::string> text = read_text(path);
  if (!text) {
    desktop.tell(text.error());
    return;
  }
  const bool layout = text->find("\"shardscope.layout/") != std::string::npos;
  const bool topology = text->find("\"shardscope.topology/") != std::string::npos;
  if (!layout && !topology) {
    desktop.try_open_model(path, desktop.topology_name.empty() ? "dgx-h100" : desktop.topology_name,
                           "table_row_wise");
    return;
  }
  if (desktop.document == nullptr) {
    desktop.tell(Severity::warning, path + ": open a model first, then its layouts.");
    return;
  }
  if (topology) {
    desktop.try_open_model(desktop.workload_name, path, "table_row_wise");
    return;
  }
  Result<Layout> opened =
      open_layout(path, desktop.document->workload(), desktop.document->topology());
  if (!opened) {
    desktop.tell(opened.error());
    return;
  }
  desktop.document->apply(std::move(*opened), "Open " + path);
}

}  // namespace shardscope::ui
