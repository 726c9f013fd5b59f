#include "engine/codec/table_profile.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "engine/codec/quantizer.hpp"
#include "engine/codec/row_numbers.hpp"
#include "engine/pipeline/initial_weights.hpp"

namespace shardscope::engine {
namespace {

class VectorSampler {
 public:
  VectorSampler(const Workload& workload, std::size_t table, const RankBatch& batch,
                std::uint64_t seed, std::int64_t max_values)
      : workload_(workload),
        batch_(batch),
        table_(table),
        dim_(workload.tables[table].dim),
        max_rows_(std::max<std::int64_t>(max_values / std::max(dim_, 1), 1)),
        source_(InitialWeights::uniform, seed, static_cast<std::int32_t>(table),
                workload.tables[table].rows) {}

  VectorSample pooled() {
    for (std::size_t f = 0; f < workload_.features.size(); ++f) {
      if (!reads_table(f)) continue;
      const FeatureBatch& ids = batch_.features[f];
      std::int64_t at = 0;
      for (const std::int32_t length : ids.lengths) {
        if (full()) break;
        float* row = add_row();
        for (std::int32_t n = 0; n < length; ++n) add_values(ids.ids[at + n], row);
        at += length;
      }
    }
    return take();
  }

  VectorSample distinct() {
    std::unordered_set<std::int64_t> seen;
    for (std::size_t f = 0; f < workload_.features.size(); ++f) {
      if (!reads_table(f)) continue;
      const FeatureBatch& ids = batch_.features[f];
      for (std::int64_t n = 0; n < ids.ids.size() && !full(); ++n) {
        if (seen.insert(ids.ids[n]).second) add_values(ids.ids[n], add_row());
      }
    }
    return take();
  }

 private:
  [[nodiscard]] bool reads_table(std::size_t f) const {
    return static_cast<std::size_t>(workload_.features[f].table) == table_;
  }
  [[nodiscard]] bool full() const { return sample_.shape.rows >= max_rows_; }
  float* add_row() {
    ++sample_.shape.rows;
    sample_.values.resize(sample_.values.size() + static_cast<std::size_t>(dim_), 0.0F);
    return sample_.values.data() + sample_.values.size() - dim_;
  }
  void add_values(std::int64_t id, float* row) const {
    for (std::int32_t c = 0; c < dim_; ++c) row[c] += source_(id, c);
  }
  VectorSample take() {
    sample_.shape.dim = dim_;
    return std::move(sample_);
  }

  const Workload& workload_;
  const RankBatch& batch_;
  std::size_t table_;
  std::int32_t dim_;
  std::int64_t max_rows_;
  WeightSource source_;
  VectorSample sample_;
};

std::int64_t distinct_rows(const void* data, std::int64_t row_bytes, std::int64_t count) {
  std::vector<std::uint64_t> slots(static_cast<std::size_t>(RowTable::slots_for(count)));
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(count));
  std::vector<std::uint32_t> index(static_cast<std::size_t>(count));
  std::vector<std::uint32_t> first(static_cast<std::size_t>(count));
  return number_rows({static_cast<const std::byte*>(data), row_bytes, count}, nullptr, 0,
                     {slots.data(), hashes.data()}, {index.data(), first.data()});
}

}  // namespace

VectorSample sample_vectors(const Workload& workload, std::size_t table, ClusterType cluster,
                            const RankBatch& batch, std::uint64_t seed, std::int64_t max_values) {
  VectorSampler sampler(workload, table, batch, seed, max_values);
  return cluster == ClusterType::UB ? sampler.distinct() : sampler.pooled();
}

double homogenization(const VectorSample& sample, double bound) {
  const std::int64_t count = sample.shape.values();
  const Quantizer quantizer = quantizer_of(
      absolute_bound({CodecKind::fixed, bound, true}, finite_range(sample.values.data(), count)));
  if (count == 0 || !quantizer.usable()) return 1;
  std::vector<std::int32_t> codes(static_cast<std::size_t>((count + 31) / 32 * 32));
  std::vector<std::uint32_t> positions(static_cast<std::size_t>(count));
  Escapes escapes{positions.data(), count, 0};
  if (!quantize(quantizer, sample.values.data(), count, codes.data(), escapes)) return 1;
  const std::int64_t row_bytes = 4 * sample.shape.dim;
  return static_cast<double>(distinct_rows(codes.data(), row_bytes, sample.shape.rows)) /
         static_cast<double>(distinct_rows(sample.values.data(), row_bytes, sample.shape.rows));
}

Result<std::vector<CodecProfile>> measure_profiles(const VectorSample& sample,
                                                   const std::string& table,
                                                   const std::vector<CodecSpec>& specs,
                                                   double seconds_each) {
  std::vector<CodecProfile> profiles;
  if (sample.shape.rows == 0) return profiles;
  const auto scratch = CodecScratch::create(sample.shape.values(), sample.shape.rows);
  if (!scratch) return tl::unexpected(scratch.error());
  // Ascending: a sixteenth, a quarter, the whole.
  std::set<std::int64_t> sizes;
  for (const std::int64_t part : {16, 4, 1}) {
    sizes.insert(std::max<std::int64_t>(sample.shape.rows / part, 1));
  }
  for (const CodecSpec& spec : specs) {
    CodecProfile profile;
    profile.codec = std::string(name_of(spec.kind));
    profile.table = table;
    profile.bound = spec.bound;
    profile.origin = Origin::measured;
    for (const std::int64_t rows : sizes) {
      const CodecMeasurement one = measure_codec(spec, sample.values.data(),
                                                 {rows, sample.shape.dim}, *scratch, seconds_each);
      profile.by_size.push_back({static_cast<double>(one.value_bytes()), one.encode_gb_s() * 1e9,
                                 one.decode_gb_s() * 1e9});
      profile.ratio = one.ratio();
      profile.max_error = one.max_error;
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<CodecSpec> specs_at(const std::vector<CodecKind>& codecs, double bound) {
  std::vector<CodecSpec> specs;
  for (const CodecKind kind : codecs) specs.push_back({kind, holds_bound(kind) ? bound : 0, true});
  return specs;
}

}  // namespace shardscope::engine
