#pragma once
// A sink for whoever wants to see records go by and keeps none.

#include <cstdint>
#include <span>

#include "profiler/record_sink.hpp"

namespace shardscope {

/// Takes everything and keeps nothing. Override what is to be looked at.
class ForgettingSink : public RecordSink {
 public:
  Result<std::int64_t> begin_run(const RunInfo& /*info*/) override { return 1; }
  void spans(std::int64_t /*run*/, std::span<const Span> /*batch*/) override {}
  void iterations(std::int64_t /*run*/, std::span<const Iteration> /*batch*/) override {}
  void activities(std::int64_t /*run*/, std::span<const ActivityRecord> /*batch*/) override {}
  void dropped(std::int64_t /*run*/, std::int64_t /*count*/) override {}
  Status end_run(std::int64_t /*run*/, const RunSummary& /*summary*/) override { return {}; }
};

}  // namespace shardscope
