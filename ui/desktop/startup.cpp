#include "ui/desktop/startup.hpp"

#include "ui/desktop/open.hpp"
#include "ui/desktop/open_file.hpp"

namespace shardscope::ui {

Status open_as_asked(Desktop& desktop, const GuiOptions& options) {
  const std::string first = options.reference.empty() ? options.layout : options.reference;
  if (!options.workload.empty()) {
    if (Status opened = desktop.open_model(options.workload, options.topology, first); !opened) {
      return opened;
    }
  }
  // After the model: a plan of another program takes its tables' sizes from there.
  if (!options.file.empty()) return open_path(desktop, options.file);
  if (options.workload.empty() || options.reference.empty()) return {};
  Result<Layout> layout =
      open_layout(options.layout, desktop.document->workload(), desktop.document->topology());
  if (!layout) return fail(layout.error());
  desktop.document->apply(std::move(*layout), "Open " + options.layout);
  return {};
}

}  // namespace shardscope::ui
