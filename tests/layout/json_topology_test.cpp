#include <gtest/gtest.h>

#include "layout/json.hpp"

namespace shardscope {
namespace {

constexpr const char* kBox = R"({
  "format": "shardscope.topology/1", "name": "box", "hosts": 2, "gpus_per_host": 4,
  "fast_domain": 4,
  "gpu": {"name": "X", "memory_bytes": {"value": 8e10, "origin": "datasheet", "source": "sheet",
                                        "date": "2024-01-01"},
          "launch_s": 3e-6},
  "intra": {"bytes_per_s": 3e11, "by_size": [{"message_bytes": 1024, "bytes_per_s": 1e9}]},
  "inter": {}, "reserve_bytes": 1073741824})";

TEST(TopologyJson, ReadsQuantitiesWithTheirOrigin) {
  const auto topology = topology_from_json(kBox, "t.json");
  ASSERT_TRUE(topology) << to_string(topology.error());
  EXPECT_EQ(topology->ranks(), 8);
  EXPECT_EQ(topology->gpu.memory_bytes, (Quantity{8e10, Origin::datasheet, "sheet", "2024-01-01"}));
  EXPECT_EQ(topology->gpu.launch_s, (Quantity{3e-6, Origin::prior, "", ""}));
  EXPECT_EQ(topology->intra.by_size, (std::vector<BandwidthPoint>{{1024, 1e9}}));
  EXPECT_EQ(topology->inter, LinkModel{});
  EXPECT_EQ(topology->reserve_bytes, 1073741824);
}

TEST(TopologyJson, WrongFieldsNameTheirPath) {
  const auto error_with = [](const std::string& from, const std::string& to) {
    std::string text = kBox;
    text.replace(text.find(from), from.size(), to);
    const auto topology = topology_from_json(text, "t.json");
    return topology ? std::string("no error") : to_string(topology.error());
  };
  EXPECT_NE(error_with("\"origin\": \"datasheet\"", "\"origin\": \"guess\"")
                .find("t.json: gpu.memory_bytes.origin: \"guess\" is unknown"),
            std::string::npos);
  EXPECT_NE(error_with("\"hosts\": 2", "\"hosts\": 0").find("t.json: hosts: 0"), std::string::npos);
  EXPECT_NE(error_with("\"launch_s\": 3e-6", "\"launch_s\": -1").find("a number >= 0"),
            std::string::npos);
  EXPECT_NE(error_with("\"launch_s\"", "\"lunch_s\"").find("Did you mean \"launch_s\"?"),
            std::string::npos);
}

}  // namespace
}  // namespace shardscope
