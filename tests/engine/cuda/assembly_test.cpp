// The small operations of the cuda device against the cpu device.

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "tests/engine/cuda/both_devices.hpp"

namespace shardscope::engine::testing {
namespace {

std::vector<float> some_reals(Random& random, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t n = 0; n < count; ++n) values.push_back(random.real());
  return values;
}

struct CudaBags {
  explicit CudaBags(Random& random) : lengths(static_cast<std::size_t>(random.between(0, 40))) {
    for (std::int32_t& length : lengths) {
      length = static_cast<std::int32_t>(random.chance(0.2) ? 0 : random.between(0, 9));
      total += length;
    }
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(lengths.size()); }

  std::vector<std::int32_t> lengths;
  std::int64_t total = 0;
};

TEST(CudaAssembly, CopiesAndClearsAnyBytes) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<std::vector<std::uint8_t>> buffers;
    std::vector<CopyBytes> copies;
    std::vector<FillZero> fills;
    for (std::int64_t n = random.between(1, 4); n > 0; --n) {
      const std::int64_t bytes = random.between(0, 300);
      std::vector<std::uint8_t>& from = buffers.emplace_back();
      for (std::int64_t i = 0; i < bytes + 16; ++i) {
        from.push_back(static_cast<std::uint8_t>(random.between(0, 255)));
      }
      std::vector<std::uint8_t>& to = buffers.emplace_back(from.size(), 9);
      const std::int64_t shift = random.chance(0.5) ? 0 : random.between(0, 15);
      copies.push_back({from.data() + shift, to.data(), bytes});
      std::vector<std::uint8_t>& zero = buffers.emplace_back(from.size(), 7);
      fills.push_back({zero.data() + shift, bytes});
    }
    ops.copy_bytes(stream, copies);
    ops.fill_zero(stream, fills);
    finish(stream);
    for (const auto& buffer : buffers) transcript.add(buffer);
  });
}

TEST(CudaAssembly, ScalesMeansAndSpreadsBags) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    const CudaBags bags(random);
    const auto width = static_cast<std::int32_t>(random.between(1, 50));
    const auto a_sample = static_cast<std::int32_t>(random.between(1, 3));
    const std::int64_t stride = a_sample * width + random.between(0, 5);
    const std::int64_t samples = (bags.count() + a_sample - 1) / a_sample;
    std::vector<float> scale(static_cast<std::size_t>(bags.count()), -1);
    std::vector<float> rows = some_reals(random, bags.total * width);
    std::vector<float> out(static_cast<std::size_t>(samples * stride), -1);
    std::vector<float> scaled = some_reals(random, bags.count() * stride);
    const BagScale bag_scale{bags.count(), bags.lengths.data(), scale.data()};
    const MeanBags mean{bags.count(), bags.lengths.data(), rows.data(), width,
                        a_sample,     out.data(),          stride};
    const ScaleRows scale_rows{scaled.data(), stride, bags.count(), width, scale.data()};
    ops.bag_scale(stream, {&bag_scale, 1});
    ops.mean_bags(stream, {&mean, 1});
    ops.scale_rows(stream, {&scale_rows, 1});
    finish(stream);
    transcript.add(scale);
    transcript.add(out);
    transcript.add(scaled);
    const SpreadBags spread{bags.count(), bags.lengths.data(), out.data(), stride, a_sample,
                            width,        rows.data()};
    ops.spread_bags(stream, {&spread, 1});
    finish(stream);
    transcript.add(rows);
  });
}

