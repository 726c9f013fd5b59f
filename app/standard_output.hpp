#pragma once
// What a program owes whoever reads its output: an error where it could not be written.

namespace shardscope::app {

/// Puts something that cannot be used in place of closed standard descriptors, so that no file
/// opened later gets their numbers and receives output. Before anything else.
void reserve_standard_descriptors();

/// Writes what is buffered for stdout. Where that fails (a full disk, a closed descriptor) it says
/// so on stderr and returns the exit code of a runtime failure instead of `code`.
[[nodiscard]] int finish_output(int code);

}  // namespace shardscope::app
