#include <gtest/gtest.h>

#include <map>

#include "layout/json.hpp"
#include "tests/paths.hpp"
#include "tests/shared_data.hpp"

namespace shardscope {
namespace {

/// The ```json blocks of a Markdown file.
std::vector<std::string> json_blocks(const std::string& text) {
  const std::string open = "```json\n";
  std::vector<std::string> blocks;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

/// Reads a block by its format; empty when it is read, else the error.
std::string read_by_format(const std::string& block) {
  const auto outcome = [](const auto& value) {
    return value ? std::string() : to_string(value.error());
  };
  if (block.find("shardscope.layout/") != std::string::npos) {
    return outcome(layout_from_json(block, "docs/formats.md"));
  }
  if (block.find("shardscope.topology/") != std::string::npos) {
    return outcome(topology_from_json(block, "docs/formats.md"));
  }
  if (block.find("shardscope.table_stats/") != std::string::npos) {
    return outcome(table_stats_from_json(block, "docs/formats.md"));
  }
  return outcome(workload_from_json(block, "docs/formats.md"));
}

TEST(FormatsDocument, ExamplesAreReadByTheProgram) {
  const auto text = test_data::read_file(test::source_dir() + "/docs/formats.md");
  ASSERT_TRUE(text);
  std::map<std::string, int> seen;
  for (const std::string& block : json_blocks(*text)) {
    const std::size_t at = block.find("\"shardscope.");
    const std::string format =
        at == std::string::npos ? "table list" : block.substr(at + 1, block.find('/', at) - at - 1);
    if (format == "table list" || format == "shardscope.workload" ||
        format == "shardscope.topology" || format == "shardscope.layout" ||
        format == "shardscope.table_stats") {
      ++seen[format];
      EXPECT_EQ(read_by_format(block), "") << block;
    }
  }
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace shardscope
