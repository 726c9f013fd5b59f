#include "app/reuse_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/inputs.hpp"
#include "engine/batches/reuse_file.hpp"
#include "layout/closest.hpp"

namespace shardscope::app {
namespace {

/// Where `asked` (a number from 1, or a name) stands in `batches`; their count where it does not.
std::size_t find_batch(const std::vector<engine::ReuseBatch>& batches, const std::string& asked) {
  std::size_t number = 0;
  const char* end = asked.data() + asked.size();
  const auto [stop, error] = std::from_chars(asked.data(), end, number);
  if (error == std::errc{} && stop == end)
    return number >= 1 ? std::min(number - 1, batches.size()) : batches.size();
  const auto named = std::find_if(batches.begin(), batches.end(),
                                  [&](const auto& batch) { return batch.file == asked; });
  return static_cast<std::size_t>(named - batches.begin());
}

}  // namespace

Result<Workload> with_reuse(Workload workload, const std::string& file_and_batch) {
  const std::size_t mark = file_and_batch.rfind('#');
  const std::string path = file_and_batch.substr(0, mark);
  const std::string asked = mark == std::string::npos ? "1" : file_and_batch.substr(mark + 1);
  const Result<std::string> text = read_text_file(path);
  if (!text) return fail(text.error());
  const auto batches = engine::reuse_batches_from_json(*text, path);
  if (!batches) return fail(batches.error());
  const std::size_t found = find_batch(*batches, asked);
  if (found == batches->size()) {
    std::vector<std::string> names;
    for (const engine::ReuseBatch& batch : *batches) names.push_back(batch.file);
    return fail({ErrorKind::usage, fmt::format("the file has no batch '{}'", asked), path,
                 fmt::format("a number from 1 to {}, or a name", batches->size()),
                 did_you_mean(asked, names)});
  }
  for (Feature& feature : workload.features) {
    feature.ids = {};
    feature.ids.kind = IdDistributionKind::reuse_histogram;
    feature.ids.reuse = (*batches)[found].bins;
  }
  return workload;
}

}  // namespace shardscope::app
