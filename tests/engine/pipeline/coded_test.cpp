// Vectors that travel through codecs: lossless ones learn bit for bit what one rank learns, lossy
// ones stay within their bound, counted bytes are what the exchange of sizes said, and damage ends
// the run with a reason.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "engine/codec/codec_kind.hpp"
#include "engine/comm/forwarding_communicator.hpp"
#include "engine/run_recorder.hpp"
#include "layout/bytes.hpp"
#include "layout/codec_bytes.hpp"
#include "profiler/forgetting_sink.hpp"
#include "run_case.hpp"

namespace shardscope::engine {
namespace {

/// Codecs that give the same bits where no bound is asked.
constexpr const char* kBitwise[] = {"raw",         "zstd",          "lz4",       "fixed",
                                    "dedup-fixed", "dedup-huffman", "vector-lz", "const"};

CodecSlot random_slot(std::mt19937_64& random) {
  return {kBitwise[random() % std::size(kBitwise)], 0, random() % 2 == 0};
}

/// A case with codecs in its slots: cluster by cluster, and over it for some tables.
PipelineCase coded_case(std::uint64_t seed, std::int64_t n) {
  PipelineCase value = make_case(seed, n);
  std::mt19937_64 random(seed * 1'000'003 + static_cast<std::uint64_t>(n));
  value.workload.wire = DType::fp32;
  const auto slots = [&](bool intra) {
    CodecSlots made;
    made.forward_inter = random_slot(random);
    made.backward_inter = random_slot(random);
    if (!intra) return made;
    made.forward_intra = random_slot(random);
    made.backward_intra = random_slot(random);
    return made;
  };
  for (ClusterOptions& options : value.layout.clusters) options.codecs = slots(false);
  for (std::size_t t = 0; t < value.layout.tables.size(); ++t) {
    const bool flat = value.layout.tables[t].cluster == ClusterType::UB ||
                      value.layout.exchange_of(t) == Exchange::flat;
    if (random() % 2 == 0) value.layout.tables[t].codecs = slots(flat);
  }
  return value;
}

std::int64_t coded_cases() {
  const char* text = std::getenv("SHARDSCOPE_CASES");
  return text == nullptr ? 40 : std::strtoll(text, nullptr, 10);
}

TEST(Coded, LosslessCodecsLearnWhatOneRankLearns) {
  for (std::int64_t n = 0; n < coded_cases(); ++n) {
    const PipelineCase value = coded_case(3, n);
    const auto wrong = run_case(value);
    ASSERT_FALSE(wrong) << "case " << n << " of seed 3: " << *wrong << "\n" << to_json(value);
  }
}

/// Two hosts of two, an RB table in row shards, a UB table.
PipelineCase two_host_case(const CodecSlot& forward, const CodecSlot& backward) {
  PipelineCase value;
  value.exact = false;
  value.seed = 11;
  Workload& workload = value.workload;
  workload.name = "two tables";
  workload.global_batch = 96;
  for (const char* name : {"pooled", "rows"}) {
    Table table{.name = name, .rows = 300, .dim = 16};
    table.optimizer = make_optimizer(OptimizerKind::sgd, 0.1);
    Feature feature;
    feature.name = name;
    feature.table = static_cast<std::int32_t>(workload.tables.size());
    feature.hotness = Hotness::fixed(2);
    workload.tables.push_back(table);
    workload.features.push_back(feature);
  }
  value.topology.name = "two hosts";
  value.topology.hosts = 2;
  value.topology.gpus_per_host = 2;
  value.topology.fast_domain = 2;
  for (LinkModel* link : {&value.topology.intra, &value.topology.inter}) {
    link->latency_s.value = 1e-6;
    link->bytes_per_s.value = 1e10;
    link->efficiency.value = 1;
  }
  Layout& layout = value.layout;
  layout.name = "coded";
  layout.ranks = 4;
  layout.table_names = {"pooled", "rows"};
  layout.tables = {row_wise(workload.tables[0], {0, 1, 3}),
                   row_wise(workload.tables[1], {2, 0}, ClusterType::UB)};
  for (ClusterOptions& options : layout.clusters) {
    options.codecs.forward_inter = forward;
    options.codecs.backward_inter = backward;
  }
  return value;
}

/// A message of a stage, and the table it is about.
struct Damage {
  std::string stage;
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::string table;
  Group group = Group::flat;

