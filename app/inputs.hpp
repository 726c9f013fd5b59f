#pragma once
// From names and files to values: the model, the machine, the layout.

#include <string>

#include "app/options.hpp"
#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {

struct Inputs {
  Workload workload;  ///< with batch and rows cap applied; valid by check_workload
  Topology topology;  ///< valid by check_topology
};

/// The whole text of a regular file of at most 1 GiB.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

/// Replaces the file. The error says that `what` cannot be written.
[[nodiscard]] Status write_text_file(const std::string& path, const std::string& text,
                                     const char* what = "the file");

/// True where the text names a file rather than a built-in: it has a '/' or a '.'. Of other texts
/// the built-in comes first.
[[nodiscard]] bool looks_like_file(const std::string& text);

/// A built-in model, a JSON file, or a recorded stream (a workload is then proposed for it).
[[nodiscard]] Result<Workload> load_workload(const std::string& name_or_file);
[[nodiscard]] Result<Topology> load_topology(const std::string& name_or_file);

/// The topology with the constants of a calibration file. A calibration of another device than the
/// topology's is a usage error.
[[nodiscard]] Result<Topology> with_calibration(Topology topology, const std::string& path);

/// host-cpu with this machine's memory, shared by its ranks, where nobody has stated another.
[[nodiscard]] Topology with_memory_of_this_machine(Topology topology);

/// Resolves and checks both; a different number of --ranks is a usage error, so is a batch with
/// fewer samples than ranks.
[[nodiscard]] Result<Inputs> load_inputs(const InputOptions& options);

/// The executor with its usual schedule unless one is given.
[[nodiscard]] PredictOptions predict_options(const PredictHow& how);

/// A plan by any planner's name ("optimize" plans for `how`, the engine where it is not given), or
/// a layout file. Not checked against the rules yet.
[[nodiscard]] Result<Layout> load_layout(const std::string& name_or_file, const Inputs& inputs,
                                         const PredictOptions& how = {});

/// Writes a layout file; nothing where the path is empty.
[[nodiscard]] Status save_layout_file(const std::string& path, const Layout& layout);

/// Index of a table; an unknown name is a usage error of that option, with the closest name.
[[nodiscard]] Result<std::int32_t> table_by_name(const std::string& name, const Workload& workload,
                                                 const char* option);

/// Error with every violation's message where one of them is an error; kind infeasible.
[[nodiscard]] Status require_valid(const Inputs& inputs, const Layout& layout, Executor executor);

}  // namespace shardscope::app
