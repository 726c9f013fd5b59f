#include "tests/engine/cuda/both_devices.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/engine/cuda/device_under_test.hpp"

namespace shardscope::engine::testing {

// 500 are an ordinary release run, 5,000 the full one (scripts/test).
int scaled_cases(int normal) {
  const char* text = std::getenv("SHARDSCOPE_CASES");
  if (text == nullptr) return normal;
  return static_cast<int>(std::max<long long>(normal * std::strtoll(text, nullptr, 10) / 500, 4));
}

void finish(Stream& stream) {
  stream.synchronize(stream.record());
}

void expect_equal_on_both(int cases,
                          const std::function<void(Ops&, Stream&, Random&, Transcript&)>& run) {
  const std::unique_ptr<Ops> cpu = make_cpu_ops();
  const std::shared_ptr<Device> device = device_under_test();
  const auto stream = make_cpu_stream(StreamMode::inline_, "both");
  const auto device_stream = device->stream(0, StreamMode::inline_, "both");
  ASSERT_TRUE(device_stream) << to_string(device_stream.error());
  for_random_cases(scaled_cases(cases), [&](std::uint64_t seed) {
    Transcript expected;
    Transcript actual;
    Random first(seed);
    run(*cpu, *stream, first, expected);
    Random second(seed);
    vary_order(seed % 3 == 0 ? 0 : seed);
    run(device->ops(), **device_stream, second, actual);
    vary_order(0);
    const Status status = (*device_stream)->status();
    ASSERT_TRUE(status) << to_string(status.error());
    EXPECT_TRUE(expected == actual) << "the devices write different bytes";
  });
}

}  // namespace shardscope::engine::testing