  /// The sender's number in the group of a receiver that shares its rail.
  [[nodiscard]] std::int32_t peer() const { return group == Group::rail ? sender / 2 : sender; }
};

/// Flips a bit of such messages at that byte (from the end where negative).
class DamagingCommunicator final : public ForwardingCommunicator {
 public:
  DamagingCommunicator(std::unique_ptr<Communicator> inner, Damage damage, std::int64_t position)
      : ForwardingCommunicator(std::move(inner)), damage_(std::move(damage)), position_(position) {}

  void set_label(const char* label) override {
    label_ = label;
    ForwardingCommunicator::set_label(label);
  }
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override {
    ForwardingCommunicator::alltoall_v(stream, group, call);
    if (rank() != damage_.receiver || label_ != damage_.stage || group != damage_.group) return;
    stream.enqueue([this, call] {
      const std::int64_t bytes = call.receive_bytes[damage_.peer()];
      if (bytes == 0) return;
      const std::int64_t at = position_ < 0 ? bytes + position_ : position_;
      call.receive[call.receive_offsets[damage_.peer()] + at] ^= std::byte{16};
    });
  }

 private:
  Damage damage_;
  std::string label_;
  std::int64_t position_;
};

struct TestSink final : ForgettingSink {
  std::vector<CodecWork> codecs;

  void codec_work(std::int64_t, std::span<const CodecWork> batch) override {
    codecs.insert(codecs.end(), batch.begin(), batch.end());
  }
};

LinkBytes sum_of(const std::vector<RankTraffic>& traffic, Stage stage, Work work) {
  LinkBytes sum;
  for (const RankTraffic& rank : traffic) {
    sum.intra += rank.at(stage, work).intra;
    sum.inter += rank.at(stage, work).inter;
  }
  return sum;
}

TEST(Coded, OutputsStayWithinTheBoundOfTheSumThatIsReceived) {
  const double bound = 0.01;
  for (const char* codec : {"fixed", "dedup-fixed", "dedup-huffman", "vector-lz"}) {
    for (const Exchange exchange : {Exchange::flat, Exchange::hierarchical}) {
      PipelineCase plain = two_host_case({}, {});
      plain.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
      PipelineCase coded = two_host_case({codec, bound, false}, {});
      coded.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
      const auto without = engine_of(plain);
      const auto with = engine_of(coded);
      ASSERT_TRUE(without && with) << (with ? "" : to_string(with.error()));
      ASSERT_TRUE((*without)->run(1, nullptr) && (*with)->run(1, nullptr));
      double largest = 0;
      for (std::int32_t rank = 0; rank < 4; ++rank) {
        // The RB output is the sum of the owners' partials.
        const std::vector<float> a = (*without)->output(0, rank);
        const std::vector<float> b = (*with)->output(0, rank);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
          largest =
              std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
        }
        // A UB bag adds two rows up.
        const std::vector<float> c = (*without)->output(1, rank);
        const std::vector<float> d = (*with)->output(1, rank);
        for (std::size_t i = 0; i < c.size(); ++i) {
          EXPECT_LE(std::fabs(static_cast<double>(c[i]) - static_cast<double>(d[i])),
                    2 * bound + 1e-6);
        }
      }
      EXPECT_LE(largest, bound + 1e-6) << codec << " " << to_string(exchange);
      EXPECT_GT(largest, 0) << codec;
    }
  }
}

TEST(Coded, CountedBytesAreWhatTheCodecsReport) {
  const PipelineCase value = two_host_case({"dedup-huffman", 0.03, true}, {"bf16", 0, true});
  const PipelineCase plain = two_host_case({}, {});
  const auto with = engine_of(value);
  const auto without = engine_of(plain);
  ASSERT_TRUE(with && without);
  ASSERT_TRUE((*with)->run(2, nullptr) && (*without)->run(2, nullptr));
  for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB}) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const Stage stage =
          direction == Direction::forward ? Stage::network_forward : Stage::network_backward;
      const LinkBytes coded = sum_of((*with)->traffic(), stage, work_of(cluster));
      const LinkBytes raw = sum_of((*without)->traffic(), stage, work_of(cluster));
      CodedBytes codecs;
      for (const Engine::CodedTraffic& rank : (*with)->coded()) {
        const CodedBytes& one =
            rank[static_cast<std::size_t>(cluster)][static_cast<std::size_t>(direction)];
        codecs.before += one.before;
        codecs.after += one.after;
        EXPECT_EQ(one.exchanges, 1);
      }
      // Four ranks tell one neighbour and two ranks of the other host a size of 8 bytes.
      EXPECT_EQ(coded.intra, raw.intra + 4 * 8);
      EXPECT_EQ(coded.inter, raw.inter - codecs.before + codecs.after + 4 * 2 * 8);
      EXPECT_EQ(codecs.before, raw.inter);
      EXPECT_LT(codecs.after, codecs.before);
    }
  }
}

