#include "planner/bound_class.hpp"

namespace shardscope {

BoundClass bound_class(std::int64_t rows, std::optional<double> homogenization) {
  constexpr double kMerging = 0.9;
  constexpr std::int64_t kManyRows = 93'000;
  constexpr std::int64_t kFewRows = 1'000;
  if (homogenization && *homogenization < kMerging) return BoundClass::tight;
  if (rows >= kManyRows) return BoundClass::tight;
  return rows <= kFewRows ? BoundClass::loose : BoundClass::base;
}

const char* to_string(BoundClass value) {
  switch (value) {
    case BoundClass::tight:
      return "tight";
    case BoundClass::base:
      return "base";
    case BoundClass::loose:
      return "loose";
  }
  return "";
}

}  // namespace shardscope
