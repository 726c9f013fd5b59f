#include "storage/import/unpack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "storage/import/import_kind.hpp"
#include "storage/import/input_text.hpp"
#include "tests/storage/import/packed_file.hpp"
#include "tests/storage/import/text_stream.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

using test::Packing;

/// Everything in a stream, by name.
std::map<std::string, std::string> unpack(const std::string& bytes, bool& damaged) {
  test::TextStream stream(bytes, 1000);
  UnpackBudget budget("test", bytes.size());
  Unpacker unpacker(stream, budget);
  std::map<std::string, std::string> files;
  while (unpacker.next().value_or(false)) {
    std::string& text = files[unpacker.name()];
    std::string piece(300, '\0');
    for (auto count = unpacker.read(piece.data(), piece.size()); count && *count > 0;
         count = unpacker.read(piece.data(), piece.size())) {
      text.append(piece, 0, *count);
    }
  }
  damaged = unpacker.damaged();
  return files;
}

std::string varied_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i)
    text += std::to_string(i * i * 2654435761U) + ",";
  return text;
}

TEST(Unpack, GivesTheFilesOfEveryPacking) {
  const std::string text = varied_text(200000);
  const std::string long_name = "a/" + std::string(180, 'n') + "/rank0.json";
  for (const Packing packing : {Packing::tar_gz, Packing::pax, Packing::gnu_tar, Packing::zip}) {
    const std::string name = packing == Packing::tar_gz ? "rank0.json" : long_name;
    bool damaged = true;
    const auto files = unpack(test::packed(packing, {{name, text}, {"b.txt", "b"}}), damaged);
    EXPECT_THAT(files,
                testing::ElementsAre(testing::Pair(testing::AnyOf(name, "b.txt"), testing::_),
                                     testing::Pair(testing::_, testing::_)));
    EXPECT_TRUE(files.at(name) == text) << static_cast<int>(packing);
    EXPECT_FALSE(damaged);
  }
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    bool damaged = true;
    EXPECT_TRUE(unpack(test::packed(packing, {{"x", text}}), damaged).at("") == text);
    EXPECT_FALSE(damaged);
  }
  bool damaged = true;
  EXPECT_TRUE(unpack(text, damaged).at("") == text);
  EXPECT_TRUE(unpack("", damaged).empty());
  EXPECT_FALSE(damaged);
}

TEST(Unpack, KeepsTheBeginningOfASmallFileThatBreaksOff) {
  const std::string text = varied_text(20000);
  const std::string whole = test::packed(Packing::gzip, {{"x", text}});
  bool damaged = false;
  const auto files = unpack(whole.substr(0, whole.size() / 2), damaged);
  EXPECT_TRUE(damaged);
  ASSERT_GT(files.at("").size(), text.size() / 4);
  EXPECT_TRUE(text.starts_with(files.at("")));
}

TEST(Unpack, JoinsMembersOfAGzipFile) {
  const std::string one = varied_text(70000);
  const std::string two = varied_text(1000);
  bool damaged = true;
  const auto files = unpack(test::packed(Packing::gzip, {{"x", one}}) +
                                test::packed(Packing::gzip, {{"x", two}}) + std::string(512, '\0'),
                            damaged);
  EXPECT_TRUE(files.at("") == one + two);
  EXPECT_FALSE(damaged);
}

TEST(Unpack, ReadsTextOfTwoBytesALetterWithoutAMark) {
  for (const bool little : {true, false}) {
    std::string wide;
    for (const char letter : std::string("# FQN  Sharding\n")) {
      wide += little ? std::string{letter, '\0'} : std::string{'\0', letter};
    }
    ImportNotes notes("wide");
    EXPECT_EQ(decoded_text(wide, notes), "# FQN  Sharding\n");
    EXPECT_EQ(notes.warning_count(), 1);
  }
}

TEST(Unpack, KeepsWhatCameBeforeABreakAndSaysSo) {
  const std::string text = varied_text(400000);
  const std::string whole = test::packed(Packing::gzip, {{"x", text}});
  bool damaged = false;
  const auto files = unpack(whole.substr(0, whole.size() / 2), damaged);
  EXPECT_TRUE(damaged);
  EXPECT_GT(files.at("").size(), text.size() / 4);
  EXPECT_TRUE(text.starts_with(files.at("")));
}

TEST(Unpack, HandsOnTheErrorOfTheStreamBelow) {
  class Failing : public ByteStream {
    Result<std::size_t> read(char*, std::size_t) override {
      return fail({ErrorKind::runtime, "the cable is out", "port 3", "", ""});
    }
  } failing;
  UnpackBudget budget("test", 0);
  Unpacker unpacker(failing, budget);
  const auto found = unpacker.next();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "the cable is out");
}

TEST(UnpackBudget, CountsWhatIsUnpackedTwice) {
  const std::string inner = test::packed(Packing::gzip, {{"x", std::string(40 << 20, ' ')}});
  const std::string outer = test::packed(
      Packing::zip, {{"a.json.gz", inner}, {"b.json.gz", inner}, {"c.json.gz", inner}});
  test::TextStream stream(outer, 1 << 16);
  UnpackBudget budget("outer.zip", outer.size());
  Unpacker archive(stream, budget);
  std::string piece(1 << 20, '\0');
  std::string trouble;
  while (trouble.empty() && archive.next().value_or(false)) {
    Unpacker member(archive, budget);
    ASSERT_TRUE(member.next().value_or(false));
    for (;;) {
      const auto count = member.read(piece.data(), piece.size());
      if (!count) trouble = count.error().what;
      if (!count || *count == 0) break;
    }
  }
  EXPECT_THAT(trouble, testing::HasSubstr("unpack to more than"));
}

TEST(InputText, ComesOutOfArchivesPastHiddenFiles) {
  const test::TempDirectory directory;
  const std::string path = test::write_packed(
      directory.file("log.zip"), Packing::zip,
      {{"log/._run.txt", "AppleDouble"}, {"log/run.txt", "out-of-place algbw busbw"}});
  ImportNotes notes(path);
  EXPECT_EQ(read_input_text(path, notes).value_or(""), "out-of-place algbw busbw");
  const auto kind = recognise(path);
  ASSERT_TRUE(kind) << to_string(kind.error());
  EXPECT_EQ(*kind, ImportKind::nccl_tests);
  EXPECT_EQ(notes.warning_count(), 0);
}

TEST(InputText, SaysThatAPackedFileBreaksOff) {
  const test::TempDirectory directory;
  const std::string whole = test::packed(Packing::gzip, {{"x", varied_text(400000)}});
  const std::string path = directory.file("log.gz");
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() / 2);
  ImportNotes notes(path);
  const auto text = read_input_text(path, notes);
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_FALSE(text->empty());
  ASSERT_EQ(notes.warning_count(), 1);
  EXPECT_THAT(notes.warnings().front().message, testing::HasSubstr("breaks off"));
}

}  // namespace
}  // namespace shardscope::storage