TEST(Coded, DamageOnTheWireEndsTheRunWithRankTableAndReason) {
  for (const CommKind comm : {CommKind::threads, CommKind::loopback}) {
    for (const Damage& damage :
         {Damage{"RB network_forward", 3, 1, "pooled"}, Damage{"UB network_forward", 2, 1, "rows"},
          Damage{"RB network_backward", 0, 3, "pooled"},
          Damage{"RB network_forward", 3, 1, "pooled", Group::rail},
          Damage{"RB network_backward", 1, 3, "pooled", Group::rail},
          Damage{"UB network_backward", 3, 0, "rows"}}) {
      for (const std::int64_t position : {0, 3, 9, -1}) {
        PipelineCase value = two_host_case({"dedup-fixed", 0.03, true}, {"row-int8", 0, true});
        value.comm = comm;
        if (damage.group == Group::rail)
          value.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange =
              Exchange::hierarchical;
        const auto engine = engine_of(value, Fault::none, [&](std::unique_ptr<Communicator> inner) {
          return std::make_unique<DamagingCommunicator>(std::move(inner), damage, position);
        });
        ASSERT_TRUE(engine);
        const auto block = (*engine)->run(2, nullptr);
        ASSERT_FALSE(block) << damage.stage << " byte " << position;
        const std::string text = to_string(block.error());
        EXPECT_EQ(block.error().kind, ErrorKind::runtime);
        for (const std::string& part :
             {fmt::format("rank {}", damage.receiver), fmt::format("from rank {}", damage.sender),
              fmt::format("table {}", damage.table)}) {
          EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
        }
        if (position < 0) {
          EXPECT_NE(text.find("wrong checksum"), std::string::npos) << text;
        }
      }
    }
  }
}

