#include "ui/model/layout_export.hpp"

#include <cctype>

#include "layout/json.hpp"
#include "storage/export/hugectr.hpp"
#include "storage/export/torchrec.hpp"

namespace shardscope::ui {
namespace {

std::string base_name(const Layout& layout) {
  std::string name = layout.name.empty() ? "layout" : layout.name;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '-') letter = '_';
  }
  return name;
}

}  // namespace

const char* title_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::shardscope:
      return "Shardscope JSON";
    case ExportFormat::hugectr:
      return "HugeCTR Python";
    case ExportFormat::hugectr_json:
      return "HugeCTR JSON";
    case ExportFormat::torchrec:
      return "TorchRec JSON";
    case ExportFormat::torchrec_loader:
      return "TorchRec loader";
  }
  return "";
}

ExportText export_layout(const Workload& workload, const Topology& topology, const Layout& layout,
                         ExportFormat format) {
  const std::string name = base_name(layout);
  ExportText result;
  switch (format) {
    case ExportFormat::shardscope:
      result.file_name = name + ".json";
      result.text = to_json(layout) + "\n";
      return result;
    case ExportFormat::hugectr:
    case ExportFormat::hugectr_json: {
      const bool python = format == ExportFormat::hugectr;
      result.file_name = name + (python ? "_hugectr.py" : "_hugectr.json");
      const auto exported = storage::export_hugectr(workload, topology, layout);
      if (!exported) {
        result.refusal = to_string(exported.error());
        return result;
      }
      result.text = python ? exported->python : exported->json;
      result.changes = exported->changes;
      return result;
    }
    case ExportFormat::torchrec:
    case ExportFormat::torchrec_loader: {
      const bool loader = format == ExportFormat::torchrec_loader;
      const std::string json_name = name + "_torchrec.json";
      result.file_name = loader ? name + "_torchrec.py" : json_name;
      const auto exported = storage::export_torchrec(workload, topology, layout, json_name);
      if (!exported) {
        result.refusal = to_string(exported.error());
        return result;
      }
      result.text = loader ? exported->loader : exported->json;
      result.changes = exported->changes;
      return result;
    }
  }
  return result;
}

}  // namespace shardscope::ui
