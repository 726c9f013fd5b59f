#pragma once
// PyTorch profiler (Kineto) traces: one event at a time into a RankTrace.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "layout/result.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/trace/trace_model.hpp"
#include "storage/import/trace/trace_source.hpp"

namespace shardscope::storage {

/// Records kept of one file: twice what a gigabyte of dense GPU work has, some 2 GB of memory.
inline constexpr std::size_t kMostTraceRecords = std::size_t{1} << 23;

/// Reads events of one file. Not usable from several threads.
class KinetoReader {
 public:
  explicit KinetoReader(std::string file);
  ~KinetoReader();
  KinetoReader(const KinetoReader&) = delete;
  KinetoReader& operator=(const KinetoReader&) = delete;

  /// `event` is an object with kEventPadding readable bytes behind it. Damaged events are counted.
  void event(std::string_view event, std::int64_t line, ImportNotes& notes);
  /// distributedInfo, deviceProperties, baseTimeNanoseconds, traceName.
  void field(std::string_view name, std::string_view value);
  [[nodiscard]] RankTrace take();
  /// Events beyond kMostTraceRecords, which are not kept.
  [[nodiscard]] std::int64_t left_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A whole trace. Errors where it is none; a trace that ends early is kept with a warning.
[[nodiscard]] Result<RankTrace> read_kineto(ByteStream& bytes, const std::string& name,
                                            ImportNotes& notes);

}  // namespace shardscope::storage
