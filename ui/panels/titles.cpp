#include "ui/panels/titles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ui/model/numbers.hpp"

namespace shardscope::ui {

std::string model_title(const Document& document, const std::string& opened_as) {
  return document.workload().name.empty() ? opened_as : document.workload().name;
}

std::string topology_title(const Topology& topology) {
  return fmt::format("{} × {} {}", topology.hosts, topology.gpus_per_host, topology.gpu.name);
}

std::string layout_title(const History& history, int node) {
  int edits = 0;
  int at = node;
  while (history.node(at).parent >= 0 &&
         history.node(history.node(at).parent).layout->name == history.node(at).layout->name) {
    at = history.node(at).parent;
    ++edits;
  }
  std::string name = history.node(node).layout->name;
  if (name.empty()) name = "layout";
  return edits == 0 ? name : fmt::format("{} +{}", name, edits);
}

std::string optimizer_title(const Optimizer& optimizer) {
  switch (optimizer.kind) {
    case OptimizerKind::sgd:
      return "SGD";
    case OptimizerKind::adagrad:
      return "Adagrad";
    case OptimizerKind::rowwise_adagrad:
      return "row-wise Adagrad";
    case OptimizerKind::adam:
      return "Adam";
    case OptimizerKind::other:
      return "its optimizer";
  }
  return {};
}

std::string tables_sentence(const Workload& workload) {
  double rows = 0, bytes = 0;
  for (const Table& table : workload.tables) {
    rows += static_cast<double>(table.rows);
    bytes += table_bytes(table);
  }
  if (workload.tables.empty()) return "none";
  const Optimizer& first = workload.tables.front().optimizer;
  const bool alike = std::all_of(workload.tables.begin(), workload.tables.end(),
                                 [&](const Table& t) { return t.optimizer.kind == first.kind; });
  return fmt::format("{} · {} rows · {} GiB with {}",
                     plural(static_cast<std::int64_t>(workload.tables.size()), "table"),
                     count_text(rows), gib_text(bytes),
                     alike ? optimizer_title(first) : "several optimizers");
}

std::string intra_title(const Topology& topology) {
  return topology.name.find("pcie") != std::string::npos  ? "PCIe"
         : topology.name.find("cpu") != std::string::npos ? "shared memory"
                                                          : "NVLink";
}

std::string inter_title(const Topology& topology) {
  return topology.name.find("cpu") != std::string::npos ? "network" : "InfiniBand";
}

}  // namespace shardscope::ui
