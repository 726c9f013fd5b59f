#pragma once
// From names to stages: which kernel (or annotated range) of FBGEMM, HugeCTR, NCCL and cuBLAS does
// what. A table in text, so that people extend it without building anything.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/result.hpp"
#include "layout/schedule.hpp"

namespace shardscope::storage {

/// What a name means. Some kernels serve several stages: the annotation around their launch
/// decides.
enum class KernelRole : std::uint8_t {
  stage,     ///< always that stage
  exchange,  ///< a collective: id exchange, forward or backward by its surroundings
  network,   ///< packing around an exchange: forward or backward by the phase
  dense,     ///< dense part: forward, backward or optimizer by the phase
};

enum class RangeRole : std::uint8_t { stage, forward, backward, optimizer, step };

struct KernelRule {
  std::string pattern;  ///< pieces that occur in this order, separated by '*'
  KernelRole role = KernelRole::stage;
  Stage stage = Stage::model_forward;
  Work work = Work::RB;
  bool fused = false;  ///< local_reduce and update in one kernel
};

struct RangeRule {
  std::string pattern;
  RangeRole role = RangeRole::stage;
  Stage stage = Stage::input_dist;
};

struct KernelMap {
  std::vector<KernelRule> kernels;  ///< the first that matches counts
  std::vector<RangeRule> ranges;

  [[nodiscard]] const KernelRule* kernel(std::string_view name) const;
  [[nodiscard]] const RangeRule* range(std::string_view name) const;
};

/// The built-in table as text: "kernel PATTERN ROLE [WORK]" and "range PATTERN ROLE" lines, '#'
/// begins a comment. ROLE is a stage's name, local_reduce+update, exchange, network, dense; for
/// ranges a stage, forward, backward, optimizer or step.
[[nodiscard]] std::string_view kernel_map_text();

[[nodiscard]] const KernelMap& built_in_kernel_map();

/// Rules of the text before the built-in ones. Errors name place:line and what would be taken.
[[nodiscard]] Result<KernelMap> parse_kernel_map(std::string_view text, const std::string& place);

}  // namespace shardscope::storage
