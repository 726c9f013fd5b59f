#include "planner/codec_choice.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

CodecProfile profile_of(const char* codec, double ratio, double encode, double decode) {
  CodecProfile profile;
  profile.codec = codec;
  profile.ratio = ratio;
  profile.by_size = {{1e4, encode / 2, decode / 2}, {1e6, encode, decode}};
  return profile;
}

struct ChoiceCase {
  Workload workload;
  Topology topology;
  Layout layout;
};

ChoiceCase two_domains(double link_bytes_per_s) {
  ChoiceCase made;
  made.workload.global_batch = 65536;
  for (const char* name : {"pooled", "replicated"}) {
    Feature feature;
    feature.name = name;
    feature.table = static_cast<std::int32_t>(made.workload.tables.size());
    made.workload.tables.push_back({.name = name, .rows = 1000, .dim = 64});
    made.workload.features.push_back(feature);
  }
  made.topology.hosts = 2;
  made.topology.gpus_per_host = 1;
  made.topology.fast_domain = 1;
  made.topology.inter.bytes_per_s.value = link_bytes_per_s;
  made.topology.inter.efficiency.value = 1;
  made.layout.ranks = 2;
  made.layout.table_names = {"pooled", "replicated"};
  made.layout.tables = {table_wise(made.workload.tables[0], 0),
                        data_parallel(made.workload.tables[1])};
  return made;
}

TEST(CodecChoice, SpeedupAndBreakEvenFollowTheirFormulas) {
  const CodecProfile profile = profile_of("fixed", 10, 4e9, 8e9);
  EXPECT_DOUBLE_EQ(codec_speedup(profile, 1e6, 1e9), 1 / (0.1 + 0.25 + 0.125));
  const double even = break_even_bytes_per_s(profile, 1e6);
  EXPECT_NEAR(codec_speedup(profile, 1e6, even), 1, 1e-12);
  EXPECT_DOUBLE_EQ(codec_speedup(profile, 1e3, 1e9), 1 / (0.1 + 0.5 + 0.25));
  EXPECT_DOUBLE_EQ(throughput_at(profile, 1e5).encode_bytes_per_s, 3e9);
}

TEST(CodecChoice, TakesTheShorterCodecOnSlowLinksAndTheFasterOnQuickOnes) {
  const std::vector<CodecProfile> profiles = {profile_of("dedup-huffman", 40, 3e9, 5e9),
                                              profile_of("dedup-fixed", 20, 6e9, 20e9)};
  const ChoiceCase slow = two_domains(0.01e9);
  const ChoiceCase quick = two_domains(2e9);
  EXPECT_EQ(choose_codecs(slow.workload, slow.topology, slow.layout, profiles)[0].codec,
            "dedup-huffman");
  EXPECT_EQ(choose_codecs(quick.workload, quick.topology, quick.layout, profiles)[0].codec,
            "dedup-fixed");
}

TEST(CodecChoice, ReadsAMeasuredCurveAtItsChunksSize) {
  const std::vector<CodecProfile> profiles = {profile_of("dedup-huffman", 40, 3e9, 5e9),
                                              profile_of("dedup-fixed", 20, 6e9, 20e9)};
  ChoiceCase curve = two_domains(0);
  curve.topology.inter.by_size = {{1e3, 0.01e9}, {1e12, 0.01e9}};
  EXPECT_EQ(choose_codecs(curve.workload, curve.topology, curve.layout, profiles)[0].codec,
            "dedup-huffman");
  curve.topology.inter.by_size = {{1e3, 0.01e9}, {1e4, 2e9}};
  EXPECT_EQ(choose_codecs(curve.workload, curve.topology, curve.layout, profiles)[0].codec,
            "dedup-fixed");
}

TEST(CodecChoice, RefusesWhereItDoesNotPay) {
  const std::vector<CodecProfile> profiles = {profile_of("dedup-fixed", 20, 6e9, 20e9)};
  const ChoiceCase nvlink = two_domains(150e9);
  const CodecChoice choice =
      choose_codecs(nvlink.workload, nvlink.topology, nvlink.layout, profiles)[0];
  EXPECT_EQ(choice.codec, "raw");
  EXPECT_NE(choice.reason.find("breaks even at"), std::string::npos) << choice.reason;
  ChoiceCase single = two_domains(1e9);
  single.topology.hosts = 1;
  single.topology.gpus_per_host = 2;
  single.topology.fast_domain = 2;
  EXPECT_EQ(choose_codecs(single.workload, single.topology, single.layout, profiles)[0].codec,
            "raw");
}

TEST(CodecChoice, KeepsWhatIsInPlaceWhileItIsAboutAsGood) {
  const std::vector<CodecProfile> profiles = {profile_of("dedup-fixed", 20, 6e9, 20e9),
                                              profile_of("fixed", 19.9, 6e9, 20e9)};
  ChoiceCase made = two_domains(1e9);
  EXPECT_EQ(choose_codecs(made.workload, made.topology, made.layout, profiles)[0].codec,
            "dedup-fixed");
  CodecSlots slots;
  slots.forward_inter.name = "fixed";
  made.layout.tables[0].codecs = slots;
  EXPECT_EQ(choose_codecs(made.workload, made.topology, made.layout, profiles)[0].codec, "fixed");
}

TEST(CodecChoice, OwnProfilesComeBeforeThoseOfAnyTable) {
  std::vector<CodecProfile> profiles = {profile_of("fixed", 10, 6e9, 6e9),
                                        profile_of("fixed", 1.01, 6e9, 6e9)};
  profiles[1].table = "pooled";
  const ChoiceCase made = two_domains(1e9);
  EXPECT_EQ(choose_codecs(made.workload, made.topology, made.layout, profiles)[0].codec, "raw");
}

TEST(CodecChoice, StandsInTheLayoutsSlots) {
  const std::vector<CodecProfile> profiles = {profile_of("dedup-fixed", 20, 6e9, 20e9)};
  const ChoiceCase made = two_domains(1e9);
  const auto choices = choose_codecs(made.workload, made.topology, made.layout, profiles);
  const Layout layout = with_codecs(made.layout, choices, {0.03, 0.03});
  EXPECT_EQ(layout.codecs_of(0).forward_inter, (CodecSlot{"dedup-fixed", 0.03, true}));
  EXPECT_EQ(layout.codecs_of(0).backward_inter.name, "bf16");
  EXPECT_EQ(layout.codecs_of(0).forward_intra.name, "raw");
  EXPECT_EQ(layout.codecs_of(1), CodecSlots{});
}

}  // namespace
}  // namespace shardscope
