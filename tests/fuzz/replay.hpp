#pragma once
// Runs a fuzz target inside a test program, without a fuzzing engine.

#include <cstdint>
#include <span>

namespace shardscope::fuzz {

using Target = void (*)(std::span<const std::uint8_t>);

/// Replays tests/fuzz/corpus/`name` and mutates its files for SHARDSCOPE_FUZZ_SECONDS seconds
/// (default 1) from SHARDSCOPE_FUZZ_SEED (default: a new one, printed). If the target ends the
/// process, the input is left in the file that the last line names. Fails the current test when
/// the corpus is missing or one input takes longer than 10 s.
void replay_and_mutate(const char* name, Target target);

}  // namespace shardscope::fuzz
