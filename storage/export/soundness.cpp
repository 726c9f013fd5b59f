#include "storage/export/soundness.hpp"

#include <fmt/format.h>

#include <string_view>

#include "layout/check.hpp"

namespace shardscope::storage {
namespace {

constexpr std::size_t kMostMemoryRemarks = 4;

bool is_memory(const Violation& violation) {
  return violation.rule.starts_with("memory.");
}

bool is_executors(const Violation& violation) {
  return violation.rule.starts_with("hugectr.") || violation.rule.starts_with("torchrec.") ||
         violation.rule == "columns.multiple_of_4";
}

tl::unexpected<Error> as_refusal(const Violation& violation, Executor executor) {
  return fail({ErrorKind::infeasible, violation.rule + ": " + violation.message,
               fmt::format("export to {}", to_string(executor)), "", violation.cure});
}

}  // namespace

Status require_sound(const Workload& workload, const Topology& topology, const Layout& layout,
                     Executor executor) {
  for (const Violation& violation : check(workload, topology, layout, executor)) {
    const bool geometry = !is_memory(violation) && !is_executors(violation);
    if (geometry && violation.severity == Severity::error) return as_refusal(violation, executor);
  }
  return {};
}

Status require_rules(const Workload& workload, const Topology& topology, const Layout& layout,
                     Executor executor, std::vector<std::string>& remarks) {
  std::size_t memory = 0;
  for (const Violation& violation : check(workload, topology, layout, executor)) {
    if (violation.severity != Severity::error) continue;
    if (!is_memory(violation)) return as_refusal(violation, executor);
    if (++memory <= kMostMemoryRemarks) remarks.push_back(violation.message);
  }
  if (memory > kMostMemoryRemarks) {
    remarks.push_back(
        fmt::format("{} more ranks or hosts are too small", memory - kMostMemoryRemarks));
  }
  return {};
}

}  // namespace shardscope::storage
