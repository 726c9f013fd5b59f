#pragma once
// From the fields of the Run workspace to a job of the engine, and back to what is drawn.

#include "ui/desktop/desktop.hpp"

namespace shardscope::ui {

/// The job that the fields describe: B alone, or A and B. Errors name the field.
[[nodiscard]] Result<service::StartJob> job_of(const Desktop& desktop, service::JobKind kind);
/// Starts it; errors become notices.
void start_run(Desktop& desktop, service::JobKind kind);
/// Whether the job that runs could move to the current layout: it is a run or a training of another
/// one, and the current one breaks no rule.
[[nodiscard]] bool can_apply(const Desktop& desktop);
/// Moves the running job there; errors become notices.
void apply_to_run(Desktop& desktop);
/// The machine that runs here stand for: CPU ranks in the hosts and domains of the GPUs, with what
/// was measured of this host.
[[nodiscard]] Result<Topology> local_topology(const Desktop& desktop);
/// The engine of the desktop, made where there is none yet.
EngineLink& engine_of(Desktop& desktop);
/// Asks the engine once what its machine can do; only where a person sits before the window.
void follow_machine(Desktop& desktop);
/// Takes in what the engine sent; called every frame.
void follow_engine(Desktop& desktop);
/// A file that is not there yet in the data folder: NAME-DATE-TIME and the ending.
[[nodiscard]] std::string new_data_path(const std::string& name, const std::string& ending);
/// A new file in the data folder (~/shardscope, else a temporary one): NAME-DATE-TIME.shardscope.
[[nodiscard]] std::string new_session_path(const std::string& name);
/// Where runs are recorded: the open session, else a new file in the data folder.
[[nodiscard]] std::string session_for_runs(const Desktop& desktop);

}  // namespace shardscope::ui
