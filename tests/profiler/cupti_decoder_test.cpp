// Hand-made records through the decoder.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <iostream>

#include "profiler/clock.hpp"
#include "profiler/cupti_attribution.hpp"
#include "tests/profiler/cupti_buffers.hpp"

namespace shardscope::cupti {
namespace {

constexpr std::uint64_t kEpoch = 1'000'000;
constexpr Attribution kWork{3, 17, Stage::model_forward, Work::UB};

using Kind = ActivityRecord::Kind;

std::vector<ActivityRecord> decode_all(Decoder& decoder, std::vector<RecordBuffer> buffers) {
  std::vector<FilledBuffer> filled;
  for (RecordBuffer& buffer : buffers) filled.push_back(buffer.filled());
  std::vector<ActivityRecord> records;
  decoder.decode(filled, records);
  decoder.finish(records);
  return records;
}

TEST(CuptiAttribution, SurvivesItsNumber) {
  for (const Attribution at :
       {Attribution{}, kWork, Attribution{999, 2'000'000'000, Stage::update, Work::dense}}) {
    EXPECT_EQ(from_external_id(to_external_id(at)), at);
    EXPECT_NE(to_external_id(at), 0U);
  }
}

TEST(CuptiDecoder, ReadsAKernel) {
  KernelRecord kernel = kernel_of(7, kEpoch + 100, kEpoch + 350);
  kernel.device = 1;
  kernel.context = 2;
  kernel.stream = 13;
  kernel.registers_per_thread = 48;
  kernel.grid[0] = 1056;
  kernel.grid[1] = 26;
  kernel.block[0] = 256;
  kernel.static_shared_bytes = 3072;
  kernel.dynamic_shared_bytes = 11;
  kernel.grid_id = 99;
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  const auto records = decode_all(
      decoder, {RecordBuffer().add(correlation_of(7, to_external_id(kWork))).add(kernel)});
  ASSERT_EQ(records.size(), 1U);
  const ActivityRecord& record = records[0];
  EXPECT_EQ(record.kind, Kind::kernel);
  EXPECT_EQ(record.name, "gather(float const*, float*)");
  EXPECT_EQ(record.start_ns, 100);
  EXPECT_EQ(record.end_ns, 350);
  EXPECT_EQ(record.device, 1);
  EXPECT_EQ(record.context, 2);
  EXPECT_EQ(record.stream, 13);
  EXPECT_EQ(record.registers_per_thread, 48);
  EXPECT_EQ(record.grid, (std::array<std::int32_t, 3>{1056, 26, 0}));
  EXPECT_EQ(record.block, (std::array<std::int32_t, 3>{256, 0, 0}));
  EXPECT_EQ(record.static_shared_bytes, 3072);
  EXPECT_EQ(record.dynamic_shared_bytes, 11);
  EXPECT_EQ(record.grid_id, 99);
  EXPECT_TRUE(record.attributed);
  EXPECT_EQ(record.rank, kWork.rank);
  EXPECT_EQ(record.iteration, kWork.iteration);
  EXPECT_EQ(record.stage, kWork.stage);
  EXPECT_EQ(record.work, kWork.work);
}

TEST(CuptiDecoder, ReadsCopiesAndMemsets) {
  MemcpyRecord copy;
  copy.direction = 1;
  copy.source = 2;
  copy.destination = 3;
  copy.bytes = 4096;
  copy.start = kEpoch + 1;
  copy.end = kEpoch + 9;
  PeerCopyRecord peer;
  peer.direction = 10;
  peer.source = peer.destination = 3;
  peer.bytes = 77;
  peer.device = 1;
  peer.start = kEpoch + 10;
  peer.end = kEpoch + 12;
  MemsetRecord set;
  set.value = 5;
  set.bytes = 512;
  set.memory = 5;
  set.start = kEpoch + 20;
  set.end = kEpoch + 22;
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {4, 6});
  const auto records = decode_all(decoder, {RecordBuffer().add(copy).add(peer).add(set)});
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].kind, Kind::memcpy);
  EXPECT_EQ(records[0].detail, 1);
  EXPECT_EQ(records[0].source, MemoryKind::pinned);
  EXPECT_EQ(records[0].destination, MemoryKind::device);
  EXPECT_EQ(records[0].bytes, 4096);
  EXPECT_EQ(records[0].rank, 4) << "by device, since no call is known";
  EXPECT_EQ(records[1].kind, Kind::memcpy);
  EXPECT_EQ(records[1].detail, 10);
  EXPECT_EQ(records[1].bytes, 77);
  EXPECT_EQ(records[1].rank, 6);
  EXPECT_EQ(records[2].kind, Kind::memset);
  EXPECT_EQ(records[2].detail, 5);
  EXPECT_EQ(records[2].destination, MemoryKind::managed);
  EXPECT_FALSE(records[2].attributed);
}

TEST(CuptiDecoder, ReadsCallsSynchronizationAndOverhead) {
  CallRecord call;
  call.function = 211;
  call.start = kEpoch + 5;
  call.end = kEpoch + 8;
  call.thread = 1234;
  call.correlation = 21;
  call.result = 2;
  CallRecord driver = call;
  driver.kind = RecordKind::driver;
  driver.function = 1;
  SynchronizationRecord sync;
  sync.type = 3;
  sync.start = kEpoch + 9;
  sync.end = kEpoch + 19;
  sync.event = 8;
  sync.stream = 7;
  OverheadRecord overhead;
  overhead.overhead_kind = 65536;
  overhead.object[1] = 555;
  overhead.start = kEpoch + 30;
  overhead.end = kEpoch + 31;
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  const auto records =
      decode_all(decoder, {RecordBuffer().add(sync).add(overhead).add(call).add(driver)});
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].kind, Kind::synchronization);
  EXPECT_EQ(records[0].detail, 3);
  EXPECT_EQ(records[0].event, 8U);
  EXPECT_EQ(records[1].kind, Kind::overhead);
  EXPECT_EQ(records[1].thread, 555);
  EXPECT_EQ(records[1].detail, 65536);
  EXPECT_EQ(records[2].kind, Kind::runtime);
  EXPECT_EQ(records[2].name, "cudaLaunchKernel_v7000");
  EXPECT_EQ(records[2].thread, 1234);
  EXPECT_EQ(records[2].detail, 2);
  EXPECT_EQ(records[3].name, "unknown call");
}

