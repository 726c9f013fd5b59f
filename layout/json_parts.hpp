#pragma once
// Pieces that several formats share. Private to the JSON readers and writers.

#include <string>

#include "layout/json_reader.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

inline constexpr int kWorkloadVersion = 1;
inline constexpr int kTopologyVersion = 1;
inline constexpr int kLayoutVersion = 1;
inline constexpr int kTableStatsVersion = 1;

/// "shardscope.workload/1".
[[nodiscard]] std::string format_name(const char* name, int version);

/// Adds a field unless the value is the default.
template <class T>
void put_unless(JsonValue::Object& object, const char* name, const T& value, const T& usual) {
  if (!(value == usual)) object.emplace_back(name, value);
}

/// A list of whole numbers.
template <class Int>
[[nodiscard]] JsonValue::Array whole_array(const std::vector<Int>& values) {
  JsonValue::Array array;
  array.reserve(values.size());
  for (const Int value : values) array.emplace_back(value);
  return array;
}

[[nodiscard]] JsonValue::Array number_array(const std::vector<double>& values);

/// An optimizer's name, or an object with "kind" and what differs from make_optimizer(kind).
void read_optimizer(JsonFields& fields, const char* name, Optimizer& out);
[[nodiscard]] JsonValue optimizer_value(const Optimizer& optimizer);

/// "shardscope.workload/1" from an object known to carry "format".
void read_workload(JsonFields& fields, Workload& out);

/// "gpu" and a link of that name (a topology's, a calibration's), each required.
void read_gpu(JsonFields& fields, Gpu& out);
void read_link(JsonFields& fields, const char* name, LinkModel& out);
[[nodiscard]] JsonValue gpu_value(const Gpu& gpu);
[[nodiscard]] JsonValue link_value(const LinkModel& link);

/// A table list: {"tables": [...]} or {"groups": [...]}.
void read_table_list(JsonFields& fields, Workload& out);

}  // namespace shardscope