TEST(CudaAssembly, ExpandsBagsAndFillsOffsets) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    std::deque<CudaBags> bags;
    std::deque<std::vector<float>> floats;
    std::deque<std::vector<std::uint32_t>> outs;
    std::vector<ExpandBags> calls;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      const CudaBags& bag = bags.emplace_back(random);
      const bool jagged = random.chance(0.7);
      const std::int64_t total = jagged ? bag.total : bag.count();
      const float* weights = floats.emplace_back(some_reals(random, total)).data();
      const float* scale = floats.emplace_back(some_reals(random, bag.count())).data();
      float* weights_out = floats.emplace_back(static_cast<std::size_t>(total), -1.0F).data();
      outs.emplace_back(static_cast<std::size_t>(total), 77U);
      ExpandBags call;
      call.bags = bag.count();
      call.lengths = jagged ? bag.lengths.data() : nullptr;
      call.first_row = static_cast<std::uint32_t>(random.between(0, 1000));
      call.weights = random.chance(0.5) ? weights : nullptr;
      call.scale = random.chance(0.5) ? scale : nullptr;
      call.gradient_row = outs.back().data();
      call.weights_out = random.chance(0.7) ? weights_out : nullptr;
      calls.push_back(call);
    }
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(random.between(0, 50)));
    const FillOffsets fill{static_cast<std::int64_t>(offsets.size()), random.between(-9, 9),
                           random.between(1, 99), offsets.data()};
    ops.expand_bags(stream, calls);
    ops.fill_offsets(stream, {&fill, 1});
    finish(stream);
    for (const auto& list : floats) transcript.add(list);
    for (const auto& list : outs) transcript.add(list);
    transcript.add(offsets);
  });
}

TEST(CudaAssembly, ScattersAndCompactsTouchedRows) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    const std::int64_t rows = random.between(0, 90);
    const auto width = static_cast<std::int32_t>(random.between(1, 40));
    std::vector<std::int64_t> listed;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (random.chance(0.5)) listed.push_back(row);
    }
    const auto unique = static_cast<std::int64_t>(listed.size());
    const std::vector<float> from = some_reals(random, unique * width);
    std::vector<float> values(static_cast<std::size_t>(rows * width), 3);
    std::vector<float> touched(static_cast<std::size_t>(rows), 0);
    std::vector<std::int64_t> kept(static_cast<std::size_t>(rows), -1);
    std::int64_t count = -1;
    const ScatterRows scatter{&unique, listed.data(), from.data(),
                              width,   values.data(), touched.data()};
    const CompactRows compact{rows, width, touched.data(), values.data(), kept.data(), &count};
    ops.scatter_rows(stream, {&scatter, 1});
    ops.compact_rows(stream, {&compact, 1});
    finish(stream);
    transcript.add(&count, 1);
    transcript.add(kept);
    transcript.add(touched);
    transcript.add(values.data(), count * width);
  });
}

TEST(CudaAssembly, AddsPacksAndUnpacksSums) {
  expect_equal_on_both(30, [](Ops& ops, Stream& stream, Random& random, Transcript& transcript) {
    const std::int64_t lists = random.between(0, 5);
    std::deque<std::vector<float>> sums;
    std::deque<std::int64_t> counts;
    std::vector<const std::int64_t*> count_pointers;
    std::vector<const float*> from;
    std::vector<float*> to;
    std::vector<AddSums> adds;
    const auto start_flags = std::make_unique<bool[]>(8);
    std::int64_t total = 0;
    for (std::int64_t n = 0; n < lists; ++n) {
      counts.push_back(random.between(0, 80));
      total += counts.back();
      count_pointers.push_back(&counts.back());
      from.push_back(sums.emplace_back(some_reals(random, counts.back())).data());
      to.push_back(sums.emplace_back(some_reals(random, counts.back())).data());
      adds.push_back({&counts.back(), from.back(), to.back()});
      start_flags[static_cast<std::size_t>(n)] = random.chance(0.5);
    }
    std::vector<float> message(static_cast<std::size_t>(total) + 1, -1);
    std::int64_t bytes = -1;
    const auto list_count = static_cast<std::int32_t>(lists);
    const PackSums pack{list_count, count_pointers.data(), from.data(), message.data(), &bytes};
    const UnpackSums unpack{list_count, count_pointers.data(), message.data(), to.data(),
                            start_flags.get()};
    ops.add_sums(stream, adds);
    ops.pack_sums(stream, {&pack, 1});
    ops.unpack_sums(stream, {&unpack, 1});
    finish(stream);
    for (const auto& list : sums) transcript.add(list);
    transcript.add(message);
    transcript.add(&bytes, 1);
  });
}

}  // namespace
}  // namespace shardscope::engine::testing