TEST(Coded, TracedBlocksTellWhatEveryCodecDid) {
  for (const CommKind comm : {CommKind::threads, CommKind::loopback}) {
    PipelineCase value = two_host_case({"dedup-huffman", 0.03, true}, {"bf16", 0, true});
    value.comm = comm;
    value.layout.tables[1].codecs = CodecSlots{};
    value.layout.tables[1].codecs->forward_inter = {"fixed", 0.01, true};
    const auto engine = engine_of(value);
    ASSERT_TRUE(engine);
    TestSink sink;
    const auto recorder = RunRecorder::begin(sink, {}, **engine);
    ASSERT_TRUE(recorder);
    ASSERT_TRUE((*recorder)->run_block(**engine, 2, BlockUse::measured));
    EXPECT_TRUE(sink.codecs.empty());
    ASSERT_TRUE((*recorder)->run_block(**engine, 3, BlockUse::traced));
    const std::vector<CodecTotals> totals = (*recorder)->codecs();
    ASSERT_EQ(totals.size(), 3U);  // RB forward and backward, UB forward
    std::int64_t before = 0;
    for (const Engine::CodedTraffic& rank : (*engine)->coded()) {
      for (const auto& cluster : rank) before += cluster[0].before + cluster[1].before;
    }
    for (const CodecTotals& one : totals) {
      EXPECT_EQ(one.iterations, 3);
      EXPECT_EQ(one.ranks, 4);
      EXPECT_GT(one.ratio(), 1) << one.codec;
      EXPECT_GT(one.encode_ns, 0);
      EXPECT_GT(one.decode_ns, 0);
      EXPECT_EQ(one.codec, one.work == Work::UB                  ? "fixed"
                           : one.stage == Stage::network_forward ? "dedup-huffman"
                                                                 : "bf16");
    }
    // The last iteration's share of what all three sent: bags are equal, asked rows nearly so.
    EXPECT_GT(sink.codecs.size(), 3U * 4);
    std::int64_t last = 0;
    for (const CodecWork& work : sink.codecs) {
      EXPECT_GE(work.start_ns, 0);
      if (work.iteration == 4) last += work.bytes_before;
    }
    EXPECT_EQ(last, before);
    ASSERT_TRUE((*recorder)->end({}));
  }
}

TEST(Coded, EveryScheduleAndCommunicatorRunsThem) {
  for (const ScheduleKind schedule :
       {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    for (const CommKind comm : {CommKind::threads, CommKind::loopback}) {
      PipelineCase value = two_host_case({"dedup-huffman", 0.03, true}, {"row-int8", 0, true});
      value.schedule = schedule;
      value.comm = comm;
      const auto engine = engine_of(value);
      ASSERT_TRUE(engine);
      const auto block = (*engine)->run(4, nullptr);
      EXPECT_TRUE(block) << to_string(block.error());
    }
  }
}

/// Messages large enough to travel in two parts.
PipelineCase large_case(CommKind comm, ScheduleKind schedule, Exchange exchange) {
  PipelineCase value = two_host_case({"dedup-huffman", 0.03, true}, {"row-int8", 0, true});
  value.workload.global_batch = 2048;
  for (Table& table : value.workload.tables) table.dim = 64;
  value.layout.tables = {row_wise(value.workload.tables[0], {0, 1, 3}),
                         row_wise(value.workload.tables[1], {2, 0}, ClusterType::UB)};
  value.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
  // A second pooled table, so that there is something to part.
  value.workload.tables.push_back(value.workload.tables[0]);
  value.workload.tables.back().name = "pooled too";
  value.workload.features.push_back(value.workload.features[0]);
  value.workload.features.back().name = "pooled too";
  value.workload.features.back().table = 2;
  value.layout.tables.push_back(row_wise(value.workload.tables[2], {3, 0}));
  value.layout.table_names.push_back("pooled too");
  value.schedule = schedule;
  value.comm = comm;
  return value;
}

TEST(Coded, TravellingInPartsBesideTheCodecsChangesNothing) {
  for (const Exchange exchange : {Exchange::flat, Exchange::hierarchical}) {
    for (const ScheduleKind schedule : {ScheduleKind::serial, ScheduleKind::inter}) {
      const auto whole = engine_of(large_case(CommKind::loopback, schedule, exchange));
      const auto parts = engine_of(large_case(CommKind::threads, schedule, exchange));
      ASSERT_TRUE(whole && parts);
      ASSERT_TRUE((*whole)->run(4, nullptr));
      const auto block = (*parts)->run(4, nullptr);
      ASSERT_TRUE(block) << to_string(block.error());
      for (const std::int32_t table : {0, 1, 2})
        EXPECT_EQ((*whole)->weights(table), (*parts)->weights(table)) << table;
      const auto rb = static_cast<std::size_t>(ClusterType::RB);
      for (std::int32_t rank = 0; rank < 4; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        EXPECT_EQ((*whole)->coded()[r][rb][0].exchanges, 1);
        EXPECT_EQ((*parts)->coded()[r][rb][0].exchanges, 2);
        EXPECT_EQ((*whole)->coded()[r][rb][0].after, (*parts)->coded()[r][rb][0].after);
      }
    }
  }
}

/// Largest difference of a table's weights.
double weight_difference(const Engine& a, const Engine& b, std::int32_t table) {
  const std::vector<float> x = a.weights(table);
  const std::vector<float> y = b.weights(table);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  }
  return largest;
}

