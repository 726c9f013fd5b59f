#include "tests/fuzz/mutate.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace shardscope::fuzz {
namespace {

TEST(Mutate, DependsOnTheSeedAlone) {
  const std::vector<Bytes> corpus = {{'{', '1', '2', '}'}, {'a'}, {}};
  std::mt19937_64 first(7);
  std::mt19937_64 second(7);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(mutate(corpus, first), mutate(corpus, second));
}

TEST(Mutate, MakesManyDifferentInputsAndNoneTooLarge) {
  const std::vector<Bytes> corpus = {Bytes(kLargestInput - 3, '1'), {'a', '7', 'b'}};
  std::mt19937_64 random(1);
  std::set<std::string> made;
  for (int i = 0; i < 500; ++i) {
    const Bytes bytes = mutate(corpus, random);
    ASSERT_LE(bytes.size(), kLargestInput);
    made.emplace(bytes.begin(), bytes.end());
  }
  EXPECT_GT(made.size(), 200U);
}

}  // namespace
}  // namespace shardscope::fuzz
