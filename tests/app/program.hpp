#pragma once
// Runs the built program and looks at what a person would see.

#include <filesystem>
#include <string>
#include <vector>

#include "tests/temp_directory.hpp"

namespace shardscope::app {

struct ProgramResult {
  int code = -1;  ///< exit code; 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

struct ProgramCircumstances {
  double interrupt_after_s = 0;  ///< positive: sends SIGINT then
  bool as_nobody = false;        ///< gives up root's rights first (user 65534)
};

/// Runs build/.../bin/shardscope with those arguments in `folder`. stdout and stderr are files, not
/// a terminal. Code 127: the program could not be started.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& arguments,
                                        const std::filesystem::path& folder,
                                        const ProgramCircumstances& circumstances = {});

/// Compares with tests/app/golden/NAME.txt. With SHARDSCOPE_UPDATE_GOLDEN=1 in the environment the
/// file is written instead.
void expect_golden(const std::string& name, const std::string& text);

/// A small workload file: eight tables, no dense part.
[[nodiscard]] std::string small_workload();

}  // namespace shardscope::app
