#pragma once
// From names and files to values: the model, the machine, the layout.

#include <string>

#include "app/options.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::app {

struct Inputs {
  Workload workload;  ///< with batch and rows cap applied; valid by check_workload
  Topology topology;  ///< valid by check_topology
};

/// The whole text of a regular file of at most 1 GiB.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

/// True where the text names a file rather than a built-in: it has a '/' or a '.'.
[[nodiscard]] bool looks_like_file(const std::string& text);

/// A built-in model, a JSON file, or a recorded stream (a workload is then proposed for it).
[[nodiscard]] Result<Workload> load_workload(const std::string& name_or_file);
[[nodiscard]] Result<Topology> load_topology(const std::string& name_or_file);

/// Resolves and checks both; a different number of --ranks is a usage error, so is a batch with
/// fewer samples than ranks.
[[nodiscard]] Result<Inputs> load_inputs(const InputOptions& options);

/// A baseline by name, or a layout file. Not checked against the rules yet.
[[nodiscard]] Result<Layout> load_layout(const std::string& name_or_file, const Inputs& inputs);

/// Error with every violation's message where one of them is an error; kind infeasible.
[[nodiscard]] Status require_valid(const Inputs& inputs, const Layout& layout, Executor executor);

}  // namespace shardscope::app
