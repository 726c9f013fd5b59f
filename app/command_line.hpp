#pragma once
// The command line of `shardscope`. Only app/command_line*.cpp know CLI11.

namespace shardscope::app {

/// Parses, runs the command, prints its error. Returns the process's exit code: 0 done, 1 usage or
/// input error, 2 infeasible, 3 runtime failure.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace shardscope::app
