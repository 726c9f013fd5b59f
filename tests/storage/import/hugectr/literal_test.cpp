#include "storage/import/hugectr/literal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardscope::storage {
namespace {

std::string written(const std::string& text) {
  const auto literal = parse_literal(text, 0, "text");
  return literal ? write_json_line(literal->value) : "error: " + to_string(literal.error());
}

TEST(Literal, ReadsPythonAsJson) {
  EXPECT_EQ(written("[(1, 'a'), {'x': None, 2: True}, {3, 4}, (5), (6,)]"),
            R"([[1,"a"],{"x":null,"2":true},[3,4],5,[6]])");
  EXPECT_EQ(written("np.array([np.int64(3), 1_000, -2.5e3])"), "[3,1000,-2500.0]");
  EXPECT_EQ(written("{hugectr.CompressionStrategy.Unique: ['a' \"b\"]}  # rest"),
            R"({"hugectr.CompressionStrategy.Unique":["ab"]})");
}

TEST(Literal, NamesLineAndExpectationOfWhatIsNone) {
  const auto wrong = parse_literal("[1,\n 2 3]", 0, "script.py");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().place, "script.py:2");
  EXPECT_THAT(wrong.error().expected, testing::HasSubstr("','"));
}

TEST(Literal, IsBounded) {
  EXPECT_FALSE(parse_literal(std::string(100000, '['), 0, "deep"));
  EXPECT_FALSE(parse_literal(std::string(500, '9') + "e999", 0, "huge"));
  EXPECT_FALSE(parse_literal("1e999", 0, "huge"));
  EXPECT_FALSE(parse_literal("'open", 0, "cut"));
}

TEST(Literal, FindsWhatANameIsGiven) {
  const std::string text = "my_shard_matrix = [1]\nshard_matrix: [2]";
  EXPECT_EQ(text.substr(find_assigned(text, "shard_matrix")), "[2]");
  EXPECT_EQ(find_assigned(text, "matrix"), std::string_view::npos);
}

}  // namespace
}  // namespace shardscope::storage
