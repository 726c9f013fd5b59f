#pragma once
// The name of every enumerator, as written in files and on screens. One table an enum serves both
// directions.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// Names of E's enumerators, indexed by their value.
template <class E>
struct Names;

template <>
struct Names<DType> {
  static constexpr std::array values = {"fp32", "fp16", "bf16"};
};
template <>
struct Names<KeyType> {
  static constexpr std::array values = {"i32", "i64"};
};
template <>
struct Names<OptimizerKind> {
  static constexpr std::array values = {"sgd", "adagrad", "rowwise_adagrad", "adam", "other"};
};
template <>
struct Names<Pooling> {
  static constexpr std::array values = {"sum", "mean", "concat", "sequence"};
};
template <>
struct Names<HotnessKind> {
  static constexpr std::array values = {"fixed", "uniform", "histogram"};
};
template <>
struct Names<IdDistributionKind> {
  static constexpr std::array values = {"zipf", "uniform", "heavy_hitters", "reuse_histogram",
                                        "recorded"};
};
template <>
struct Names<IdOrder> {
  static constexpr std::array values = {"permuted", "popularity"};
};
template <>
struct Names<Interaction> {
  static constexpr std::array values = {"none", "concat", "dot", "dcnv2"};
};
template <>
struct Names<Origin> {
  static constexpr std::array values = {"datasheet", "published", "measured", "prior"};
};
template <>
struct Names<LinkClass> {
  static constexpr std::array values = {"self", "intra", "inter"};
};
template <>
struct Names<ClusterType> {
  static constexpr std::array values = {"DP", "RB", "UB"};
};
template <>
struct Names<RowMapping> {
  static constexpr std::array values = {"modulo", "block"};
};
template <>
struct Names<Exchange> {
  static constexpr std::array values = {"flat", "hierarchical"};
};
template <>
struct Names<Tier> {
  static constexpr std::array values = {"hbm", "uvm", "uvm_cached", "ssd", "hash"};
};
template <>
struct Names<Stage> {
  static constexpr std::array values = {
      "input_dist",       "model_forward",     "network_forward", "dense_forward", "dense_backward",
      "network_backward", "index_calculation", "local_reduce",    "allreduce",     "update"};
};
template <>
struct Names<Work> {
  static constexpr std::array values = {"DP", "RB", "UB", "bottom_mlp", "top_mlp", "dense"};
};
template <>
struct Names<ScheduleKind> {
  static constexpr std::array values = {"serial", "intra", "inter"};
};
template <>
struct Names<Executor> {
  static constexpr std::array values = {"engine", "hugectr", "torchrec"};
};

/// Name of an enumerator; "?" for a value outside the enum.
template <class E>
[[nodiscard]] constexpr const char* name_of(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < Names<E>::values.size() ? Names<E>::values[index] : "?";
}

/// The enumerator of that name; nothing for an unknown one.
template <class E>
[[nodiscard]] constexpr std::optional<E> parse_name(std::string_view text) {
  for (std::size_t i = 0; i < Names<E>::values.size(); ++i) {
    if (text == Names<E>::values[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

/// "sum | mean | concat | sequence", for messages.
template <class E>
[[nodiscard]] std::string choices_of() {
  std::string text;
  for (const char* name : Names<E>::values) {
    if (!text.empty()) text += " | ";
    text += name;
  }
  return text;
}

}  // namespace shardscope
