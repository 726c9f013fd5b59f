#include "engine/batches/check_source.hpp"

#include <unistd.h>

#include <limits>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

/// Samples of a batch are numbered in 32 bits (random.hpp), and lengths hold int32.
constexpr std::int64_t kMostSamples = (std::int64_t{1} << 32) - 1;
constexpr std::int64_t kMostFeatures = std::int64_t{1} << 28;
constexpr std::int64_t kMostRows = std::int64_t{1} << 62;

tl::unexpected<Error> unusable(std::string place, std::string what, std::string expected,
                               std::string cure) {
  return fail(
      {ErrorKind::usage, std::move(what), std::move(place), std::move(expected), std::move(cure)});
}

Status check_tables(const Workload& workload) {
  if (workload.tables.empty() || workload.features.empty()) {
    return unusable(workload.name,
                    fmt::format("the workload has {} tables and {} features",
                                workload.tables.size(), workload.features.size()),
                    "at least one of each", "Add a table and a feature that reads it");
  }
  const std::int64_t most_rows = workload.key == KeyType::i32 ? std::int64_t{1} << 31 : kMostRows;
  for (const Table& table : workload.tables) {
    const std::string place = fmt::format("table {}", table.name);
    if (table.rows <= 0) {
      return unusable(place, fmt::format("it has {} rows", table.rows), "1 or more",
                      "Correct rows, or leave out the table and its features");
    }
    if (table.rows > most_rows) {
      return unusable(place, fmt::format("{} rows do not fit the key type", table.rows),
                      fmt::format("at most {}", most_rows), "Use i64 keys or cap the rows");
    }
  }
  return {};
}

Status check_features(const Workload& workload) {
  if (static_cast<std::int64_t>(workload.features.size()) >= kMostFeatures) {
    return unusable(workload.name, fmt::format("{} features", workload.features.size()),
                    fmt::format("fewer than {}", kMostFeatures), "Split the workload");
  }
  const auto tables = static_cast<std::int32_t>(workload.tables.size());
  for (const Feature& feature : workload.features) {
    const std::string place = fmt::format("feature {}", feature.name);
    if (feature.table < 0 || feature.table >= tables) {
      return unusable(place, fmt::format("it reads table {}", feature.table),
                      fmt::format("an index below {}", tables), "Correct the feature's table");
    }
    if (feature.num_poolings < 1) {
      return unusable(place, fmt::format("num_poolings is {}", feature.num_poolings), "1 or more",
                      "Correct num_poolings");
    }
  }
  return {};
}

}  // namespace

std::int64_t batch_bytes(const Workload& workload) {
  double per_sample = 4.0 * (1.0 + workload.dense.dense_features);
  for (const Feature& feature : workload.features) {
    const double id_bytes =
        static_cast<double>(bytes_of(workload.key)) + (feature.weighted ? 4 : 0);
    per_sample += feature.num_poolings * (4.0 + feature.hotness.mean() * id_bytes);
  }
  const double bytes = per_sample * static_cast<double>(workload.global_batch);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return bytes < static_cast<double>(kMost) ? static_cast<std::int64_t>(bytes) : kMost;
}

std::int64_t physical_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

Status check_batchable(const Workload& workload, std::int64_t memory_bytes) {
  if (auto status = check_tables(workload); !status) return status;
  if (auto status = check_features(workload); !status) return status;
  if (workload.global_batch < 1 || workload.global_batch > kMostSamples) {
    return unusable(workload.name, fmt::format("global batch is {}", workload.global_batch),
                    fmt::format("1 to {} samples", kMostSamples), "Correct the batch");
  }
  const std::int64_t bytes = batch_bytes(workload);
  if (bytes > memory_bytes) {
    return unusable(workload.name,
                    fmt::format("one global batch of {} samples takes {:.1f} GiB of ids",
                                workload.global_batch, static_cast<double>(bytes) * 0x1p-30),
                    fmt::format("at most the {:.1f} GiB of this machine",
                                static_cast<double>(memory_bytes) * 0x1p-30),
                    "Lower the batch, the hotness or num_poolings");
  }
  return {};
}

}  // namespace shardscope::engine
