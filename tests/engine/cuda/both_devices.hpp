#pragma once
// Runs the same random calls on the cpu device and, in the harness, on the cuda device, and
// compares every byte they write.

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {

/// What a run has written, in the order it was added.
class Transcript {
 public:
  template <class T>
  void add(const T* values, std::int64_t count) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(values);
    bytes_.insert(bytes_.end(), from, from + count * static_cast<std::int64_t>(sizeof(T)));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.data(), static_cast<std::int64_t>(values.size()));
  }
  void add(const Values& values) {
    add(static_cast<const std::uint8_t*>(values.data()), values.size() * bytes_of(values.type()));
  }
  /// The first `count` keys.
  void add(const Keys& keys, std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t key = keys[n];
      add(&key, 1);
    }
  }
  friend bool operator==(const Transcript&, const Transcript&) = default;

 private:
  std::vector<std::uint8_t> bytes_;
};

/// run(ops, stream, random, transcript) makes its inputs from `random`, which is the same for both
/// devices. It is called for `cases` seeds (scaled by SHARDSCOPE_CASES).
void expect_equal_on_both(int cases,
                          const std::function<void(Ops&, Stream&, Random&, Transcript&)>& run);

/// Waits for the stream.
void finish(Stream& stream);

/// Cases of a property test when `normal` are wanted in an ordinary run.
[[nodiscard]] int scaled_cases(int normal);

}  // namespace shardscope::engine::testing