TEST(CuptiDecoder, FindsTheCallOfARecordInAnyOrderAndInTheNextBatch) {
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  // The kernel stands before its correlation, in another buffer.
  RecordBuffer first;
  first.add(kernel_of(1, kEpoch + 1, kEpoch + 2)).add(kernel_of(2, kEpoch + 3, kEpoch + 4));
  RecordBuffer second;
  second.add(correlation_of(1, to_external_id(kWork)));
  const FilledBuffer both[2] = {first.filled(), second.filled()};
  std::vector<ActivityRecord> records;
  decoder.decode(both, records);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].attributed);

  // The other kernel waits for the next batch, which brings its call.
  RecordBuffer later;
  later.add(correlation_of(2, to_external_id({1, 2, Stage::update, Work::DP})));
  const FilledBuffer next = later.filled();
  records.clear();
  decoder.decode({&next, 1}, records);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].start_ns, 3);
  EXPECT_TRUE(records[0].attributed);
  EXPECT_EQ(records[0].stage, Stage::update);

  // A correlation of the batch before serves late records; one that never comes holds none back.
  RecordBuffer last;
  last.add(kernel_of(2, kEpoch + 5, kEpoch + 6)).add(kernel_of(3, kEpoch + 7, kEpoch + 8));
  const FilledBuffer end = last.filled();
  records.clear();
  decoder.decode({&end, 1}, records);
  decoder.finish(records);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].attributed);
  EXPECT_FALSE(records[1].attributed);
}

TEST(CuptiDecoder, TellsTheKernelsOfAGraphApartByTheirNodes) {
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  decoder.set_graph_node(501, to_external_id({0, 1, Stage::model_forward, Work::RB}));
  decoder.set_graph_node(502, to_external_id({0, 1, Stage::update, Work::RB}));
  RecordBuffer buffer;
  buffer.add(correlation_of(9, to_external_id({0, 4, Stage::input_dist, Work::RB})));
  for (const std::uint64_t node : {501, 502, 503}) {
    KernelRecord kernel = kernel_of(9, kEpoch + node, kEpoch + node + 1);
    kernel.graph_node = node;
    buffer.add(kernel);
  }
  const auto records = decode_all(decoder, {buffer});
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].stage, Stage::model_forward);
  EXPECT_EQ(records[1].stage, Stage::update);
  EXPECT_EQ(records[2].stage, Stage::input_dist) << "a node nobody named: its launch speaks for it";
  for (const ActivityRecord& record : records) {
    EXPECT_EQ(record.iteration, 4) << "that of the launch, not of the capture";
  }
}

