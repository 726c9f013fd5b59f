#include "engine/batches/reuse_feature.hpp"

#include <algorithm>
#include <utility>

#include "engine/batches/permutation.hpp"
#include "engine/batches/reuse_plan.hpp"
#include "engine/batches/row_sampler.hpp"

namespace shardscope::engine {
namespace {

/// A row read at least so often in one batch is expected in the next one too.
constexpr std::int64_t kLastingReads = 8;

class ReuseFeature final : public FeatureSource {
 public:
  ReuseFeature(const Workload& workload, std::int32_t index, std::uint64_t seed, Lengths lengths,
               std::vector<ReuseClass> classes)
      : index_(static_cast<std::uint32_t>(index)),
        seed_(seed),
        feature_(workload.features[static_cast<std::size_t>(index)]),
        rows_(workload.tables[static_cast<std::size_t>(feature_.table)].rows),
        global_batch_(workload.global_batch),
        lengths_(std::move(lengths)),
        classes_(std::move(classes)),
        order_(rows_, feature_.ids.order, seed, feature_.table) {}

  [[nodiscard]] Status fill(const SampleRange& samples, FeatureBatch& out) const override {
    const SampleRange before{samples.iteration, 0, samples.first};
    const SampleRange after{samples.iteration, samples.first + samples.count,
                            global_batch_ - samples.first - samples.count};
    const std::int64_t first_key = draw(before, out.lengths);
    const std::int64_t later_keys = draw(after, out.lengths);
    const std::int64_t own_keys = draw(samples, out.lengths);
    const std::int64_t keys = first_key + own_keys + later_keys;
    if (keys == 0) {
      write_ids(out.ids, 0, [](std::size_t) { return 0; });
    } else {
      write_rows(samples.iteration, keys, first_key, own_keys, out.ids);
    }
    out.weights.clear();
    if (feature_.weighted) draw_weights(seed_, index_, feature_.num_poolings, samples, out);
    return {};
  }

 private:
  /// Position of a key in its batch needs the number of keys of the samples before it.
  std::int64_t draw(const SampleRange& samples, std::vector<std::int32_t>& out) const {
    return draw_lengths(lengths_, seed_, index_, feature_.num_poolings, samples, out);
  }

  void write_rows(std::int64_t iteration, std::int64_t keys, std::int64_t first_key,
                  std::int64_t own_keys, Ids& ids) const {
    const ReusePlan plan(classes_, keys);
    const std::uint64_t key = mix64(mix64(seed_, index_), static_cast<std::uint64_t>(iteration));
    const Permutation shuffle(keys, key);
    const std::int64_t lasting = std::min(plan.rows_read_at_least(kLastingReads), rows_);
    const Permutation passing(std::max<std::int64_t>(rows_ - lasting, 1), mix64(key, 1));
    write_ids(ids, own_keys, [&](std::size_t i) {
      const std::int64_t rank = plan.rank_of(shuffle(first_key + static_cast<std::int64_t>(i)));
      if (rank < lasting || lasting == rows_) return order_(rank % rows_);
      return order_(lasting + passing((rank - lasting) % (rows_ - lasting)));
    });
  }

  std::uint32_t index_;
  std::uint64_t seed_;
  Feature feature_;
  std::int64_t rows_;
  std::int64_t global_batch_;
  Lengths lengths_;
  std::vector<ReuseClass> classes_;
  RowOrder order_;
};

}  // namespace

Result<std::unique_ptr<FeatureSource>> make_reuse_feature(const Workload& workload,
                                                          std::int32_t feature, std::uint64_t seed,
                                                          Lengths lengths,
                                                          const std::string& place) {
  auto classes =
      reuse_classes(workload.features[static_cast<std::size_t>(feature)].ids.reuse, place);
  if (!classes) return fail(std::move(classes.error()));
  return std::make_unique<ReuseFeature>(workload, feature, seed, std::move(lengths),
                                        std::move(*classes));
}

}  // namespace shardscope::engine