std::unique_ptr<Engine> fed_back(const char* backward, ScheduleKind schedule) {
  PipelineCase value = two_host_case({}, {"row-int8", 0, true});
  value.schedule = schedule;
  value.comm = CommKind::loopback;
  value.layout.tables[1].codecs = CodecSlots{};
  value.layout.tables[1].codecs->backward_inter = {backward, 0, true};
  auto engine = engine_of(value);
  EXPECT_TRUE(engine) << to_string(engine.error());
  return engine ? std::move(*engine) : nullptr;
}

// Without feedback the errors of many iterations add up like a random walk; with it what is missing
// is never more than the last iteration's.
TEST(Coded, ErrorFeedbackKeepsWeightsCloserThanCodingAlone) {
  for (const ScheduleKind schedule : {ScheduleKind::serial, ScheduleKind::inter}) {
    const auto exact = fed_back("raw", schedule);
    const auto coded = fed_back("row-int8", schedule);
    const auto fed = fed_back("row-int8-ef", schedule);
    for (Engine* engine : {exact.get(), coded.get(), fed.get()}) {
      ASSERT_TRUE(engine->run(150, nullptr));
    }
    const double without = weight_difference(*exact, *coded, 1);
    const double with = weight_difference(*exact, *fed, 1);
    EXPECT_GT(with, 0);
    EXPECT_LT(with, without / 2) << "without " << without;
  }
}

TEST(Coded, WhatErrorFeedbackKeepsOutlivesANewLayout) {
  const auto whole = fed_back("row-int8-ef", ScheduleKind::intra);
  const auto cut = fed_back("row-int8-ef", ScheduleKind::intra);
  ASSERT_TRUE(whole->run(12, nullptr));
  ASSERT_TRUE(cut->run(5, nullptr));
  ASSERT_TRUE(cut->apply(cut->config().layout));
  ASSERT_TRUE(cut->run(7, nullptr));
  EXPECT_EQ(weight_difference(*whole, *cut, 1), 0);
  const std::int64_t state_bytes = 300 * 16 * 4;
  EXPECT_GE(whole->arena_peak_bytes()[0],
            fed_back("row-int8", ScheduleKind::intra)->arena_peak_bytes()[0] + state_bytes);
}

TEST(Coded, LayoutsThatTheEngineCannotCodeAreRefused) {
  PipelineCase value = two_host_case({"bf16", 0.01, true}, {});
  EXPECT_EQ(engine_of(value).error().kind, ErrorKind::usage);  // no bound is kept
  value = two_host_case({"gzip", 0, true}, {});
  EXPECT_EQ(engine_of(value).error().kind, ErrorKind::usage);
  value = two_host_case({}, {"row-int8-ef", 0, true});  // RB has no rows to keep errors of
  EXPECT_EQ(engine_of(value).error().kind, ErrorKind::usage);
  value = two_host_case({"fixed", 0.01, true}, {});
  value.workload.wire = DType::bf16;
  EXPECT_EQ(engine_of(value).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::engine