TEST(CuptiDecoder, SkipsUnknownKindsAndCountsThem) {
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  const auto records = decode_all(
      decoder,
      {RecordBuffer().add_unread().add(kernel_of(0, kEpoch + 1, kEpoch + 2)).add_unread()});
  EXPECT_EQ(records.size(), 1U);
  EXPECT_EQ(decoder.counts().unknown, 2);
  EXPECT_EQ(decoder.counts().records, 3);
  EXPECT_EQ(decoder.counts().incomplete, 0);
}

TEST(CuptiDecoder, ReadsWhatIsWholeOfATruncatedBuffer) {
  for (std::size_t cut = 1; cut < 216; ++cut) {
    const CuptiApi api = walking_api();
    Decoder decoder(api, kEpoch, {});
    RecordBuffer buffer;
    buffer.add(kernel_of(0, kEpoch + 1, kEpoch + 2)).add(kernel_of(0, kEpoch + 3, kEpoch + 4));
    EXPECT_EQ(decode_all(decoder, {buffer.cut(cut)}).size(), 1U);
    EXPECT_EQ(decoder.counts().incomplete, 1);
  }
}

TEST(CuptiDecoder, StopsAtARecordThatIsNotFinished) {
  RecordBuffer buffer;
  buffer.add(kernel_of(0, kEpoch + 1, kEpoch + 2));
  std::vector<std::uint8_t> bytes = buffer.bytes();
  bytes.resize(bytes.size() + 216, 0);  // of kind 0
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  const FilledBuffer filled{bytes.data(), bytes.size()};
  std::vector<ActivityRecord> records;
  decoder.decode({&filled, 1}, records);
  EXPECT_EQ(records.size(), 1U);
  EXPECT_EQ(decoder.counts().incomplete, 1);
}

TEST(CuptiDecoder, MarksLostTimestamps) {
  const CuptiApi api = walking_api();
  Decoder decoder(api, kEpoch, {});
  const auto records = decode_all(
      decoder,
      {RecordBuffer().add(kernel_of(0, kEpoch + 50, kEpoch + 50)).add(kernel_of(0, 0, 0))});
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].end_ns, 51) << "no time measured is not a lost timestamp";
  EXPECT_EQ(records[1].start_ns, 50);
  EXPECT_EQ(records[1].end_ns, 50);
  EXPECT_EQ(decoder.counts().lost_timestamps, 1);
}

TEST(CuptiDecoder, DecodesTwoMillionRecordsASecond) {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr std::uint32_t kLaunches = 60'000;
  RecordBuffer buffer;
  for (std::uint32_t n = 1; n <= kLaunches; ++n) {
    CallRecord call;
    call.function = 211;
    call.start = kEpoch + n;
    call.end = kEpoch + n + 1;
    call.correlation = n;
    buffer.add(correlation_of(n, to_external_id(kWork)))
        .add(call)
        .add(kernel_of(n, kEpoch + n, kEpoch + n + 5));
  }
  const CuptiApi api = walking_api();
  const FilledBuffer filled = buffer.filled();
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    Decoder decoder(api, kEpoch, {});
    std::vector<ActivityRecord> records;
    const std::int64_t began = thread_cpu_ns();
    decoder.decode({&filled, 1}, records);
    const double seconds = static_cast<double>(thread_cpu_ns() - began) * 1e-9;
    ASSERT_EQ(records.size(), 2U * kLaunches);
    best = std::max(best, static_cast<double>(decoder.counts().records) / seconds);
  }
  std::cout << best * 1e-6 << " million records/s of processor time\n";
  EXPECT_GE(best, 2e6);
#else
  GTEST_SKIP() << "speed is measured in release builds";
#endif
}

TEST(CuptiDecoder, ReadsWhatTheInstalledCuptiWalks) {
  const Result<const CuptiApi*> api = cupti_api();
  if (!api) GTEST_SKIP() << "CUPTI is not installed";
  std::uint32_t version = 0;
  ASSERT_EQ((*api)->get_version(&version), kSuccess);
  if (version != 130001) GTEST_SKIP() << "the records are those of another CUPTI";
  Decoder decoder(**api, kEpoch, {});
  CallRecord call;
  call.function = 211;
  call.start = kEpoch + 5;
  call.end = kEpoch + 8;
  const auto records = decode_all(decoder, {RecordBuffer()
                                                .add(correlation_of(7, to_external_id(kWork)))
                                                .add(call)
                                                .add(kernel_of(7, kEpoch + 1, kEpoch + 2))});
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "cudaLaunchKernel_v7000");
  EXPECT_TRUE(records[1].attributed);
}

}  // namespace
}  // namespace shardscope::cupti
