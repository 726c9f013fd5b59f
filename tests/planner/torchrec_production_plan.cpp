#include "torchrec_production_plan.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/shared_data.hpp"

namespace shardscope::testing_planner {

namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

std::vector<std::string> fields_of(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) {
    if (!field.empty() && field.back() == '\r') field.pop_back();
    fields.push_back(field);
  }
  return fields;
}

}  // namespace

std::vector<ProductionTable> production_plan() {
  std::ifstream file(test_data::shared_path("plans/torchrec_prod_plan_1935.csv"));
  std::vector<ProductionTable> plan;
  std::string line;
  if (!std::getline(file, line)) return plan;
  std::map<std::string, std::size_t> column;
  const std::vector<std::string> names = fields_of(line, ',');
  for (std::size_t i = 0; i < names.size(); ++i) column[names[i]] = i;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = fields_of(line, ',');
    const auto text = [&](const char* name) { return fields.at(column.at(name)); };
    const auto number = [&](const char* name) { return std::stod(text(name)); };
    ProductionTable& one = plan.emplace_back();
    one.table.name = text("fqn");
    one.table.rows = static_cast<std::int64_t>(number("rows"));
    one.table.dim = static_cast<std::int32_t>(number("dim"));
    one.table.element_bytes =
        text("elem_bytes_inferred").empty() ? 2 : number("elem_bytes_inferred");
    one.table.output_bytes = one.table.element_bytes;
    one.table.pooled = text("output") == "pooled";
    one.table.weighted = text("weighted") == "weighted";
    one.table.optimizer_multiplier = 1.0 / one.table.dim;  // row-wise adagrad
    // The report gives sums over the features: ids a sample and bags a sample.
    const double bags = number("sum_num_poolings");
    one.table.inputs = {{bags > 0 ? number("num_indices") / bags : 0, bags}};
    one.form = text("sharding") == "RW" ? TorchRecForm::row_wise : TorchRecForm::column_wise;
    one.column_width = static_cast<std::int32_t>(number("cw_dim"));
    one.perf_ms = number("perf_ms_total");
    one.hbm_gib = number("hbm_gb");
    if (one.form == TorchRecForm::row_wise) continue;
    for (const std::string& rank : fields_of(text("ranks"), ' '))
      if (!rank.empty()) one.ranks.push_back(std::stoi(rank));
  }
  return plan;
}

TorchRecMachine production_machine() {
  TorchRecMachine machine;
  machine.world = 96;
  machine.local_world = 8;
  machine.batch = 2560;
  machine.hbm_bytes = 138 * kBytesPerGib;
  machine.hbm_bytes_per_s = 897 * kBytesPerGib;
  machine.intra_bytes_per_s = 600 * kBytesPerGib;
  machine.inter_bytes_per_s = 25.98 * kBytesPerGib;
  machine.outputs_limited_by_ids = false;
  return machine;
}

}  // namespace shardscope::testing_planner
