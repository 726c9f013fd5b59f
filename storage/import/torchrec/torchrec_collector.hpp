#pragma once
// Tables of a ShardingPlan while it is read, from whichever form, with bounded numbers.

#include <string>
#include <utility>

#include "layout/json_value.hpp"
#include "storage/import/notes.hpp"
#include "storage/import/torchrec/torchrec_plan.hpp"

namespace shardscope::storage {

/// Collects tables and what their placements tell of the machine.
class TorchrecPlanCollector {
 public:
  explicit TorchrecPlanCollector(ImportNotes& notes) : notes_(notes) {}

  /// Ranks of an entry; those that cannot be are left out with a warning.
  void rank_list(const JsonValue* value, TorchrecPlanEntry& entry);
  /// One shard; `placement` is "rank:R/cuda:L", without it the entry's ranks count in their order.
  void shard(const JsonValue* offsets, const JsonValue* sizes, const std::string& placement,
             TorchrecPlanEntry& entry);
  void add(TorchrecPlanEntry entry) { plan_.tables.push_back(std::move(entry)); }
  [[nodiscard]] TorchrecPlan& plan() { return plan_; }

 private:
  ImportNotes& notes_;
  TorchrecPlan plan_;
};

}  // namespace shardscope::storage
