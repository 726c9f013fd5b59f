#pragma once
// Names of models, machines and layouts as the bars and lists show them.

#include <string>

#include "ui/model/document.hpp"

namespace shardscope::ui {

/// The workload's own name, or what it was opened by.
[[nodiscard]] std::string model_title(const Document& document, const std::string& opened_as);
/// "1 × 8 H100 80GB".
[[nodiscard]] std::string topology_title(const Topology& topology);
/// The layout's name; edits after it as "+3"; a dot where the current one was edited.
[[nodiscard]] std::string layout_title(const History& history, int node);
/// "26 tables · 204.2 M rows · 194.7 GiB with Adagrad"; "with several optimizers" where they
/// differ.
[[nodiscard]] std::string tables_sentence(const Workload& workload);
[[nodiscard]] std::string optimizer_title(const Optimizer& optimizer);
/// "NVLink" on NVIDIA machines, "fast links" elsewhere; "InfiniBand" or "network".
[[nodiscard]] std::string intra_title(const Topology& topology);
[[nodiscard]] std::string inter_title(const Topology& topology);

}  // namespace shardscope::ui
