#pragma once
// From the fields of the Run workspace to a job of the engine, and back to what is drawn.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// The job that the fields describe: B alone, or A and B. Errors name the field.
[[nodiscard]] Result<service::StartJob> job_of(const Desktop& desktop, service::JobKind kind);
/// Starts it; errors become notices.
void start_run(Desktop& desktop, service::JobKind kind);
/// Takes in what the engine sent; called every frame.
void follow_engine(Desktop& desktop);
/// A file that is not there yet in the data folder: NAME-DATE-TIME and the ending.
[[nodiscard]] std::string new_data_path(const std::string& name, const std::string& ending);
/// A new file in the data folder (~/shardscope, else a temporary one): NAME-DATE-TIME.shardscope.
[[nodiscard]] std::string new_session_path(const std::string& name);
/// Where runs are recorded: the open session, else a new file in the data folder.
[[nodiscard]] std::string session_for_runs(const Desktop& desktop);

}  // namespace shardscope::ui
