#include "tests/engine/cpu/kernel_cases.hpp"

#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <hwy/highway.h>

namespace shardscope::engine::testing {
namespace {

::testing::AssertionResult same_floats(std::int64_t count,
                                       const std::function<float(std::int64_t)>& expected,
                                       const std::function<float(std::int64_t)>& actual) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = expected(i);
    const float b = actual(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b)) {
      return ::testing::AssertionFailure() << fmt::format(
                 "element {} of {}: expected {} ({:a}), got {} ({:a})", i, count, a, a, b, b);
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace

std::uint64_t test_seed() {
  const char* text = std::getenv("SHARDSCOPE_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20240607;
}

std::int32_t Random::width() {
  switch (between(0, 3)) {
    case 0:
      return static_cast<std::int32_t>(between(1, 20));
    case 1:
      return static_cast<std::int32_t>(8 * between(1, 24));
    case 2:
      return static_cast<std::int32_t>(between(1, 160));
    default:
      return static_cast<std::int32_t>(between(1, 1024));
  }
}

float Values::operator[](std::int64_t index) const {
  return with_value_type(type_, [&](auto value) {
    std::memcpy(&value, bytes_.data() + index * static_cast<std::int64_t>(sizeof(value)),
                sizeof(value));
    return to_float(value);
  });
}

void Values::set(std::int64_t index, float value) {
  with_value_type(type_, [&](auto type) {
    const auto rounded = from_float<decltype(type)>(value);
    std::memcpy(bytes_.data() + index * static_cast<std::int64_t>(sizeof(rounded)), &rounded,
                sizeof(rounded));
  });
}

Values random_values(Random& random, DType type, std::int64_t count, bool dyadic) {
  Values values(type, count);
  for (std::int64_t i = 0; i < count; ++i) {
    float value = dyadic ? random.dyadic() : random.real();
    if (!dyadic && random.chance(0.001)) {
      constexpr float kSpecial[] = {0.0F,
                                    -0.0F,
                                    1e-6F,
                                    -1e-40F,
                                    65504.0F,
                                    1e30F,
                                    std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
      value = kSpecial[random.between(0, 7)];
    }
    values.set(i, value);
  }
  return values;
}

Keys::Keys(KeyType type, std::vector<std::int64_t> values) : type_(type) {
  if (type == KeyType::i32) {
    narrow_.assign(values.begin(), values.end());
  } else {
    wide_ = std::move(values);
  }
}

Keys random_keys(Random& random, KeyType type, std::int64_t count, std::int64_t rows) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  const std::int64_t limit =
      random.chance(0.5) ? rows : std::min<std::int64_t>(rows, 1 + count / 4);
  for (std::int64_t& id : ids) id = random.between(0, limit - 1);
  return {type, std::move(ids)};
}

::testing::AssertionResult same_bits(const Values& expected, const Values& actual) {
  if (expected.size() != actual.size()) return ::testing::AssertionFailure() << "sizes differ";
  return same_floats(
      expected.size(), [&](std::int64_t i) { return expected[i]; },
      [&](std::int64_t i) { return actual[i]; });
}

::testing::AssertionResult same_bits(const std::vector<float>& expected,
                                     const std::vector<float>& actual) {
  if (expected.size() != actual.size()) return ::testing::AssertionFailure() << "sizes differ";
  return same_floats(
      static_cast<std::int64_t>(expected.size()),
      [&](std::int64_t i) { return expected[static_cast<std::size_t>(i)]; },
      [&](std::int64_t i) { return actual[static_cast<std::size_t>(i)]; });
}

void on_every_target(const std::function<void()>& body) {
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(fmt::format("instruction set {}", hwy::TargetName(target)));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void for_random_cases(int cases, const std::function<void(std::uint64_t seed)>& body) {
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t seed = test_seed() + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("SHARDSCOPE_SEED={}", seed));
    body(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace shardscope::engine::testing
