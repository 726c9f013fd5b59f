#include "layout/json_value.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace shardscope {
namespace {

std::string error_of(std::string_view text) {
  const Result<JsonValue> value = parse_json(text, "file.json");
  return value ? "no error" : to_string(value.error());
}

TEST(ParseJson, KeepsKindsAndTheOrderOfFields) {
  const auto value =
      parse_json(R"({"b": [1, -2, 1.0, 1e3], "a": null, "t": true, "s": "\u20ac"})", "f");
  ASSERT_TRUE(value);
  const JsonValue expected{
      JsonValue::Object{{"b", JsonValue::Array{std::int64_t{1}, std::int64_t{-2}, 1.0, 1000.0}},
                        {"a", JsonValue()},
                        {"t", true},
                        {"s", "\xE2\x82\xAC"}}};
  EXPECT_EQ(*value, expected);
}

TEST(ParseJson, MalformedTextNamesLineAndColumn) {
  EXPECT_EQ(error_of("{\n \"a\": 1,\n \"b\": x\n}").rfind("file.json:3:7: malformed JSON", 0), 0U)
      << error_of("{\n \"a\": 1,\n \"b\": x\n}");
  EXPECT_EQ(error_of("").rfind("file.json:1:1: malformed JSON", 0), 0U) << error_of("");
  EXPECT_EQ(error_of("[1,\n2").rfind("file.json:2:2: ", 0), 0U) << error_of("[1,\n2");
  EXPECT_EQ(error_of("1 2").rfind("file.json:1:3: ", 0), 0U) << error_of("1 2");
}

TEST(ParseJson, RefusesInvalidUtf8AndNumbersOutOfRange) {
  EXPECT_NE(error_of("\"\xff\"").find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of("1e999").find("64-bit float"), std::string::npos);
  EXPECT_NE(error_of("NaN"), "no error");
}

TEST(ParseJson, RefusesDuplicateFieldsWithTheirPath) {
  EXPECT_EQ(error_of(R"({"tables": [{}, {"rows": 1, "rows": 2}]})"),
            "file.json: tables[1]: the field \"rows\" stands twice in one object; expected every "
            "field once. Remove one of the two");
}

TEST(ParseJson, BoundsDepthAndSize) {
  EXPECT_EQ(error_of(std::string(32, '[') + std::string(32, ']')), "no error");
  EXPECT_NE(error_of(std::string(33, '[')).find("nested deeper than 32"), std::string::npos);
  EXPECT_NE(error_of(std::string(2'000'000, '[')).find("nested deeper"), std::string::npos);
  std::string values = "[0";
  for (std::size_t i = 0; i < kMostJsonValues; ++i) values += ",0";
  EXPECT_NE(error_of(values).find("values in one text"), std::string::npos);
  EXPECT_NE(error_of(std::string(kLargestJsonText + 1, ' ')).find("bytes"), std::string::npos);
}

TEST(ParseJson, WholeNumbersBeyond64BitsBecomeReal) {
  const auto value = parse_json("[9223372036854775807, 9223372036854775808]", "f");
  ASSERT_TRUE(value);
  EXPECT_EQ((*value->array())[0], JsonValue(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ((*value->array())[1], JsonValue(9223372036854775808.0));
}

TEST(WriteJson, FitsShortValuesOnALineAndWrapsLongOnes) {
  JsonValue::Array owners;
  for (int i = 0; i < 40; ++i) owners.emplace_back(1000 + i);
  const JsonValue value{JsonValue::Object{{"name", "x"}, {"owners", owners}}};
  EXPECT_EQ(write_json(value),
            "{\n"
            " \"name\": \"x\",\n"
            " \"owners\": [\n"
            "  1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, "
            "1014, 1015,\n"
            "  1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029, "
            "1030, 1031,\n"
            "  1032, 1033, 1034, 1035, 1036, 1037, 1038, 1039\n"
            " ]\n"
            "}\n");
  EXPECT_EQ(write_json(JsonValue::Array{1, 2}), "[1, 2]\n");
  EXPECT_EQ(write_json_line(JsonValue::Object{{"a", JsonValue::Array{1, 2}}}), "{\"a\":[1,2]}");
}

TEST(WriteJson, TextsAndNumbersReadBackEqual) {
  const JsonValue value{
      JsonValue::Array{"quote \" backslash \\ newline \n bell \a \xE2\x82\xAC", 0.1, 1.0, 1e300,
                       5e-324, -0.0, std::numeric_limits<std::int64_t>::min(), true, JsonValue()}};
  const auto back = parse_json(write_json(value), "f");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, value);
}

TEST(WriteJson, WhatJsonCannotExpressStaysReadable) {
  const std::string text = write_json(
      JsonValue::Array{std::numeric_limits<double>::infinity(), "a\xff\xC3(\xED\xA0\x80"});
  const auto back = parse_json(text, "f");
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_TRUE((*back->array())[0].is_null());
  EXPECT_EQ((*back->array())[1].text()->rfind("a\xEF\xBF\xBD\xEF\xBF\xBD(", 0), 0U);
}

}  // namespace
}  // namespace shardscope
