#pragma once
// What an imported trace shows, as people and machines read it: ranks, stages beside the prediction
// for the layout that ran, exchanges by receiver, time in no stage.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "storage/import/import_files.hpp"

namespace shardscope::app {

/// `imported` holds a trace.
[[nodiscard]] std::string trace_text(const storage::Imported& imported);
[[nodiscard]] nlohmann::ordered_json trace_json(const storage::Imported& imported);

}  // namespace shardscope::app
