#include "engine/batches/recorded/stream.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/batches/recorded/fields.hpp"
#include "engine/batches/recorded/line_reader.hpp"
#include "tests/paths.hpp"

namespace shardscope::engine {
namespace {

Result<RecordedStream> read_text(const std::string& text,
                                 std::optional<StreamFormat> format = std::nullopt) {
  std::istringstream in(text);
  return read_stream_from(in, "file", format);
}

RecordedStream stream_of(const std::string& text) {
  auto stream = read_text(text);
  EXPECT_TRUE(stream.has_value()) << (stream ? "" : to_string(stream.error()));
  return stream ? std::move(*stream) : RecordedStream{};
}

std::vector<std::int64_t> bag(const IdColumn& column, std::int64_t sample) {
  std::vector<std::int64_t> ids;
  for (auto i = column.begin(sample); i < column.begin(sample + 1); ++i)
    ids.push_back(column.id(i));
  return ids;
}

const IdColumn& column(const RecordedStream& stream, std::string_view name) {
  const auto found = find_column(stream, name);
  EXPECT_TRUE(found.has_value()) << (found ? "" : to_string(found.error()));
  return stream.columns[found ? found->first : 0];
}

using Bag = std::vector<std::int64_t>;

/// A Criteo line: label, counts "1\t2\t...", categories all `category`.
std::string criteo_line(const char* label, const char* first_count, const char* category) {
  std::string line = fmt::format("{}\t{}", label, first_count);
  for (int i = 0; i < 12; ++i) line += "\t7";
  for (int i = 0; i < 26; ++i) line += fmt::format("\t{}", category);
  return line + "\n";
}

TEST(RecordedStream, ReadsCriteoLines) {
  const auto stream = stream_of(criteo_line("0", "", "68fd1e64") + criteo_line("1", "-2", "") +
                                criteo_line("1", "9", "68fd1e64"));
  EXPECT_EQ(stream.format, StreamFormat::criteo_tsv);
  EXPECT_EQ(stream.samples, 3);
  EXPECT_EQ(stream.labels, (std::vector<float>{0, 1, 1}));
  ASSERT_EQ(stream.dense.size(), 39U);
  EXPECT_EQ(stream.dense[0], 0.0F) << "a missing count is 0";
  EXPECT_EQ(stream.dense[13], 0.0F) << "negative counts are 0";
  EXPECT_FLOAT_EQ(stream.dense[26], std::log(10.0F));
  EXPECT_FLOAT_EQ(stream.dense[1], std::log(8.0F));
  ASSERT_EQ(stream.columns.size(), 26U);
  const IdColumn& c5 = column(stream, "C5");
  EXPECT_TRUE(c5.hashed());
  EXPECT_EQ(bag(c5, 0), Bag{hash_text("68fd1e64")});
  EXPECT_EQ(bag(c5, 1), Bag{hash_text("")}) << "a missing category is a category";
  EXPECT_EQ(bag(c5, 2), bag(c5, 0));
}

TEST(RecordedStream, ReadsCriteoColumnsOfAHeadedCsv) {
  const auto stream = stream_of("label,I1,C1,C2\n0,260.0,05db9164,123\n1.0,,05db9164,\n");
  EXPECT_EQ(stream.format, StreamFormat::headed_csv);
  EXPECT_EQ(stream.first_line, 2);
  EXPECT_EQ(stream.labels, (std::vector<float>{0, 1}));
  EXPECT_FLOAT_EQ(stream.dense[0], std::log(261.0F));
  EXPECT_TRUE(column(stream, "C2").hashed()) << "digits in a Criteo category are text too";
}

TEST(RecordedStream, DecidesTheKindsOfHeadedColumnsByTheirValues) {
  const auto stream = stream_of(
      "user,\"a title\",genres,price,tags,timestamp,rating,zip\n"
      "7,\"Bridges, The \"\"best\"\"\",Drama|Romance,1.5,3|5,978,4,70005\n"
      ",Plain,Drama,2,,979,3,98107-21\n");
  EXPECT_EQ(stream.labels, (std::vector<float>{1, 0})) << "ratings from 4 on are positive";
  EXPECT_EQ(stream.dense_names, (std::vector<std::string>{"price"}));
  EXPECT_EQ(stream.dense, (std::vector<float>{1.5F, 2.0F}));
  EXPECT_EQ(stream.columns.size(), 5U) << "a timestamp is no category";
  EXPECT_EQ(bag(column(stream, "user"), 0), Bag{7});
  EXPECT_EQ(bag(column(stream, "user"), 1), Bag{}) << "a missing id is an empty bag";
  EXPECT_EQ(bag(column(stream, "a title"), 0), Bag{hash_text("Bridges, The \"\"best\"\"")});
  EXPECT_EQ(bag(column(stream, "genres"), 0), (Bag{hash_text("Drama"), hash_text("Romance")}));
  EXPECT_EQ(bag(column(stream, "tags"), 0), (Bag{3, 5}));
  EXPECT_EQ(bag(column(stream, "tags"), 1), Bag{});
  EXPECT_TRUE(column(stream, "zip").hashed()) << "one text value makes a column text";
}

TEST(RecordedStream, ReadsSlotLines) {
  const auto stream = stream_of(
      "click:1 dense_feature:0.5 dense_feature:2 1:10 2:20 1:11 \n"
      "1:12 click:0 dense_feature:1 dense_feature:3 late:5000000000\n");
  EXPECT_EQ(stream.format, StreamFormat::slot_lines);
  EXPECT_EQ(stream.labels, (std::vector<float>{1, 0}));
  EXPECT_EQ(stream.dense, (std::vector<float>{0.5F, 2, 1, 3}));
  EXPECT_EQ(bag(column(stream, "1"), 0), (Bag{10, 11}));
  EXPECT_EQ(bag(column(stream, "2"), 1), Bag{}) << "an absent slot is an empty bag";
  EXPECT_EQ(bag(column(stream, "late"), 0), Bag{});
  EXPECT_EQ(bag(column(stream, "late"), 1), Bag{5'000'000'000});
}

TEST(RecordedStream, ReadsFieldLines) {
  const auto stream = stream_of("1,1,0,210:1,210:2,150_14:9\n2,0,0,150_14:4\n");
  EXPECT_EQ(stream.format, StreamFormat::field_csv);
  EXPECT_EQ(stream.labels, (std::vector<float>{1, 0})) << "the click, not the number of the line";
  EXPECT_EQ(bag(column(stream, "210"), 0), (Bag{1, 2}));
  EXPECT_EQ(bag(column(stream, "210"), 1), Bag{});
  EXPECT_EQ(bag(column(stream, "150_14"), 1), Bag{4});
}

TEST(RecordedStream, ReadsSequenceLinesAndRangesOfColumns) {
  const auto stream = stream_of("1,2,3,0.25,9,1\n4,5,6,2,8,0\n");
  EXPECT_EQ(stream.format, StreamFormat::sequence_csv);
  EXPECT_EQ(stream.labels, (std::vector<float>{1, 0}));
  EXPECT_EQ(stream.dense_names, (std::vector<std::string>{"3"}));
  EXPECT_EQ(bag(column(stream, "4"), 1), Bag{8});
  const auto range = find_column(stream, "0-2");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->last - range->first, 2U);
  EXPECT_FALSE(find_column(stream, "2-4").has_value()) << "column 3 holds no ids";
  EXPECT_FALSE(find_column(stream, "2-1").has_value());
}

TEST(RecordedStream, ReadsByteOrderMarksCarriageReturnsAndAMissingLastNewline) {
  const auto stream = stream_of("\xEF\xBB\xBFlabel,user\r\n1,5\r\n0,6");
  EXPECT_EQ(stream.labels, (std::vector<float>{1, 0}));
  EXPECT_EQ(bag(column(stream, "user"), 1), Bag{6});
}

TEST(RecordedStream, AFormatInFrontOfThePathOverridesTheContent) {
  // Two numbers a line look like a sequence; the override makes the first line a header.
  EXPECT_EQ(stream_of("1,2\n3,4\n").format, StreamFormat::sequence_csv);
  const auto headed = read_text("1,2\n3,4\n", StreamFormat::headed_csv);
  ASSERT_TRUE(headed.has_value());
  EXPECT_EQ(headed->samples, 1);
}

TEST(RecordedStream, NamesTheColumnsThatThereAre) {
  const auto stream = stream_of("label,user,item\n1,5,6\n");
  const auto found = find_column(stream, "shop");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(to_string(found.error()).find("user, item"), std::string::npos);
}

struct MalformedStream {
  const char* name;
  std::string text;
  const char* place;
  const char* said;
};

class RecordedStreamRefuses : public testing::TestWithParam<MalformedStream> {};

TEST_P(RecordedStreamRefuses, WithLineExpectationAndCure) {
  const auto stream = read_text(GetParam().text);
  ASSERT_FALSE(stream.has_value());
  EXPECT_EQ(stream.error().kind, ErrorKind::usage);
  EXPECT_EQ(stream.error().place, GetParam().place);
  EXPECT_FALSE(stream.error().expected.empty());
  EXPECT_FALSE(stream.error().cure.empty());
  EXPECT_NE(stream.error().what.find(GetParam().said), std::string::npos) << stream.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, RecordedStreamRefuses,
    testing::Values(
        MalformedStream{"empty", "", "file", "no samples"},
        MalformedStream{"only_a_header", "label,user\n", "file", "no samples"},
        MalformedStream{"prose", "hello\n", "file:1", "fits no known stream"},
        MalformedStream{"criteo_fields", criteo_line("0", "1", "a") + criteo_line("0", "1", "a\tb"),
                        "file:2", "66 fields"},
        MalformedStream{"criteo_label", criteo_line("0", "1", "a") + criteo_line("2", "1", "a"),
                        "file:2", "label is \"2\""},
        MalformedStream{"criteo_count", criteo_line("0", "x1", "a"), "file:1", "I1 is \"x1\""},
        MalformedStream{"csv_fields", "label,user\n0,1\n0,1,2\n", "file:3", "3 fields"},
        MalformedStream{"csv_quote", "label,user\n0,\"open\n", "file:2", "does not end"},
        MalformedStream{"csv_same_name", "label,user,user\n0,1,2\n", "file:1", "twice"},
        MalformedStream{"csv_label", "label,user\nyes,1\n", "file:2", "label is \"yes\""},
        MalformedStream{"blank_line", "label,user\n0,1\n\n0,2\n", "file:3", "blank"},
        MalformedStream{"slot_without_id", "click:1 1:5\nclick:1 1:\n", "file:2", "slot \"1\""},
        MalformedStream{"slot_without_colon", "click:1 1:5\nclick:1 5\n", "file:2", "no slot"},
        MalformedStream{"slot_text", "click:1 1:abc\n", "file:1", "\"abc\""},
        MalformedStream{"slot_two_labels", "click:1 1:5\nclick:1 label:0 1:5\n", "file:2",
                        "2 labels"},
        MalformedStream{"slot_dense", "dense_feature:1 1:5\n1:5\n", "file:2", "0 dense_feature"},
        MalformedStream{"field_prefix", "1,1,0,5:1\n2,1,5:1\n", "file:2", "2 fields stand"},
        MalformedStream{"field_later_plain", "1,1,0,5:1\n2,1,0,5:1,7\n", "file:2", "no field"},
        MalformedStream{"field_label", "1,7,0,5:1\n", "file:1", "label is \"7\""},
        MalformedStream{"sequence_fields", "1,2,3\n1,2\n", "file:2", "2 fields"},
        MalformedStream{"sequence_text", "1,2,3\n1,x,3\n", "file:2", "\"x\""},
        MalformedStream{"long_id", "click:1 1:99999999999999999999\n", "file:1", "99999999999"}),
    [](const testing::TestParamInfo<MalformedStream>& tested) { return tested.param.name; });

TEST(RecordedStream, RefusesWhatIsNoFile) {
  const auto missing = read_stream("/nonexistent/stream.txt");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(to_string(missing.error()).find("cannot be opened"), std::string::npos);
  const auto directory = read_stream(test::source_dir());
  ASSERT_FALSE(directory.has_value());
  EXPECT_NE(to_string(directory.error()).find("directory"), std::string::npos);
  const auto device = read_stream("/dev/null");
  ASSERT_FALSE(device.has_value());
  EXPECT_NE(to_string(device.error()).find("regular file"), std::string::npos);
}

TEST(RecordedStream, ShowsNoControlBytesOfAWrongFile) {
  const auto stream = read_text(std::string("\x1b[31m\x01\x80", 7));
  ASSERT_FALSE(stream.has_value());
  for (const char c : to_string(stream.error())) EXPECT_TRUE(c >= ' ' && c <= '~');
}

TEST(IdColumn, KeepsWideAndNegativeIdsAfterNarrowOnes) {
  IdColumn column("c", false);
  for (const std::int64_t id : {std::int64_t{1}, std::int64_t{0xffffffff}, std::int64_t{-3},
                                std::int64_t{1} << 40, std::int64_t{2}}) {
    column.add(id);
    column.end_sample();
  }
  EXPECT_EQ(bag(column, 1), Bag{0xffffffff});
  EXPECT_EQ(bag(column, 2), Bag{-3});
  EXPECT_EQ(bag(column, 3), Bag{std::int64_t{1} << 40});
  EXPECT_EQ(bag(column, 4), Bag{2});
}

TEST(LineReader, JoinsLinesAcrossBlocksAndRefusesEndlessOnes) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += fmt::format("line {}\n", i);
  std::istringstream in(text);
  LineReader reader(in, "file");
  for (int i = 0; i < 60'000; ++i) {
    const auto line = reader.next();
    ASSERT_TRUE(line.has_value() && line->has_value());
    ASSERT_EQ(**line, fmt::format("line {}", i));
    ASSERT_EQ(reader.number(), i + 1);
  }
  EXPECT_FALSE(reader.next()->has_value());

  std::istringstream endless(std::string(LineReader::kLongestLine + 1000, 'x'));
  const auto line = LineReader(endless, "file").next();
  ASSERT_FALSE(line.has_value());
  EXPECT_NE(line.error().what.find("longer than"), std::string::npos);
}

TEST(HashText, IsFixed) {
  // Rows of recorded runs depend on it: a change would silently change what old sessions mean.
  EXPECT_EQ(hash_text(""), 0xf52a15e9U);
  EXPECT_EQ(hash_text("68fd1e64"), 2489696817U);
  EXPECT_NE(hash_text("a"), hash_text("b"));
}

}  // namespace
}  // namespace shardscope::engine
