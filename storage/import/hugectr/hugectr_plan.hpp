#pragma once
// HugeCTR's sharding plans in all the forms they travel in: JSON objects with shard_matrix and
// shard_strategy, 3.x plan files, literals in training scripts and in logs. Nothing is executed.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/imported_plan.hpp"

namespace shardscope::storage {

/// One plan as written. Table ids are names, or indices as decimal text.
struct HugectrPlan {
  struct Shard {
    std::string table;
    std::int32_t rank = 0;
    std::int32_t shard_id = -1;  ///< 3.x: its row shard; -1: by the order of ranks
  };
  std::int32_t ranks = 0;
  std::vector<Shard> shards;  ///< of model-parallel tables, rank by rank
  std::vector<std::pair<std::string, std::int32_t>> model_parallel;  ///< id, column factor
  std::vector<std::string> data_parallel;
  std::vector<std::string> unique;  ///< compression_strategy: UB
  std::vector<std::vector<std::string>> matrix;
  std::vector<std::string> combiners;  ///< by table index; may be empty
  bool hierarchical = false;
  std::string name;
  std::string model;
  std::string device;
  std::string optimizer;
  std::int64_t global_batch = 0;
  std::int32_t gpus_per_node = 0;
  std::vector<std::pair<std::string, std::string>> facts;
};

/// Every plan of the text; at least one, or an error that says what was looked for.
[[nodiscard]] Result<std::vector<HugectrPlan>> read_hugectr_plans(std::string_view text,
                                                                  ImportNotes& notes);

/// The layout of a plan. Tables come from the context, or from the built-in model that the plan
/// names; without either only the matrix is given, with a warning.
[[nodiscard]] Result<ImportedPlan> resolve_hugectr_plan(const HugectrPlan& plan,
                                                        const ImportContext& context,
                                                        ImportNotes& notes);

}  // namespace shardscope::storage
