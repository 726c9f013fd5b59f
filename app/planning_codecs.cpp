#include "app/planning_codecs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/codec_tuning.hpp"
#include "app/gpu_codec_rates.hpp"
#include "engine/codec/table_profile.hpp"
#include "layout/names.hpp"
#include "planner/bound_class.hpp"

namespace shardscope::app {
namespace {

constexpr std::int64_t kMostSampled = 1 << 18;
constexpr double kSecondsEach = 0.002;
constexpr double kMostSeconds = 6;  ///< of measuring
constexpr std::uint64_t kMeasuredSeed = 1;

/// Measures tables one by one; equal ones once.
class TableMeter {
 public:
  TableMeter(const Inputs& inputs, std::uint64_t seed)
      : inputs_(inputs),
        seed_(seed),
        readers_(features_by_table(inputs.workload)),
        begin_(std::chrono::steady_clock::now()) {}

  Status open() {
    auto source = engine::make_batch_source(inputs_.workload, seed_, engine::RangePolicy::wrap);
    if (!source) return fail(source.error());
    auto batch = (*source)->make(0, 0, inputs_.topology.ranks());
    if (!batch) return fail(batch.error());
    batch_ = std::move(*batch);
    return {};
  }

  /// The last one is kept: bound and profiles of a table look at the same vectors.
  [[nodiscard]] const engine::VectorSample& sample(std::size_t table, ClusterType cluster) {
    if (!sampled_ || sampled_->first != std::pair(table, cluster)) {
      sampled_.emplace(
          std::pair(table, cluster),
          engine::sample_vectors(inputs_.workload, table, cluster, batch_, seed_, kMostSampled));
    }
    return sampled_->second;
  }

  /// Bound of the table's class; tables with equal traffic once.
  [[nodiscard]] double class_bound(std::size_t table, ClusterType cluster) {
    const auto known = std::find_if(bounds_.begin(), bounds_.end(), [&](const KnownBound& one) {
      return one.cluster == cluster && same_traffic(one.table, table);
    });
    if (known != bounds_.end()) return known->bound;
    const ClassBounds classes;
    const double blur = engine::homogenization(sample(table, cluster), classes.base);
    const double bound = classes.of(bound_class(inputs_.workload.tables[table].rows, blur));
    bounds_.push_back({table, cluster, bound});
    return bound;
  }

  /// Profiles of the specs on the table's vectors in that cluster, under its name.
  Result<std::vector<CodecProfile>> profiles(std::size_t table, ClusterType cluster,
                                             const std::vector<engine::CodecSpec>& specs) {
    const Known* like = equal_one(table, cluster, specs);
    if (like == nullptr && elapsed() > kMostSeconds) like = similar_one(table, cluster, specs);
    if (like != nullptr) return renamed(like->profiles, table);
    auto measured =
        engine::measure_profiles(sample(table, cluster), name_of_table(table), specs, kSecondsEach);
    if (!measured) return fail(measured.error());
    for (CodecProfile& profile : *measured) profile.cluster = cluster;
    if (has_gpus(inputs_.topology)) take_gpu_rates(inputs_.topology.gpu, *measured);
    known_.push_back({table, cluster, specs, *measured});
    return measured;
  }

  [[nodiscard]] bool is_pooled_table(std::size_t table) const {
    return std::all_of(readers_[table].begin(), readers_[table].end(), [&](std::int32_t f) {
      return is_pooled(inputs_.workload.features[static_cast<std::size_t>(f)].pooling);
    });
  }

 private:
  struct Known {
    std::size_t table = 0;
    ClusterType cluster = ClusterType::RB;
    std::vector<engine::CodecSpec> specs;
    std::vector<CodecProfile> profiles;
  };

  struct KnownBound {
    std::size_t table = 0;
    ClusterType cluster = ClusterType::RB;
    double bound = 0;
  };

