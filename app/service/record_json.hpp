#pragma once
// Comparisons, curves and the work of codecs on their way from a worker to the session's owner.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "profiler/codec_work.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"

namespace shardscope::app {

[[nodiscard]] std::string to_json(const storage::ComparisonRecord& comparison);
[[nodiscard]] Result<storage::ComparisonRecord> comparison_from_json(const std::string& text);

struct CurvePart {
  std::int64_t run = 0;
  std::vector<storage::CurvePoint> points;
};

[[nodiscard]] std::string curve_to_json(std::int64_t run,
                                        std::span<const storage::CurvePoint> points);
[[nodiscard]] Result<CurvePart> curve_from_json(const std::string& text);

struct CodecWorkPart {
  std::int64_t run = 0;
  std::vector<CodecWork> works;
};

[[nodiscard]] std::string codec_work_to_json(std::int64_t run, std::span<const CodecWork> works);
[[nodiscard]] Result<CodecWorkPart> codec_work_from_json(const std::string& text);

}  // namespace shardscope::app
