#pragma once
// How the built-in workloads are written down: groups of equal tables. Private to models*.cpp.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "layout/workload.hpp"

namespace shardscope {

/// `count` equal tables, each read by one feature of `hotness` ids, or by two that share it.
struct TableGroupFact {
  std::int32_t count = 1;
  std::int64_t rows = 0;
  std::int32_t dim = 0;
  std::int32_t hotness = 1;
  std::int32_t second_hotness = 0;  ///< 0: one feature
};

/// Facts of one workload beside its tables.
struct ModelFacts {
  const char* name = "";
  const char* source = "";        ///< where from, at which revision, when read
  const char* table_prefix = "";  ///< tables are named prefix0, prefix1, ...
  OptimizerKind optimizer = OptimizerKind::sgd;
  double learning_rate = 0.01;
  double zipf_alpha = 1.1;
  std::int64_t global_batch = 0;
};

/// Expands the groups; the dense part is left empty but for its optimizer.
[[nodiscard]] Workload workload_of(const ModelFacts& facts, std::span<const TableGroupFact> groups);

[[nodiscard]] Workload make_dcnv2();
[[nodiscard]] Workload make_criteo_kaggle();
[[nodiscard]] Workload make_criteo_terabyte();
[[nodiscard]] Workload make_rm1();
[[nodiscard]] Workload make_rm2();
[[nodiscard]] Workload make_rm3();
[[nodiscard]] Workload make_t180();
[[nodiscard]] Workload make_t200();
[[nodiscard]] Workload make_t510();
[[nodiscard]] Workload make_merlin_tiny();
[[nodiscard]] Workload make_merlin_small();

}  // namespace shardscope