  [[nodiscard]] const std::string& name_of_table(std::size_t table) const {
    return inputs_.workload.tables[table].name;
  }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  [[nodiscard]] bool same_traffic(std::size_t a, std::size_t b) const {
    const Table &one = inputs_.workload.tables[a], &other = inputs_.workload.tables[b];
    if (one.rows != other.rows || one.dim != other.dim) return false;
    return std::equal(readers_[a].begin(), readers_[a].end(), readers_[b].begin(),
                      readers_[b].end(), [&](std::int32_t f, std::int32_t g) {
                        Feature feature = inputs_.workload.features[static_cast<std::size_t>(g)];
                        const Feature& as = inputs_.workload.features[static_cast<std::size_t>(f)];
                        feature.name = as.name;
                        feature.table = as.table;
                        return feature == as;
                      });
  }

  [[nodiscard]] const Known* equal_one(std::size_t table, ClusterType cluster,
                                       const std::vector<engine::CodecSpec>& specs) const {
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
      return one.cluster == cluster && one.specs == specs && same_traffic(one.table, table);
    });
    return found == known_.end() ? nullptr : &*found;
  }

  /// Of the same codecs, the table nearest in rows and width.
  [[nodiscard]] const Known* similar_one(std::size_t table, ClusterType cluster,
                                         const std::vector<engine::CodecSpec>& specs) const {
    const Known* nearest = nullptr;
    double least = 0;
    const Table& wanted = inputs_.workload.tables[table];
    for (const Known& one : known_) {
      const bool same = std::equal(one.specs.begin(), one.specs.end(), specs.begin(), specs.end(),
                                   [](const auto& a, const auto& b) { return a.kind == b.kind; });
      if (one.cluster != cluster || !same) continue;
      const Table& has = inputs_.workload.tables[one.table];
      const double distance =
          std::abs(std::log(static_cast<double>(std::max<std::int64_t>(has.rows, 1)) /
                            static_cast<double>(std::max<std::int64_t>(wanted.rows, 1)))) +
          std::abs(std::log(static_cast<double>(has.dim) / wanted.dim));
      if (nearest != nullptr && distance >= least) continue;
      nearest = &one;
      least = distance;
    }
    return nearest;
  }

  [[nodiscard]] std::vector<CodecProfile> renamed(std::vector<CodecProfile> profiles,
                                                  std::size_t table) const {
    for (CodecProfile& profile : profiles) profile.table = name_of_table(table);
    return profiles;
  }

  const Inputs& inputs_;
  std::uint64_t seed_;
  std::vector<std::vector<std::int32_t>> readers_;
  engine::RankBatch batch_;
  std::chrono::steady_clock::time_point begin_;
  std::vector<Known> known_;
  std::vector<KnownBound> bounds_;
  std::optional<std::pair<std::pair<std::size_t, ClusterType>, engine::VectorSample>> sampled_;
};

Status refuse_without_codecs(const Inputs& inputs, const CodecRequest& request,
                             const PredictOptions& how) {
  if (how.executor != Executor::engine)
    return fail({ErrorKind::usage,
                 fmt::format("{} has no codecs to choose among", to_string(how.executor)),
                 "--codec " + request.codec, "--executor engine", "Leave --codec out"});
  if (inputs.workload.wire != DType::fp32)
    return fail({ErrorKind::usage,
                 fmt::format("{} sends vectors as {}, codecs take fp32", inputs.workload.name,
                             to_string(inputs.workload.wire)),
                 "--codec " + request.codec, "a workload whose wire is fp32",
                 "Set \"wire\" to \"fp32\" in the workload's file"});
  return {};
}

/// 16-bit values are read and written at the speed of memory.
CodecProfile half_profile(const std::string& codec, const Gpu& gpu) {
  CodecProfile profile{.codec = codec, .ratio = 2};
  const double rate = conversion_bytes_per_s(codec, gpu);
  profile.by_size = {{1, rate, rate}};
  return profile;
}

bool is_known(const PredictOptions& how, const std::string& codec) {
  return std::any_of(how.codecs.begin(), how.codecs.end(),
                     [&](const CodecProfile& one) { return one.codec == codec; });
}

