#include "tests/layout/random_values.hpp"

#include <cmath>
#include <limits>

namespace shardscope::testing_values {

std::int64_t RandomValues::whole(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

/// Any magnitude, and often exact or extreme.
double RandomValues::real() {
  switch (whole(0, 4)) {
    case 0:
      return static_cast<double>(whole(0, 100));
    case 1:
      return std::numeric_limits<double>::max();
    case 2:
      return std::numeric_limits<double>::denorm_min();
    default:
      return std::ldexp(share(), static_cast<int>(whole(-300, 300)));
  }
}

double RandomValues::share() {
  return std::uniform_real_distribution<double>(0, 1)(random_);
}

std::string RandomValues::text() {
  static const char* const kPieces[] = {"a",
                                        "Z",
                                        "0",
                                        " ",
                                        "\"",
                                        "\\",
                                        "/",
                                        "\n",
                                        "\t",
                                        "\x01",
                                        "\xC3\xA9",
                                        "\xE2\x82\xAC",
                                        "\xF0\x9F\x98\x80",
                                        "_",
                                        "."};
  std::string made;
  for (std::int64_t i = whole(0, 12); i > 0; --i) made += kPieces[whole(0, 14)];
  return made;
}

Optimizer RandomValues::optimizer() {
  Optimizer made = make_optimizer(choice<OptimizerKind>(5));
  if (coin()) return made;
  made.words_per_element = static_cast<std::int32_t>(whole(0, 4));
  made.words_per_row = static_cast<std::int32_t>(whole(0, 4));
  made.learning_rate = real();
  made.epsilon = real();
  made.beta1 = share();
  made.beta2 = share();
  made.per_shard = coin();
  return made;
}

Hotness RandomValues::hotness() {
  const auto low = static_cast<std::int32_t>(whole(0, 50));
  switch (whole(0, 2)) {
    case 0:
      return Hotness::fixed(low);
    case 1:
      return Hotness::uniform(low, low + static_cast<std::int32_t>(whole(0, 1000)));
    default:
      break;
  }
  Hotness made{HotnessKind::histogram, low, low, {}};
  for (std::int64_t i = whole(1, 6); i > 0; --i) made.weights.push_back(real());
  made.maximum = low + static_cast<std::int32_t>(made.weights.size()) - 1;
  return made;
}

IdDistribution RandomValues::ids() {
  IdDistribution made;
  made.kind = choice<IdDistributionKind>(5);
  made.alpha = 100 * share();
  made.order = choice<IdOrder>(2);
  if (made.kind == IdDistributionKind::heavy_hitters) {
    for (std::int64_t i = whole(0, 5); i > 0; --i) made.heavy_hitters.push_back(share());
  }
  if (made.kind == IdDistributionKind::reuse_histogram) {
    for (std::int64_t i = whole(0, 3); i > 0; --i) {
      made.reuse.push_back({1 + std::abs(real()) / 2, share()});
    }
    made.reuse.push_back({std::numeric_limits<double>::infinity(), share()});
  }
  if (made.kind == IdDistributionKind::recorded) {
    made.stream = text();
    made.column = text();
  }
  return made;
}

Workload RandomValues::workload() {
  Workload made;
  made.name = text();
  made.source = text();
  made.global_batch = whole(0, std::numeric_limits<std::int64_t>::max());
  made.key = choice<KeyType>(2);
  made.wire = choice<DType>(3);
  made.rows_cap = coin() ? 0 : whole(1, 1000000);
  for (std::int64_t i = whole(0, 6); i > 0; --i) {
    Table table;
    table.name = text();
    table.rows = whole(0, std::numeric_limits<std::int64_t>::max());
    table.dim = static_cast<std::int32_t>(whole(0, std::numeric_limits<std::int32_t>::max()));
    table.dtype = choice<DType>(3);
    table.optimizer = optimizer();
    if (coin()) table.module_path = text();
    made.tables.push_back(table);
  }
  for (std::int64_t i = whole(0, 8); i > 0; --i) {
    Feature feature;
    feature.name = text();
    feature.table = static_cast<std::int32_t>(whole(0, 7));
    feature.pooling = choice<Pooling>(4);
    feature.hotness = hotness();
    feature.weighted = coin();
    feature.num_poolings = static_cast<std::int32_t>(whole(0, 5));
    feature.ids = ids();
    made.features.push_back(feature);
  }
  made.dense.interaction = choice<Interaction>(4);
  made.dense.dense_features = static_cast<std::int32_t>(whole(0, 1000));
  for (std::int64_t i = whole(0, 4); i > 0; --i) {
    made.dense.bottom_mlp.push_back(static_cast<std::int32_t>(whole(1, 4096)));
    made.dense.top_mlp.push_back(static_cast<std::int32_t>(whole(1, 4096)));
  }
  made.dense.cross_layers = static_cast<std::int32_t>(whole(0, 9));
  made.dense.cross_rank = static_cast<std::int32_t>(whole(0, 999));
  made.dense.optimizer = optimizer();
  return made;
}

Quantity RandomValues::quantity() {
  return {std::abs(real()), choice<Origin>(4), text(), coin() ? "2026-09-01" : ""};
}

LinkModel RandomValues::link() {
  LinkModel made{quantity(), quantity(), quantity(), quantity(), {}};
  for (std::int64_t i = whole(0, 4); i > 0; --i) made.by_size.push_back({real(), real()});
  return made;
}

Topology RandomValues::topology() {
  Topology made;
  made.name = text();
  made.hosts = static_cast<std::int32_t>(whole(1, 1000));
  made.gpus_per_host = static_cast<std::int32_t>(whole(1, 16));
  made.fast_domain = static_cast<std::int32_t>(whole(1, 100));
  made.gpu = {text(),     quantity(), quantity(), quantity(), quantity(), quantity(),
              quantity(), quantity(), quantity(), quantity(), quantity(), quantity()};
  made.intra = link();
  made.inter = link();
  made.host_memory_bytes = quantity();
  made.reader_bytes_per_s = quantity();
  made.reserve_bytes = whole(0, std::numeric_limits<std::int64_t>::max());
  return made;
}

CodecSlots RandomValues::slots() {
  CodecSlots made;
  for (CodecSlot* slot :
       {&made.forward_intra, &made.forward_inter, &made.backward_intra, &made.backward_inter}) {
    if (coin()) *slot = {text(), std::abs(real()), coin()};
  }
  return made;
}

TablePlacement RandomValues::placement() {
  TablePlacement made;
  made.cluster = choice<ClusterType>(3);
  made.mapping = choice<RowMapping>(2);
  made.row_shards = static_cast<std::int32_t>(whole(1, 4));
  made.column_cuts = {0};
  for (std::int64_t i = whole(1, 4); i > 0; --i) {
    made.column_cuts.push_back(made.column_cuts.back() + static_cast<std::int32_t>(whole(1, 300)));
  }
  if (made.mapping == RowMapping::block) {
    made.row_cuts = {0};
    for (std::int32_t i = 0; i < made.row_shards; ++i) {
      made.row_cuts.push_back(made.row_cuts.back() + whole(0, std::int64_t{1} << 60));
    }
  }
  const std::int32_t cells = made.row_shards * made.column_shards();
  if (made.cluster != ClusterType::DP) {
    for (std::int32_t i = 0; i < cells; ++i) {
      made.owners.push_back(static_cast<std::int32_t>(whole(0, 1000)));
    }
  }
  if (coin()) {
    for (std::int32_t i = 0; i < cells; ++i) {
      made.tiers.push_back({choice<Tier>(5), coin() ? 1.0 : share()});
    }
  }
  if (coin()) made.exchange = choice<Exchange>(2);
  if (coin()) made.codecs = slots();
  return made;
}

Layout RandomValues::layout() {
  Layout made;
  made.name = text();
  made.parent = text();
  made.note = text();
  made.ranks = static_cast<std::int32_t>(whole(1, 1000));
  for (ClusterOptions& options : made.clusters) {
    options = {choice<Exchange>(2), coin(), coin() ? slots() : CodecSlots{}};
  }
  for (std::int64_t i = whole(0, 6); i > 0; --i) {
    made.table_names.push_back(text());
    made.tables.push_back(placement());
  }
  return made;
}

TableStats RandomValues::table_stats() {
  TableStats made;
  made.table = text();
  made.samples = whole(0, std::numeric_limits<std::int64_t>::max());
  made.keys = whole(0, std::numeric_limits<std::int64_t>::max());
  made.mean_bag_length = real();
  made.p50_bag_length = real();
  made.p99_bag_length = real();
  made.max_bag_length = real();
  made.empty_bag_share = share();
  for (std::int64_t i = whole(0, 4); i > 0; --i) {
    made.unique.push_back({real(), real()});
    made.top_mass.push_back({real(), share()});
    made.modulo_max_share.push_back(share());
  }
  made.working_set_rows = whole(0, std::numeric_limits<std::int64_t>::max());
  made.untouched_rows = whole(0, 1000);
  made.out_of_range = whole(0, 1000);
  return made;
}

}  // namespace shardscope::testing_values
