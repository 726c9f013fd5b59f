#pragma once
// What the kernel tests share: random inputs with printed seeds, values of any row type, and runs
// on every instruction set of this machine.

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cpu/values.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine::testing {

/// Seed of the run: SHARDSCOPE_SEED or a fixed default. Printed with every failure.
[[nodiscard]] std::uint64_t test_seed();

/// Random source of one case of a property test.
class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(generator_); }
  float real(float scale = 1) {
    return std::uniform_real_distribution<float>(-scale, scale)(generator_);
  }
  /// A multiple of 1/16 in [-8, 8]: sums of thousands of products of these are exact.
  float dyadic() { return static_cast<float>(between(-128, 128)) / 16; }
  DType dtype() { return static_cast<DType>(between(0, 2)); }
  KeyType key() { return chance(0.5) ? KeyType::i32 : KeyType::i64; }
  /// 1..1024, small ones and odd ones often.
  std::int32_t width();

 private:
  std::mt19937_64 generator_;
};

/// Elements of one type, read and written as fp32 (rounded to nearest even).
class Values {
 public:
  Values(DType type, std::int64_t count) : type_(type), bytes_(count * bytes_of(type)) {}
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] const void* data() const { return bytes_.data(); }
  [[nodiscard]] DType type() const { return type_; }
  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(bytes_.size()) / bytes_of(type_);
  }
  [[nodiscard]] float operator[](std::int64_t index) const;
  void set(std::int64_t index, float value);
  friend bool operator==(const Values&, const Values&) = default;

 private:
  DType type_;
  std::vector<std::uint8_t> bytes_;
};

[[nodiscard]] Values random_values(Random& random, DType type, std::int64_t count,
                                   bool dyadic = false);

/// Integers of either key type.
class Keys {
 public:
  Keys(KeyType type, std::vector<std::int64_t> values);
  [[nodiscard]] void* data() {
    return type_ == KeyType::i32 ? static_cast<void*>(narrow_.data()) : wide_.data();
  }
  [[nodiscard]] const void* data() const { return const_cast<Keys*>(this)->data(); }
  [[nodiscard]] KeyType type() const { return type_; }
  [[nodiscard]] std::int64_t operator[](std::int64_t n) const {
    const auto at = static_cast<std::size_t>(n);
    return type_ == KeyType::i32 ? narrow_[at] : wide_[at];
  }

 private:
  KeyType type_;
  std::vector<std::int32_t> narrow_;
  std::vector<std::int64_t> wide_;
};

/// Ids below `rows`; skewed ones repeat a lot.
[[nodiscard]] Keys random_keys(Random& random, KeyType type, std::int64_t count, std::int64_t rows);

/// Equal bit for bit; two NaNs count as equal. Names the first difference.
[[nodiscard]] ::testing::AssertionResult same_bits(const Values& expected, const Values& actual);
[[nodiscard]] ::testing::AssertionResult same_bits(const std::vector<float>& expected,
                                                   const std::vector<float>& actual);

/// Runs `body` once per instruction set this machine can run, kernels limited to it.
void on_every_target(const std::function<void()>& body);

/// Runs `body` for `cases` seeds derived from test_seed(), each on every target if `targets`.
void for_random_cases(int cases, const std::function<void(std::uint64_t seed)>& body);

}  // namespace shardscope::engine::testing