/// Codecs in the slots of a table that vectors take, once each.
std::vector<CodecSlot> codecs_of_table(const Topology& topology, const Layout& layout,
                                       std::size_t table) {
  std::vector<CodecSlot> found;
  if (layout.tables[table].cluster == ClusterType::DP) return found;
  const CodecSlots& slots = layout.codecs_of(table);
  const auto add = [&](bool exists, const CodecSlot& slot) {
    if (exists && slot.name != "raw" && std::find(found.begin(), found.end(), slot) == found.end())
      found.push_back(slot);
  };
  const bool near = topology.fast_domain > 1, far = topology.domains() > 1;
  add(near, slots.forward_intra);
  add(far, slots.forward_inter);
  add(near, slots.backward_intra);
  add(far, slots.backward_inter);
  return found;
}

}  // namespace

Status allow_codecs(const Inputs& inputs, const CodecRequest& request, std::uint64_t seed,
                    PredictOptions& how) {
  if (request.codec.empty()) return {};
  if (Status possible = refuse_without_codecs(inputs, request, how); !possible) return possible;
  std::vector<engine::CodecKind> kinds = codecs_to_choose_from();
  if (request.codec != "auto") {
    const auto spec = engine::codec_spec({request.codec, request.bound, !request.absolute});
    if (!spec) return fail(spec.error());
    kinds = {spec->kind};
  }
  const auto back = engine::codec_spec({request.backward_codec, 0, true});
  if (!back) return fail(back.error());
  if (back->feedback)
    return fail({ErrorKind::usage, "error feedback is not planned for",
                 "--backward-codec " + request.backward_codec, "a codec without feedback",
                 "Plan with row-int8, and train with row-int8-ef where every table is UB"});
  AllowedCodecs& allowed = how.allowed_codecs;
  for (const engine::CodecKind kind : kinds) allowed.forward.emplace_back(name_of(kind));
  if (back->kind != engine::CodecKind::raw) allowed.backward = {std::string(name_of(back->kind))};
  allowed.relative = !request.absolute;
  TableMeter meter(inputs, seed);
  if (Status opened = meter.open(); !opened) return opened;
  for (std::size_t t = 0; t < inputs.workload.tables.size(); ++t) {
    std::vector<ClusterType> clusters = {ClusterType::UB};
    if (meter.is_pooled_table(t)) clusters.insert(clusters.begin(), ClusterType::RB);
    const double bound =
        request.codec == "auto" ? meter.class_bound(t, clusters.front()) : request.bound;
    std::vector<engine::CodecSpec> specs = engine::specs_at(kinds, bound);
    for (engine::CodecSpec& spec : specs) spec.relative = !request.absolute;
    if (!allowed.backward.empty()) specs.push_back(*back);
    specs.push_back({});  // vectors without a codec, in messages that run through codecs
    allowed.bounds.push_back(engine::holds_bound(kinds.front()) ? bound : 0);
    for (const ClusterType cluster : clusters) {
      auto profiles = meter.profiles(t, cluster, specs);
      if (!profiles) return fail(profiles.error());
      how.codecs.insert(how.codecs.end(), profiles->begin(), profiles->end());
    }
  }
  return {};
}

Status measure_codecs_of(const Inputs& inputs, const Layout& layout, PredictOptions& how) {
  std::optional<TableMeter> meter;
  for (std::size_t t = 0; t < inputs.workload.tables.size() && t < layout.tables.size(); ++t) {
    const auto codecs = codecs_of_table(inputs.topology, layout, t);
    if (codecs.empty()) continue;
    if (how.executor != Executor::engine) {
      for (const CodecSlot& slot : codecs)
        if (!is_known(how, slot.name))
          how.codecs.push_back(half_profile(slot.name, inputs.topology.gpu));
      continue;
    }
    if (!meter) {
      meter.emplace(inputs, kMeasuredSeed);
      if (Status opened = meter->open(); !opened) return opened;
    }
    std::vector<engine::CodecSpec> specs;
    for (const CodecSlot& slot : codecs) {
      const auto spec = engine::codec_spec(slot);
      if (!spec) return fail(spec.error());
      specs.push_back(*spec);
    }
    specs.push_back({});
    auto profiles = meter->profiles(t, layout.tables[t].cluster, specs);
    if (!profiles) return fail(profiles.error());
    for (std::size_t i = 0; i < profiles->size(); ++i) {
      if (i < codecs.size()) (*profiles)[i].codec = codecs[i].name;
      how.codecs.push_back((*profiles)[i]);
    }
  }
  return {};
}

}  // namespace shardscope::app
