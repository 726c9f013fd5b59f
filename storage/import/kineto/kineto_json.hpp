#pragma once
// One event or root field of a Kineto trace as JSON text, read by simdjson.

#include <memory>
#include <string>
#include <string_view>

#include "storage/import/kineto/kineto_args.hpp"

namespace shardscope::storage {

/// What the fields beside traceEvents tell.
struct KinetoHead {
  std::int32_t rank = -1;  ///< -1: not stated
  std::int32_t world_size = 0;
  std::int32_t devices = 0;  ///< GPUs that the profiled host has; 0: not stated
  std::string device_name;
  std::int64_t base_ns = 0;
};

/// Reads texts one after another. Not usable from several threads.
class KinetoJson {
 public:
  KinetoJson();
  ~KinetoJson();
  KinetoJson(const KinetoJson&) = delete;
  KinetoJson& operator=(const KinetoJson&) = delete;

  /// `text` is an object with kEventPadding readable bytes behind it; false where it is damaged.
  /// args are read for categories that are used.
  [[nodiscard]] bool event(std::string_view text, KinetoEvent& out);
  /// distributedInfo, deviceProperties, baseTimeNanoseconds; others are left.
  void field(std::string_view name, std::string_view value, KinetoHead& out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace shardscope::storage
