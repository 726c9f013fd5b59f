#include "ui/desktop/open.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "layout/table_order.hpp"
#include "planner/planners.hpp"

namespace shardscope::ui {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;

}  // namespace

bool names_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".json");
}

Result<std::string> read_text(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) {
    return fail({ErrorKind::usage, "the file cannot be read", path, "", "Choose another file"});
  }
  if (size > kLargestFile) {
    return fail({ErrorKind::usage, "the file is too large", path, "at most 1 GiB", ""});
  }
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

Result<Workload> open_workload(const std::string& name) {
  if (!names_file(name)) return model_by_name(name);
  const Result<std::string> text = read_text(name);
  if (!text) return fail(text.error());
  return workload_from_json(*text, name);
}

Result<Topology> open_topology(const std::string& name) {
  if (!names_file(name)) return topology_by_name(name);
  const Result<std::string> text = read_text(name);
  if (!text) return fail(text.error());
  return topology_from_json(*text, name);
}

Result<Layout> open_layout(const std::string& name, const Workload& workload,
                           const Topology& topology) {
  if (names_file(name)) {
    const Result<std::string> text = read_text(name);
    if (!text) return fail(text.error());
    Result<Layout> layout = layout_from_json(*text, name);
    if (layout) put_in_order_of(workload, *layout);
    return layout;
  }
  Result<NamedPlan> plan = named_plan(name, workload, topology, {});
  if (!plan) return fail(plan.error());
  plan->layout.name = name;
  return std::move(plan->layout);
}

}  // namespace shardscope::ui
