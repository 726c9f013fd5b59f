#pragma once
// Fuzz targets are plain functions over bytes, one a file tests/FOLDER/NAME_fuzz.cpp:
//
//   SHARDSCOPE_FUZZ_TARGET(workload_json) {
//     use `input`, a std::span<const std::uint8_t>; abort (SHARDSCOPE_CHECK) on a broken promise
//   }
//
// In the test programs a target is the test Fuzz.NAME: it replays tests/fuzz/corpus/NAME/* and then
// mutates it. Compiled with SHARDSCOPE_LIBFUZZER the same file is a libFuzzer program
// (scripts/fuzz NAME). A crashing input goes into tests/fuzz/corpus/NAME once it is fixed.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace shardscope::fuzz {

/// Input as text, for parsers.
[[nodiscard]] inline std::string_view text_of(std::span<const std::uint8_t> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace shardscope::fuzz

#ifdef SHARDSCOPE_LIBFUZZER

#define SHARDSCOPE_FUZZ_TARGET(name)                                                  \
  static void shardscope_fuzz_##name(std::span<const std::uint8_t> input);            \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    shardscope_fuzz_##name({data, size});                                             \
    return 0;                                                                         \
  }                                                                                   \
  static void shardscope_fuzz_##name([[maybe_unused]] std::span<const std::uint8_t> input)

#else

#include <gtest/gtest.h>

#include "tests/fuzz/replay.hpp"

#define SHARDSCOPE_FUZZ_TARGET(name)                                       \
  static void shardscope_fuzz_##name(std::span<const std::uint8_t> input); \
  TEST(Fuzz, name) {                                                       \
    shardscope::fuzz::replay_and_mutate(#name, &shardscope_fuzz_##name);   \
  }                                                                        \
  static void shardscope_fuzz_##name([[maybe_unused]] std::span<const std::uint8_t> input)

#endif
